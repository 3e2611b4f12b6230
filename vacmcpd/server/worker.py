"""A worker process: builds one engine and answers one request at a time.

Frames come on descriptor 0 and go out on descriptor 1; both are moved away before anything else
runs, so that a provider that prints or a child that reads can't touch them. The end of the
input means that the server is gone, however it died, and ends the worker.
"""

import gc
import os
import pickle
import queue
import signal
import sys
import threading
from types import FrameType
from typing import BinaryIO

from ..engine import Engine
from ..errors import VacmcpError
from . import frames
from .answers import largest_context, perform
from .runner import CANCEL_SECONDS
from .wire import encode


class _Channel:
    """The worker's end: a reader thread, so that cancels and pings arrive while it works."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source = source
        self._sink = sink
        self._writing = threading.Lock()
        self._gone: dict[int, threading.Event] = {}
        self._idle = threading.Event()
        self.jobs: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()

    def factory(self) -> bytes:
        """The body of the first frame."""
        first = frames.read(self._source)
        if first is None:
            os._exit(0)
        return first[1]

    def listen(self) -> None:
        """Take frames until the server goes away, then end this process."""
        while (frame := frames.read(self._source)) is not None:
            self._take(*frame)
        # A git that is at work would go on without us: whoever started it gets a moment to end it.
        for gone in list(self._gone.values()):
            gone.set()
        if self._gone:
            self._idle.wait(CANCEL_SECONDS)
        os._exit(0)

    def _take(self, kind: bytes, body: bytes) -> None:
        if kind == frames.REQUEST:
            (number,) = frames.NUMBER.unpack_from(body)
            self._idle.clear()
            self._gone[number] = threading.Event()
            self.jobs.put((number, body[frames.NUMBER.size :]))
        elif kind == frames.CANCEL:
            (number,) = frames.NUMBER.unpack(body)
            # A cancel can cross its answer on the way; then there is nothing left to cancel.
            if (gone := self._gone.get(number)) is not None:
                gone.set()
        elif kind == frames.PING:
            self.send(frames.PONG)
        elif kind == frames.QUIT:
            self.jobs.put(None)

    def cancel_flag(self, number: int) -> threading.Event:
        return self._gone[number]

    def done(self, number: int) -> None:
        del self._gone[number]
        if not self._gone:
            self._idle.set()

    def send(self, kind: bytes, body: bytes = b"") -> None:
        try:
            with self._writing:
                self._sink.write(frames.pack(kind, body))
                self._sink.flush()
        except BrokenPipeError:
            # Nobody is there to be told anything.
            os._exit(0)


def main() -> None:
    """Run until told to end or until the server goes away."""
    # The server decides when workers end; a Ctrl-C reaches the whole process group. Not SIG_IGN,
    # which a git started from here would inherit: it could then not be told to end.
    signal.signal(signal.SIGINT, _ignore)
    signal.signal(signal.SIGTERM, _ignore)
    channel = _Channel(*_claim_descriptors())
    try:
        build = pickle.loads(channel.factory())  # noqa: S301 - from the process that started us
        engine: Engine = build()
    except VacmcpError as failure:
        channel.send(frames.BROKEN, encode(failure.to_wire()))
        sys.exit(1)
    gc.collect()
    gc.freeze()
    threading.Thread(target=channel.listen, daemon=True).start()
    channel.send(frames.UP, frames.COUNT.pack(largest_context(engine)))
    _work(channel, engine)
    engine.close()


def _work(channel: _Channel, engine: Engine) -> None:
    while (job := channel.jobs.get()) is not None:
        number, body = job
        request = pickle.loads(body)  # noqa: S301 - from the process that started us
        reply = perform(engine, request, channel.cancel_flag(number))
        channel.done(number)
        channel.send(reply.kind.encode(), reply.body)


def _ignore(number: int, frame: FrameType | None) -> None:
    """Both signals are the server's to answer."""


def _claim_descriptors() -> tuple[BinaryIO, BinaryIO]:
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb")
