"""Named points at which a test may end the process."""

from typing import Protocol


class FaultPoint(Protocol):
    """Called before and after everything that must survive a crash."""

    def reach(self, name: str) -> None:
        """Return, always, in production."""
        ...


class NoFaults:
    """The production adapter: nothing ever happens."""

    def reach(self, name: str) -> None:
        """Return."""
