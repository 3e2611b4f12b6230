"""What happens meanwhile, on stderr: progress on a terminal, and for whom a command waits."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from vacmcpd.ports.locks import Holder

from .failures import say
from .text import safe

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Narrator:
    """The ``progress`` and ``on_wait`` of an activity. Draws only where somebody looks."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._draws = not quiet and sys.stderr.isatty()
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def progress(self, phase: str, done: int, total: int) -> None:
        """One phase's progress; ``total`` 0 is unknown."""
        if not self._draws:
            return
        bars = self._started()
        phase = safe(phase)
        if phase not in self._tasks:
            self._tasks[phase] = bars.add_task(phase, total=total or None)
        bars.update(self._tasks[phase], completed=done, total=total or None)

    def waiting(self, lock: str, holder: Holder | None) -> None:
        """Say once whose turn it is."""
        if self._quiet:
            return
        words = f"vacmcp: waiting for {lock}, {_who(holder)}"
        if self._bars is not None:
            self._bars.console.print(safe(words))
        else:
            say(words)

    def _started(self) -> "Progress":
        if self._bars is None:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            from .output import terminal

            self._bars = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=30),
                TextColumn("{task.completed:,.0f}", markup=False),
                TimeElapsedColumn(),
                console=terminal(stderr=True),
                transient=True,
            )
            self._bars.start()
        return self._bars


def _who(holder: Holder | None) -> str:
    if holder is None:
        return "which another process holds"
    return f"held by pid {holder.pid} ({holder.verb}, since {holder.started_at})"
