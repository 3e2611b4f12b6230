"""One client on a stream of lines, for as long as it stays, in whichever era it opens with."""

import logging

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server
from mcp.shared.dispatcher import as_request_id, coerce_request_id
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from .envelope import INVALID_REQUEST, Envelope, Refused, parse
from .lines import Lines

_log = logging.getLogger(__name__)

EOF_SECONDS = 2.0
"""How long calls that were read before the client's end may still be answered."""

_MAX_PENDING = 512

_Incoming = MemoryObjectSendStream[SessionMessage | Exception]
_Outgoing = MemoryObjectReceiveStream[SessionMessage]


class Session:
    """Reads, answers and writes until the client ends its side."""

    def __init__(
        self, server: Server[dict[str, object]], lines: Lines, *, grace: float = EOF_SECONDS
    ) -> None:
        self._server = server
        self._lines = lines
        self._grace = grace
        self._reading = anyio.CancelScope()
        self._writing = anyio.Lock()
        self._pending: set[types.RequestId] = set()
        self._settled = anyio.Event()

    def finish(self, seconds: float) -> None:
        """Read no more; end when what was read is answered or after ``seconds``."""
        self._grace = seconds
        self._reading.cancel()

    async def run(self) -> None:
        """Serve the client; returns when it is gone."""
        to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._write_all, from_server, group.cancel_scope)
                group.start_soon(self._read_all, to_server, group.cancel_scope)
                options = self._server.create_initialization_options()
                await self._server.run(from_client, to_client, options)
        except* anyio.BrokenResourceError:
            # A message was on its way between two of the tasks when the session was ended.
            _log.debug("the session ended with a message on its way")

    async def _read_all(self, to_server: _Incoming, everything: anyio.CancelScope) -> None:
        try:
            async with to_server:
                with self._reading:
                    while await self._read_one(to_server):
                        await self._settle_below(_MAX_PENDING)
                # The library cancels what is in flight when its input ends.
                with anyio.move_on_after(self._grace):
                    await self._settle_below(1)
        except OSError:
            everything.cancel()

    async def _read_one(self, to_server: _Incoming) -> bool:
        try:
            line = await self._lines.read()
            if line is None:
                return False
            if line.strip():
                await self._forward(parse(line), to_server)
        except Refused as refused:
            await self._put(refused.body())
        return True

    async def _forward(self, envelope: Envelope, to_server: _Incoming) -> None:
        try:
            message = types.jsonrpc_message_adapter.validate_python(envelope.raw, by_name=False)
        except ValidationError:
            raise Refused(INVALID_REQUEST, "the message is malformed", envelope.number) from None
        if envelope.number is not None:
            self._pending.add(coerce_request_id(envelope.number))
        elif envelope.method == "notifications/cancelled":
            # A cancelled request is never answered.
            self._settle(as_request_id(envelope.params.get("requestId")))
        await to_server.send(SessionMessage(message))

    async def _write_all(self, from_server: _Outgoing, everything: anyio.CancelScope) -> None:
        try:
            async with from_server:
                async for item in from_server:
                    message = item.message
                    line = message.model_dump_json(by_alias=True, exclude_unset=True)
                    await self._put(line.encode())
                    if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                        self._settle(message.id)
        except OSError:
            everything.cancel()

    async def _put(self, line: bytes) -> None:
        async with self._writing:
            await self._lines.write(line)

    def _settle(self, number: types.RequestId | None) -> None:
        if number is not None:
            self._pending.discard(coerce_request_id(number))
            self._settled.set()

    async def _settle_below(self, most: int) -> None:
        while len(self._pending) >= most:
            self._settled = anyio.Event()
            await self._settled.wait()
