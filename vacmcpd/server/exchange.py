"""One request of a handshake version, answered in plain JSON.

The library's own way for these versions makes a transport, two task groups and an event stream
for every request, which costs three times the work and answers nothing more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import MessageMetadata
from mcp.shared.transport_context import TransportContext
from pydantic import ValidationError

from . import asgi
from .asgi import Receive, Scope, Send
from .envelope import Envelope
from .gate import Exchange
from .wire import encode


@dataclass
class _Single:
    """The dispatch context of a request whose only outgoing message is its answer."""

    request_id: types.RequestId
    transport: TransportContext = field(
        default_factory=lambda: TransportContext(kind="streamable-http", can_send_request=False)
    )
    message_metadata: MessageMetadata = None
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Nothing carries it: the client asked for no progress and gets one message."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Not asked for; see :meth:`notify`."""


def plain_exchange(server: Server[dict[str, Any]]) -> Exchange:
    """Answers requests over ``server``; a client that disconnects cancels its request."""

    async def exchange(
        envelope: Envelope, version: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        answer: bytes | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_on_disconnect, receive, group.cancel_scope)
            answer = await _answer(server, envelope, version)
            group.cancel_scope.cancel()
        if answer is not None:
            await asgi.respond_json(send, 200, answer)

    return exchange


async def _cancel_on_disconnect(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def _answer(server: Server[dict[str, Any]], envelope: Envelope, version: str) -> bytes:
    assert envelope.number is not None
    head = {"jsonrpc": "2.0", "id": envelope.number}
    try:
        result = await serve_one(
            server,
            _Single(envelope.number),
            envelope.method,
            envelope.raw.get("params"),
            connection=Connection.from_envelope(version, None, None),
            lifespan_state={},
        )
    except MCPError as error:
        return encode({**head, "error": error.error.model_dump(exclude_none=True, mode="json")})
    except ValidationError:
        # Its own text quotes the validator's documentation and the client's words.
        refusal = {"code": types.INVALID_PARAMS, "message": "invalid request parameters"}
        return encode({**head, "error": refusal})
    return encode({**head, "result": result})
