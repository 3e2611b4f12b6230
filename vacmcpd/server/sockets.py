"""The lock's holder answers MCP beside its own transport, for proxies on the same machine."""

import asyncio
import hmac
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

from mcp.server import Server

from . import rendezvous
from .envelope import INTERNAL_ERROR, error_body
from .lines import StreamLines
from .session import Session

_log = logging.getLogger(__name__)

MAX_SESSIONS = 64
_TOKEN_SECONDS = 5.0


class SocketListener:
    """Serves each connection to ``path`` as a session of its own, at most ``limit`` at a time."""

    def __init__(
        self, server: Server[dict[str, Any]], path: Path, *, limit: int = MAX_SESSIONS
    ) -> None:
        self._server = server
        self._path = path
        self._limit = limit
        self._token = ""
        self._listening: asyncio.Server | None = None
        self._sessions: dict[asyncio.Task[None], Session | None] = {}

    async def start(self) -> None:
        """Listen."""
        listener, self._token = rendezvous.listen(self._path)
        self._listening = await asyncio.start_server(self._connected, sock=listener)

    async def close(self, seconds: float) -> None:
        """Take no more connections; let sessions answer what they have for ``seconds``."""
        if self._listening is None:
            return
        self._listening.close()
        self._path.unlink(missing_ok=True)
        for session in self._sessions.values():
            if session is not None:
                session.finish(seconds)
        if self._sessions:
            _, late = await asyncio.wait(self._sessions, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        full = len(self._sessions) >= self._limit
        self._sessions[task] = None
        try:
            if full:
                writer.write(error_body(INTERNAL_ERROR, f"busy: {self._limit} sessions") + b"\n")
                await writer.drain()
            elif await self._admits(reader):
                session = Session(self._server, StreamLines(reader, writer))
                self._sessions[task] = session
                await session.run()
        except ConnectionError:
            _log.debug("a proxy went away")
        finally:
            del self._sessions[task]
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _admits(self, reader: asyncio.StreamReader) -> bool:
        if not self._token:
            return True
        with suppress(TimeoutError, ValueError):
            async with asyncio.timeout(_TOKEN_SECONDS):
                line = await reader.readline()
                return hmac.compare_digest(line.strip(), self._token.encode())
        return False
