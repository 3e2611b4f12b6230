"""The build queue of one process: whoever submits a job builds it, under its context's lock.

The lock is named after the context, not after the attempt: it is taken before a new context's
row exists, so that no recovery elsewhere can take the row for one whose creator died.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ..model import BuildState
from ..ports.build_queue import BuildJob, Claimed
from ..ports.catalogue import Catalogue
from ..ports.locks import Locks
from .clock import Clock, utc_now


class LocalQueue:
    """Implements :class:`vacmcpd.ports.build_queue.BuildQueue` by locks of this machine."""

    def __init__(self, catalogue: Catalogue, locks: Locks, *, clock: Clock = utc_now) -> None:
        self._catalogue = catalogue
        self._locks = locks
        self._clock = clock
        self._mine = _PerThread()
        self._mutex = threading.Lock()
        self._claims: dict[str, ExitStack] = {}
        self._cancelled: set[str] = set()

    @contextmanager
    def hold(self, context: str, verb: str) -> Iterator[None]:
        """Look after ``context``, from before it has a row; LOCKED when somebody else does."""
        with self._locks.build(context, verb):
            self._mine.held.add(context)
            try:
                yield
            finally:
                self._mine.held.discard(context)

    def submit(self, job: BuildJob) -> None:
        """Queue a job for this thread."""
        self._mine.jobs.append(job)

    def claim(self, owner: str) -> Claimed | None:
        """The next job of this thread, with its context's lock held until :meth:`finish`."""
        if not self._mine.jobs:
            return None
        job = self._mine.jobs.popleft()
        with ExitStack() as stack:
            if job.context not in self._mine.held:
                stack.enter_context(self._locks.build(job.context, owner))
            build = self._catalogue.begin_build(job.context, owner, job.rebuild, self._clock())
            with self._mutex:
                self._claims[build.id] = stack.pop_all()
        return Claimed(job, build.id, build.generation)

    def heartbeat(self, build: str) -> bool:
        """Whether the build was neither cancelled here nor ended by somebody else."""
        with self._mutex:
            if build in self._cancelled:
                return False
        return self._catalogue.build(build).state is BuildState.RUNNING

    def cancel(self, build: str) -> None:
        """Let the next heartbeat say no."""
        with self._mutex:
            self._cancelled.add(build)

    def finish(self, build: str) -> None:
        """Give the lock back; idempotent."""
        with self._mutex:
            stack = self._claims.pop(build, None)
            self._cancelled.discard(build)
        if stack is not None:
            stack.close()

    def alive(self, build: str) -> bool:
        """Whether the build runs and its context's lock is held."""
        record = self._catalogue.build(build)
        return record.state is BuildState.RUNNING and not self._locks.build_is_dead(record.context)


class _PerThread(threading.local):
    def __init__(self) -> None:
        self.jobs: deque[BuildJob] = deque()
        self.held: set[str] = set()
