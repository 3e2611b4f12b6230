"""What a lifecycle command tells its caller while it works, and how it is told to stop."""

from dataclasses import dataclass

from ..errors import Cancelled
from ..ports.budget import CancelFlag
from ..ports.locks import Holder, OnWait
from ..ports.repository_store import OnProgress


@dataclass(frozen=True, slots=True)
class Activity:
    """Progress and waits go out, a cancellation comes in."""

    progress: OnProgress
    on_wait: OnWait
    cancel: CancelFlag | None = None

    def check(self) -> None:
        """Raise :class:`Cancelled` when the caller asked to stop."""
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled("stopped on request")


def _no_progress(phase: str, done: int, total: int) -> None:
    del phase, done, total


def _no_wait(lock: str, holder: Holder | None) -> None:
    del lock, holder


QUIET = Activity(_no_progress, _no_wait)
"""Says nothing and is never cancelled."""
