"""Newline-delimited messages over any pair of byte streams."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio.to_thread

from .envelope import INVALID_REQUEST, MAX_MESSAGE_BYTES, Refused

_CHUNK = 65_536
_CHUNKS_AHEAD = 8


class Lines(Protocol):
    """One client's lines."""

    async def read(self) -> bytes | None:
        """The next line without its end, None at the end; raises Refused for one too long."""
        ...

    async def write(self, line: bytes) -> None:
        """Send one line; raises OSError when the client is gone."""
        ...


class LineReader:
    """Cuts lines out of chunks; ``receive`` returns b"" at the end."""

    def __init__(self, receive: Callable[[], Awaitable[bytes]]) -> None:
        self._receive = receive
        self._buffer = bytearray()
        self._searched = 0
        self._skipping = False
        self._ended = False

    async def read(self) -> bytes | None:
        """See :meth:`Lines.read`."""
        while (line := self._cut()) is None:
            if self._ended:
                return None
            chunk = await self._receive()
            self._ended = not chunk
            self._buffer += chunk
        return line

    def _cut(self) -> bytes | None:
        end = self._buffer.find(b"\n", self._searched)
        if end < 0 and self._ended and self._buffer:
            end = len(self._buffer)
        if end < 0:
            self._searched = len(self._buffer)
            if self._searched > MAX_MESSAGE_BYTES:
                self._skipping = True
                self._forget(self._searched)
            return None
        line = bytes(self._buffer[:end])
        self._forget(end + 1)
        if self._skipping or len(line) > MAX_MESSAGE_BYTES:
            self._skipping = False
            raise Refused(INVALID_REQUEST, "the message is larger than 1 MiB")
        return line

    def _forget(self, length: int) -> None:
        del self._buffer[:length]
        self._searched = 0


class DescriptorLines:
    """Lines over two file descriptors, pipe, terminal or file, whose calls block.

    The reader is a daemon thread: one that waits for a client that says nothing must not hold
    the process up when it ends.
    """

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(_CHUNKS_AHEAD)
        self._reader = LineReader(self._next_chunk)
        threading.Thread(target=self._pump, name="stdin", daemon=True).start()

    async def read(self) -> bytes | None:
        """See :meth:`Lines.read`."""
        return await self._reader.read()

    async def write(self, line: bytes) -> None:
        """See :meth:`Lines.write`."""
        await anyio.to_thread.run_sync(_write_all, self._sink, line + b"\n", abandon_on_cancel=True)

    async def _next_chunk(self) -> bytes:
        chunk = await self._chunks.get()
        self._room.release()
        return chunk

    def _pump(self) -> None:
        chunk = b" "
        while chunk:
            self._room.acquire()
            try:
                chunk = os.read(self._source, _CHUNK)
            except OSError:
                chunk = b""
            try:
                self._loop.call_soon_threadsafe(self._chunks.put_nowait, chunk)
            except RuntimeError:
                # The loop is closed: the server ended while this thread was reading.
                return


class StreamLines:
    """Lines over an asyncio stream."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = LineReader(lambda: reader.read(_CHUNK))
        self._writer = writer

    async def read(self) -> bytes | None:
        """See :meth:`Lines.read`."""
        try:
            return await self._reader.read()
        except ConnectionError:
            return None

    async def write(self, line: bytes) -> None:
        """See :meth:`Lines.write`."""
        self._writer.write(line + b"\n")
        await self._writer.drain()


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
