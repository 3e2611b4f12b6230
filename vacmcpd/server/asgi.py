"""The few ASGI shapes that the gate needs, without a framework."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from .envelope import MAX_MESSAGE_BYTES

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class TooLarge(Exception):
    """A body of more than MAX_MESSAGE_BYTES."""


class Disconnected(Exception):
    """The client went away before its request was whole."""


def header(scope: Scope, name: bytes) -> str | None:
    """The header of that name (in lower case); one sent several times is one list, as in HTTP."""
    values = [value for key, value in scope["headers"] if key == name]
    return b", ".join(values).decode("latin-1") if values else None


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """The whole body; raises TooLarge, before reading where the length says so, or Disconnected."""
    declared = header(scope, b"content-length")
    if declared is not None and declared.isdecimal() and int(declared) > MAX_MESSAGE_BYTES:
        raise TooLarge
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        body += message.get("body", b"")
        if len(body) > MAX_MESSAGE_BYTES:
            raise TooLarge
        if not message.get("more_body", False):
            return bytes(body)


def replay(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that hands out a body that was read already, then whatever comes."""
    pending = [body]

    async def again() -> Message:
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        return await receive()

    return again


async def respond(
    send: Send,
    status: int,
    body: bytes = b"",
    kind: bytes = b"text/plain; charset=utf-8",
    *headers: tuple[bytes, bytes],
) -> None:
    """A whole response."""
    fields = [(b"content-length", str(len(body)).encode()), *headers]
    if body:
        fields.append((b"content-type", kind))
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": body})


async def respond_json(send: Send, status: int, body: bytes) -> None:
    """A whole JSON response."""
    await respond(send, status, body, b"application/json")
