"""The one door of the HTTP server: paths, methods, Host, Origin, size and shape of what comes in.

What passes is one well-formed JSON-RPC message. Requests of the versions before 2026-07-28 are
answered here in plain JSON; all others, and those that want progress, go to the library.
"""

import asyncio
from collections.abc import Awaitable, Callable

from . import asgi
from .asgi import App, Receive, Scope, Send
from .envelope import HEADER_MISMATCH, META_VERSION, Envelope, Refused, error_body, parse
from .hosts import HostPolicy

MCP_PATHS = frozenset({"/", "/mcp"})
HANDSHAKE_VERSIONS = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
UNTOLD_VERSION = "2025-03-26"
"""What a request without a version header speaks, as the protocol has it."""

_BODY_SECONDS = 30.0

Exchange = Callable[[Envelope, str, Scope, Receive, Send], Awaitable[None]]
"""Answers one request of a handshake version in plain JSON."""


class Gate:
    """An ASGI application. Closed until :meth:`open`; then MCP requests that waited go through."""

    def __init__(self, hosts: HostPolicy) -> None:
        self._hosts = hosts
        self._opened = asyncio.Event()
        self._modern: App | None = None
        self._exchange: Exchange | None = None
        self.ready = False
        """What ``/readyz`` says."""

    def open(self, modern: App, exchange: Exchange) -> None:
        """Let MCP requests through."""
        self._modern = modern
        self._exchange = exchange
        self._opened.set()

    def close(self) -> None:
        """Refuse what still waits for :meth:`open`, and say that the server is not ready."""
        self.ready = False
        self._opened.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One HTTP request; other kinds of connection are not served."""
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path in MCP_PATHS:
            await self._mcp(scope, receive, send)
        elif path == "/healthz":
            await self._health(scope, send, True)
        elif path == "/readyz":
            await self._health(scope, send, self.ready)
        else:
            await asgi.respond(send, 404, b"not found\n")

    async def _health(self, scope: Scope, send: Send, well: bool) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await _refuse_method(send, b"GET, HEAD")
        elif well:
            await asgi.respond(send, 200, b"ok\n")
        else:
            await asgi.respond(send, 503, b"not ready\n")

    async def _mcp(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._hosts.admits_host(asgi.header(scope, b"host")):
            await asgi.respond(send, 421, b"this server does not answer for that Host\n")
        elif not self._hosts.admits_origin(asgi.header(scope, b"origin")):
            await asgi.respond(send, 403, b"requests from that Origin are not answered\n")
        elif scope["method"] != "POST":
            await _refuse_method(send, b"POST")
        elif not _is_json(asgi.header(scope, b"content-type")):
            await asgi.respond(send, 415, b"Content-Type must be application/json\n")
        elif not _accepts_both(asgi.header(scope, b"accept")):
            await asgi.respond(
                send, 406, b"Accept must admit application/json and text/event-stream\n"
            )
        else:
            await self._message(scope, receive, send)

    async def _message(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                body = await asgi.read_body(scope, receive)
            envelope = parse(body)
        except Refused as refused:
            await asgi.respond_json(send, 400, refused.body())
        except asgi.TooLarge:
            await asgi.respond(
                send, 413, b"the message is larger than 1 MiB\n", b"text/plain", _CLOSE
            )
        except TimeoutError:
            await asgi.respond(send, 408, b"the message did not arrive\n", b"text/plain", _CLOSE)
        except asgi.Disconnected:
            return
        else:
            await self._opened.wait()
            await self._route(envelope, body, scope, receive, send)

    async def _route(
        self, envelope: Envelope, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if self._modern is None or self._exchange is None:
            await asgi.respond(send, 503, b"the server is stopping\n")
            return
        version = asgi.header(scope, b"mcp-protocol-version")
        if version is not None and version not in HANDSHAKE_VERSIONS:
            await self._modern(scope, asgi.replay(body, receive), send)
        elif envelope.number is None:
            # Nothing lasts between two requests, so there is nothing that a notification or a
            # response could act on.
            await asgi.respond(send, 202)
        elif META_VERSION in envelope.meta and envelope.method != "initialize":
            message = "the MCP-Protocol-Version header is missing or not the version in _meta"
            await asgi.respond_json(
                send, 400, error_body(HEADER_MISMATCH, message, envelope.number)
            )
        elif "progressToken" in envelope.meta:
            await self._modern(scope, asgi.replay(body, receive), send)
        else:
            await self._exchange(envelope, version or UNTOLD_VERSION, scope, receive, send)


_CLOSE = (b"connection", b"close")


async def _refuse_method(send: Send, allowed: bytes) -> None:
    await asgi.respond(send, 405, b"method not allowed\n", b"text/plain", (b"allow", allowed))


def _is_json(content_type: str | None) -> bool:
    return (content_type or "").partition(";")[0].strip().lower() == "application/json"


def _accepts_both(accept: str | None) -> bool:
    kinds = {entry.partition(";")[0].strip().lower() for entry in (accept or "").split(",")}
    return "*/*" in kinds or bool(
        kinds & {"application/json", "application/*"} and kinds & {"text/event-stream", "text/*"}
    )
