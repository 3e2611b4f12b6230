"""JSON-RPC messages as clients send them, checked before the protocol library sees them.

The library answers some malformed messages with its validator's prose, takes ``id: null`` for a
notification and drops unreadable lines; here each gets the answer that JSON-RPC gives it.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from .wire import encode, is_clean

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020

MAX_MESSAGE_BYTES = 1_048_576
MAX_DEPTH = 64
MAX_ID = 2**53

META_VERSION = "io.modelcontextprotocol/protocolVersion"
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class Refused(Exception):
    """A message that gets a JSON-RPC error and nothing else."""

    def __init__(self, code: int, message: str, number: str | int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.number = number

    def body(self) -> bytes:
        """The error as JSON."""
        return error_body(self.code, self.message, self.number)


@dataclass(frozen=True, slots=True)
class Envelope:
    """One message. ``number`` is the id of a request, else None; a response has no ``method``."""

    raw: dict[str, Any]
    method: str
    number: str | int | None

    @property
    def params(self) -> dict[str, Any]:
        """The parameters, empty when there are none."""
        return self.raw.get("params") or {}

    @property
    def meta(self) -> dict[str, Any]:
        """The request's ``_meta``, empty when there is none."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


def error_body(code: int, message: str, number: str | int | None = None) -> bytes:
    """A JSON-RPC error as JSON."""
    return encode({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}})


def parse(data: bytes) -> Envelope:
    """The message in ``data``; raises :class:`Refused`."""
    value = _decode(data)
    if isinstance(value, list):
        raise Refused(INVALID_REQUEST, "batches are not supported; send one message at a time")
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise Refused(INVALID_REQUEST, 'a message is a JSON object with "jsonrpc": "2.0"')
    number = _number(value)
    method = value.get("method")
    if method is None and number is not None and ("result" in value or "error" in value):
        return Envelope(value, "", None)
    if not isinstance(method, str) or not method:
        raise Refused(INVALID_REQUEST, "a request names its method", number)
    if not isinstance(value.get("params", {}), dict | None):
        raise Refused(INVALID_REQUEST, "params is an object", number)
    if _SURROGATE_ESCAPE.search(data):
        _refuse_lone_surrogates(value, number)
    return Envelope(value, method, number)


def _decode(data: bytes) -> Any:
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused(PARSE_ERROR, "the message is not JSON") from None
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise Refused(INVALID_REQUEST, f"the message is nested more than {MAX_DEPTH} deep")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [child for item in level for child in _children(item)]
    return depth


def _children(value: Any) -> Iterator[Any]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (item for item in items if isinstance(item, dict | list))


def _number(value: dict[str, Any]) -> str | int | None:
    """The id; null and fractions are refused, because no answer could name them."""
    if "id" not in value:
        return None
    number = value["id"]
    if isinstance(number, str) and is_clean(number):
        return number
    if isinstance(number, int) and not isinstance(number, bool) and abs(number) <= MAX_ID:
        return number
    raise Refused(INVALID_REQUEST, "an id is a string or an integer")


def _refuse_lone_surrogates(value: dict[str, Any], number: str | int | None) -> None:
    # They could be echoed in an answer, which could then not be written. In a tool's arguments
    # they are that tool's to refuse.
    params = {**(value.get("params") or {})}
    params.pop("arguments", None)
    if not is_clean(json.dumps([value["method"], params], ensure_ascii=False)):
        raise Refused(INVALID_REQUEST, "the message is not valid Unicode text", number)
