"""How long one operation may take, and whether anybody still waits for it."""

import time
from typing import Protocol

from ..errors import Cancelled, OperationTimeout


class CancelFlag(Protocol):
    """Anything with ``is_set()``: a ``threading.Event``, or a multiprocessing one."""

    def is_set(self) -> bool:
        """Whether the caller went away."""
        ...


class Budget:
    """A deadline and a cancel flag, handed to every port method, which polls it.

    ``seconds`` counts from construction; ``operation`` and ``provider`` name what overran.
    """

    __slots__ = ("_cancel", "_deadline", "operation", "provider", "seconds")

    def __init__(
        self, operation: str, provider: str, seconds: float, cancel: CancelFlag | None = None
    ) -> None:
        if not seconds > 0:
            raise ValueError(f"a budget is more than 0 seconds, not {seconds!r}")
        self.operation = operation
        self.provider = provider
        self.seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._cancel = cancel

    def remaining(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self._deadline - time.monotonic())

    def expired(self) -> bool:
        """Whether the deadline has passed; for providers that can return what they have."""
        return time.monotonic() >= self._deadline

    def check_cancelled(self) -> None:
        """Raise :class:`Cancelled` when the caller went away."""
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled(f"{self.provider} {self.operation} was cancelled")

    def check(self) -> None:
        """Raise :class:`Cancelled` or OPERATION_TIMEOUT when it is time to stop."""
        self.check_cancelled()
        if self.expired():
            raise OperationTimeout(self.operation, self.provider, self.seconds)
