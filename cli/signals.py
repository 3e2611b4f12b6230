"""SIGINT and SIGTERM: ask first, end at once the second time.

A command that changes something polls a flag, ends its children and records a truthful state;
any other is simply left.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Ended(BaseException):
    """A signal came while nothing was under way that has to be tidied up."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Signals:
    """The two signals of one process, from :meth:`install` on."""

    def __init__(self) -> None:
        self.flag = threading.Event()
        self.number: int | None = None
        self._tidy = False

    def install(self) -> None:
        """Take both signals; a server replaces the handlers by its own."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._arrive)

    @contextmanager
    def tidying(self) -> Iterator[threading.Event]:
        """While this is open the first signal only sets the flag that it yields."""
        self._tidy = True
        try:
            yield self.flag
        finally:
            self._tidy = False

    @property
    def exit_code(self) -> int | None:
        """130 or 143 once a signal came."""
        return None if self.number is None else 128 + self.number

    def _arrive(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.number is not None:
            # No unwinding: whatever the first signal is waiting for is what the user gives up on.
            os._exit(128 + number)
        self.number = number
        self.flag.set()
        if not self._tidy:
            raise Ended(number)


SIGNALS = Signals()
"""The process has one set of handlers, so there is one of these."""
