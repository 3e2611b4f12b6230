"""Newline-delimited messages over any pair of byte streams."""

import asyncio
import os
import queue
import threading
from collections.abc import Awaitable, Callable
from typing import Protocol

from . import daemons
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

    Each has a daemon thread: one that waits for a client that says nothing, or reads nothing,
    must not hold the process up when it ends.
    """

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(_CHUNKS_AHEAD)
        self._reader = LineReader(self._next_chunk)
        self._written: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        daemons.start("stdin", self._pump_in)
        daemons.start("stdout", self._pump_out)

    async def read(self) -> bytes | None:
        """See :meth:`Lines.read`."""
        return await self._reader.read()

    async def write(self, line: bytes) -> None:
        """See :meth:`Lines.write`."""
        written = self._loop.create_future()
        self._written.put((line + b"\n", written))
        await written

    async def _next_chunk(self) -> bytes:
        chunk = await self._chunks.get()
        self._room.release()
        return chunk

    def _pump_in(self) -> None:
        chunk = b" "
        while chunk:
            self._room.acquire()
            try:
                chunk = os.read(self._source, _CHUNK)
            except OSError:
                chunk = b""
            if not daemons.tell(self._loop, self._chunks.put_nowait, chunk):
                return

    def _pump_out(self) -> None:
        while True:
            line, written = self._written.get()
            try:
                _write_all(self._sink, line)
            except OSError as failure:
                daemons.tell(self._loop, _conclude, written, failure)
            else:
                daemons.tell(self._loop, _conclude, written, None)


def _conclude(written: "asyncio.Future[None]", failure: OSError | None) -> None:
    if written.done():
        return
    if failure is None:
        written.set_result(None)
    else:
        written.set_exception(failure)


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
