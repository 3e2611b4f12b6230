"""Parses files in processes that may die: of a crash, of time, of memory.

A file that ends its process is tried once more, alone in another; then it is given up, and the
build goes on. Results come in the order of the files, whatever the number of processes.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import msgspec

from ...errors import BuildCode, LifecycleError
from .skips import Skip
from .worker import Job, Parsed, receive, send

COMMAND = (sys.executable, "-P", "-m", "vacmcpd.adapters.syntax.worker")
"""-P: what stands in the working directory must not be imported."""

BATCH_BYTES = 512 * 1024
"""Also how much there must be to read before a second process is worth its start."""

SECONDS, BYTES_A_SECOND = 20.0, 200_000
"""A file has this many seconds, and one more for each of these bytes: ten times the usual."""

_TICK = 0.2
_parsed = msgspec.msgpack.Decoder(Parsed)

Poll = Callable[[], None]


class Ended(Exception):
    """A worker ended in the middle of its work."""


def allowed(size: int) -> float:
    """The seconds that a file of ``size`` bytes may take."""
    return SECONDS + size / BYTES_A_SECOND


class _Worker:
    """One process. ``deadline`` is when its present file has had its time."""

    def __init__(self, command: Sequence[str]) -> None:
        self.deadline = float("inf")
        self.late = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own module, by our interpreter
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
            )
        except OSError:
            self._errors.close()
            raise
        self._started = False

    def parse(self, jobs: Sequence[Job]) -> Iterator[Parsed]:
        """The results of ``jobs``, one by one; :class:`Ended` when there are no more."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.deadline = time.monotonic() + SECONDS
        if not self._started and receive(self._process.stdout) is None:
            self._process.kill()
            raise _not_started(self._said())
        self._started = True
        with suppress(BrokenPipeError):
            send(self._process.stdin, msgspec.msgpack.encode(jobs))
        for job in jobs:
            self.deadline = time.monotonic() + allowed(len(job.content))
            message = receive(self._process.stdout)
            if message is None:
                raise Ended
            yield _parsed.decode(message)
        self.deadline = float("inf")

    def watch(self) -> None:
        """End it when its file has had its time."""
        if time.monotonic() > self.deadline:
            self.late = True
            self._process.kill()

    def close(self) -> None:
        """End it at once."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._process.wait()
        self._errors.close()

    def _said(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"it ended with {self._process.returncode}"


class Workers:
    """A few processes that parse, started when they are first needed.

    ``poll`` is called a few times a second and may raise. Used as a context: leaving it ends them.
    """

    def __init__(
        self, processes: int | None = None, *, command: Sequence[str] = (), poll: Poll
    ) -> None:
        self._most = max(1, processes or min(2, os.cpu_count() or 1))
        self._command = tuple(command) or COMMAND
        self._poll = poll
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._closed = False

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._closed = True
            workers, self._all = self._all, set()
        for worker in workers:
            worker.close()

    def parse(self, jobs: Iterable[Job]) -> Iterator[Parsed]:
        """The results of ``jobs`` in their order; jobs are taken as there is room for them."""
        pool = ThreadPoolExecutor(self._most, thread_name_prefix="parse")
        waiting: deque[Future[list[Parsed]]] = deque()
        try:
            for batch in _batches(jobs):
                waiting.append(pool.submit(self._run, batch))
                if len(waiting) > self._most:
                    yield from self._result(waiting.popleft())
            while waiting:
                yield from self._result(waiting.popleft())
        except BaseException:
            # What is still at work is of no use any more, and must not be waited for.
            self.__exit__()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def _result(self, future: "Future[list[Parsed]]") -> list[Parsed]:
        while True:
            try:
                return future.result(timeout=_TICK)
            except TimeoutError:
                if future.done():
                    return future.result()
            self._poll()
            with self._lock:
                workers = list(self._all)
            for worker in workers:
                worker.watch()

    def _run(self, jobs: Sequence[Job]) -> list[Parsed]:
        """The results of a batch, in as many processes as it takes."""
        done: list[Parsed] = []
        while len(done) < len(jobs):
            _, ended = self._attempt(jobs[len(done) :], done)
            if ended:
                again: list[Parsed] = []
                # Alone, so that nothing before it can be the reason.
                late, ended = self._attempt(jobs[len(done) : len(done) + 1], again)
                reason = Skip.TIMEOUT if late else Skip.CRASHED
                done.append(Parsed(skip=reason) if ended else again[0])
        return done

    def _attempt(self, jobs: Sequence[Job], done: list[Parsed]) -> tuple[bool, bool]:
        """Fill ``done``; whether the process was late, and whether it ended early."""
        worker = self._take()
        try:
            for result in worker.parse(jobs):
                done.append(result)  # noqa: PERF402 - those before the end are kept
        except Ended:
            self._drop(worker)
            if self._closed:
                raise
            return worker.late, True
        except BaseException:
            self._drop(worker)
            raise
        with self._lock:
            if not self._closed:
                self._idle.append(worker)
        return False, False

    def _take(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise Ended
            if self._idle:
                return self._idle.pop()
            try:
                worker = _Worker(self._command)
            except OSError as error:
                raise _not_started(error.strerror or type(error).__name__) from error
            self._all.add(worker)
            return worker

    def _drop(self, worker: _Worker) -> None:
        with self._lock:
            self._all.discard(worker)
        worker.close()


def _batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    batch: list[Job] = []
    size = 0
    for job in jobs:
        batch.append(job)
        size += len(job.content)
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _not_started(said: str) -> LifecycleError:
    return LifecycleError(
        BuildCode.INTERRUPTED,
        f"the process that parses source files does not start: {said}; mend it and try again",
        {"reason": said},
    )
