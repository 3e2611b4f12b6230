"""Builds as jobs: given as plain data, done by whoever claims them."""

from dataclasses import dataclass
from typing import Protocol

from .builders import BuildTarget


@dataclass(frozen=True, slots=True)
class BuildJob:
    """Everything a builder needs to know; picklable."""

    context: str
    rebuild: bool
    targets: tuple[BuildTarget, ...]
    search_engine: str
    graph_engine: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job and the build that its claimer must heartbeat and finish."""

    job: BuildJob
    build: str
    generation: int


class BuildQueue(Protocol):
    """Who builds what; here in this process, with the build's lock as its sign of life."""

    def submit(self, job: BuildJob) -> None:
        """Queue a job."""
        ...

    def claim(self, owner: str) -> Claimed | None:
        """The next job, as a RUNNING build of ``owner``; None when there is none."""
        ...

    def heartbeat(self, build: str) -> bool:
        """Say that the builder lives; False when the build was cancelled or lost."""
        ...

    def cancel(self, build: str) -> None:
        """Ask the builder to stop at its next heartbeat."""
        ...

    def finish(self, build: str) -> None:
        """Give the build's lock back, however the build ended."""
        ...

    def alive(self, build: str) -> bool:
        """Whether the build's owner still lives."""
        ...
