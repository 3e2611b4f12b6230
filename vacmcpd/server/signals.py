"""The first signal asks a server to finish, the second ends it at once."""

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_HANDLED = (signal.SIGINT, signal.SIGTERM)


class StopSignal:
    """Set once the server was asked to finish, by a signal or by :meth:`ask`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        self._signalled = False

    def ask(self) -> None:
        """Ask from within the event loop."""
        self._event.set()

    @property
    def asked(self) -> bool:
        return self._event.is_set()

    async def wait(self) -> None:
        """Return when the server was asked to finish."""
        await self._event.wait()

    def handle(self, number: int, frame: FrameType | None) -> None:
        """The handler of both signals."""
        if self._signalled:
            # Both signals are requests, so that even an impatient one is no failure.
            os._exit(0)
        self._signalled = True
        self._loop.call_soon_threadsafe(self._event.set)

    def install(self) -> None:
        """Take the signals over; again after somebody else took them."""
        if threading.current_thread() is threading.main_thread():
            for number in _HANDLED:
                signal.signal(number, self.handle)


@contextmanager
def stop_on_signals() -> Iterator[StopSignal]:
    """A :class:`StopSignal` for as long as the block runs, inside the event loop."""
    stop = StopSignal()
    with _restored():
        stop.install()
        yield stop


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Exit with 0 at a signal: for what comes before the event loop, which takes a while."""
    with _restored():
        if threading.current_thread() is threading.main_thread():
            for number in _HANDLED:
                signal.signal(number, _exit)
        yield


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(0)


@contextmanager
def _restored() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in _HANDLED}
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                signal.signal(number, handler)
