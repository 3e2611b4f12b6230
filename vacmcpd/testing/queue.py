"""A build queue in memory: jobs and builds by hand, no catalogue behind them."""

from collections import deque

from ..ports.build_queue import BuildJob, Claimed


class MemoryQueue:
    """Implements :class:`vacmcpd.ports.build_queue.BuildQueue`; ``lose`` plays a dead builder."""

    def __init__(self) -> None:
        self._jobs: deque[BuildJob] = deque()
        self._generations: dict[str, int] = {}
        self._living: set[str] = set()
        self._cancelled: set[str] = set()

    def submit(self, job: BuildJob) -> None:
        """See the port."""
        self._jobs.append(job)

    def claim(self, owner: str) -> Claimed | None:
        """See the port; builds are called ``CONTEXT-GENERATION``."""
        if not self._jobs:
            return None
        del owner
        job = self._jobs.popleft()
        generation = self._generations.get(job.context, 0) + 1
        self._generations[job.context] = generation
        build = f"{job.context}-{generation}"
        self._living.add(build)
        return Claimed(job, build, generation)

    def heartbeat(self, build: str) -> bool:
        """See the port."""
        return build in self._living and build not in self._cancelled

    def cancel(self, build: str) -> None:
        """See the port."""
        self._cancelled.add(build)

    def finish(self, build: str) -> None:
        """See the port."""
        self._living.discard(build)
        self._cancelled.discard(build)

    def alive(self, build: str) -> bool:
        """See the port."""
        return build in self._living

    def lose(self, build: str) -> None:
        """Its builder died without a word."""
        self._living.discard(build)
