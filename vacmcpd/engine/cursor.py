"""Where the next page begins, said so that no server has to remember it.

A cursor is base64url JSON of a version, the tool, a digest of the scope and the arguments, and a
position. It is not signed: whoever forges a position reads another page of an answer that they
may read anyway.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from ..errors import QueryError, invalid_argument
from ..model import Artifact, Member

VERSION = 1
_MAX_LENGTH = 256
# Base64 of the ten digits and the comma that a further number of a position may have.
_MAX_NUMBER = 15
# Offsets beyond this are nobody's page, and providers may keep theirs in 32 bits.
_MAX_POSITION = 2**31 - 1


def digest(
    tool: str, members: Sequence[tuple[Member, Artifact | None]], arguments: Sequence[Any]
) -> str:
    """What ties a cursor to one query: the tool, its arguments and what it is answered from."""
    scope = [
        [member.repository, member.revision, *_artifact(artifact)] for member, artifact in members
    ]
    text = json.dumps([tool, scope, list(arguments)], separators=(",", ":"))
    return _encode(hashlib.sha256(text.encode("ascii")).digest()[:12])


def write(tool: str, digested: str, position: Sequence[int]) -> str:
    """The cursor of ``position``."""
    value = {"v": VERSION, "t": tool, "d": digested, "p": list(position)}
    return _encode(json.dumps(value, separators=(",", ":")).encode("ascii"))


def read(cursor: str, tool: str, digested: str) -> tuple[int, int]:
    """The two numbers of a position; 0, 0 for no cursor. Raises what :func:`read_offsets` does."""
    first, second = read_offsets(cursor, tool, digested, 2)
    return first, second


def read_offsets(cursor: str, tool: str, digested: str, count: int) -> tuple[int, ...]:
    """The ``count`` numbers of a position; zeros for no cursor.

    Raises INVALID_ARGUMENT for anything but a cursor that this version gave for this query over
    this scope.
    """
    if not cursor:
        return (0,) * count
    value = _decode(cursor, tool, _MAX_LENGTH + _MAX_NUMBER * count)
    if value.get("v") != VERSION:
        raise _refused(tool, "is of another version of vacmcp")
    if value.get("t") != tool:
        raise _refused(tool, "belongs to another tool")
    if value.get("d") != digested:
        raise _refused(tool, "belongs to another query, or what it was answered from was rebuilt")
    return _position(value.get("p"), tool, count)


def require_inside(position: int, count: int, tool: str) -> None:
    """Refuse a cursor whose first number leads beyond ``count``; none that was given does."""
    if position >= max(count, 1):
        raise _refused(tool, "is not one that this tool gives")


def _artifact(artifact: Artifact | None) -> tuple[str, ...]:
    return () if artifact is None else (artifact.label, artifact.key)


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def _decode(cursor: str, tool: str, most: int) -> dict[str, Any]:
    if len(cursor) > most or not cursor.isascii():
        raise _refused(tool, "is not one that this tool gives")
    padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
    try:
        value = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except ValueError:
        raise _refused(tool, "is not one that this tool gives") from None
    if not isinstance(value, dict):
        raise _refused(tool, "is not one that this tool gives")
    return value


def _position(value: Any, tool: str, count: int) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) != count:
        raise _refused(tool, "is not one that this tool gives")
    for number in value:
        if type(number) is not int or not 0 <= number <= _MAX_POSITION:
            raise _refused(tool, "is not one that this tool gives")
    return tuple(value)


def _refused(tool: str, reason: str) -> QueryError:
    return invalid_argument(f"{tool}: cursor {reason}; call again without it", argument="cursor")
