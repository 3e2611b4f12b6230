"""The runner for many clients: a few worker processes, one request at a time in each."""

import asyncio
import itertools
import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass

from ..engine import Budgets, Engine, Request
from ..errors import LifecycleError
from .process import Worker, spawn
from .runner import CANCEL_SECONDS, GRACE_SECONDS, QUEUE_LIMIT, Reply, ReplyKind, allowance

_log = logging.getLogger(__name__)

_CLOSE_SECONDS = 1.0
_PING_SECONDS = 5.0
_FIRST_DELAY = 0.1
_LONGEST_DELAY = 5.0
_ATTEMPTS = 2


@dataclass(slots=True, eq=False)
class _Running:
    worker: Worker
    number: int
    limit: asyncio.Timeout


@dataclass(slots=True, eq=False)
class _Job:
    """A request on its way. Whoever waits for ``reply`` cancels it to give the work up."""

    request: Request
    reply: asyncio.Future[Reply]
    running: _Running | None = None

    def given_up(self, _: object) -> None:
        if self.running is None or not self.reply.cancelled() or self.running.limit.expired():
            return
        self.running.worker.cancel(self.running.number)
        last = asyncio.get_running_loop().time() + CANCEL_SECONDS
        when = self.running.limit.when()
        self.running.limit.reschedule(last if when is None else min(when, last))

    def finish(self, reply: Reply) -> None:
        if not self.reply.done():
            self.reply.set_result(reply)


class WorkerRunner:
    """Keeps ``workers`` processes, each with an engine of its own from the picklable ``factory``.

    A process that overruns the allowance of its request, or goes on for CANCEL_SECONDS after a
    cancel, is killed and replaced. One that dies is replaced too and its request tried once more.
    """

    def __init__(
        self,
        factory: Callable[[], Engine],
        workers: int,
        *,
        budgets: Budgets,
        grace: float = GRACE_SECONDS,
        queue_limit: int = QUEUE_LIMIT,
    ) -> None:
        self._factory = pickle.dumps(factory)
        self._count = workers
        self._budgets = budgets
        self._grace = grace
        self._queue_limit = queue_limit
        # One ticket for each job that came; a job that is given up leaves its ticket behind and
        # nothing else, however many clients come and go while all workers are busy.
        self._tickets: asyncio.Queue[None] = asyncio.Queue()
        self._waiting: dict[_Job, None] = {}
        self._numbers = itertools.count(1)
        self._workers: set[Worker] = set()
        self._first: list[Worker] = []
        self._slots: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start the processes, without waiting until they are up."""
        for _ in range(self._count):
            worker = await self._spawn()
            self._first.append(worker)
            self._slots.append(asyncio.create_task(self._slot(worker)))

    async def ready(self) -> None:
        """Return when every engine is built; raises the LifecycleError of one that can't be."""
        await asyncio.gather(*(worker.up for worker in self._first))

    async def run(self, request: Request) -> Reply:
        """See :class:`vacmcpd.server.runner.Runner`."""
        if len(self._waiting) >= self._queue_limit:
            return Reply(ReplyKind.BUSY)
        job = _Job(request, asyncio.get_running_loop().create_future())
        job.reply.add_done_callback(job.given_up)
        job.reply.add_done_callback(lambda _: self._waiting.pop(job, None))
        self._waiting[job] = None
        self._tickets.put_nowait(None)
        return await job.reply

    async def healthy(self) -> bool:
        """See :class:`vacmcpd.server.runner.Runner`."""
        pings = [worker.answers_ping(_PING_SECONDS) for worker in self._workers]
        return any(await asyncio.gather(*pings))

    async def close(self) -> None:
        """See :class:`vacmcpd.server.runner.Runner`."""
        for slot in self._slots:
            slot.cancel()
        await asyncio.gather(*self._slots, return_exceptions=True)
        await asyncio.gather(*(worker.close(_CLOSE_SECONDS) for worker in self._workers))

    async def _spawn(self) -> Worker:
        worker = await spawn(self._factory)
        self._workers.add(worker)
        return worker

    async def _slot(self, worker: Worker) -> None:
        await asyncio.wait({worker.up})
        if worker.up.exception() is not None:
            # ready() says so, and the server does not start.
            return
        while True:
            if not await self._ticket(worker):
                worker = await self._replace(worker, None)
            elif (job := next(iter(self._waiting), None)) is not None:
                del self._waiting[job]
                worker = await self._serve(worker, job)

    async def _ticket(self, worker: Worker) -> bool:
        """Wait until something was asked; False when the worker dies while it waits."""
        coming = asyncio.create_task(self._tickets.get())
        try:
            await asyncio.wait({coming, worker.ended}, return_when=asyncio.FIRST_COMPLETED)
            if not worker.ended.done():
                return True
        finally:
            coming.cancel()
        await asyncio.wait({coming})
        if not coming.cancelled():
            self._tickets.put_nowait(None)
        return False

    async def _serve(self, worker: Worker, job: _Job) -> Worker:
        for _ in range(_ATTEMPTS):
            if job.reply.done():
                return worker
            reply = await self._attempt(worker, job)
            if reply is not None:
                job.finish(reply)
                return worker
            _log.warning("worker %d died while it ran %s", worker.pid, type(job.request).__name__)
            worker = await self._replace(worker, job)
        job.finish(Reply(ReplyKind.FAULT))
        return worker

    async def _attempt(self, worker: Worker, job: _Job) -> Reply | None:
        number = next(self._numbers)
        allowed = allowance(job.request, self._budgets, worker.members)
        answer = worker.ask(number, job.request)
        try:
            async with asyncio.timeout(allowed.seconds + self._grace) as limit:
                job.running = _Running(worker, number, limit)
                return await answer
        except TimeoutError:
            _log.warning("worker %d did not stop %s in time", worker.pid, allowed.operation)
            worker.kill()
            job.finish(allowed.overrun())
            await worker.ended
            return allowed.overrun()
        finally:
            job.running = None

    async def _replace(self, worker: Worker, job: _Job | None) -> Worker:
        """A fresh worker that is up; ``job``, when one waits for it, fails if the first is not."""
        self._workers.discard(worker)
        await worker.ended
        delay = _FIRST_DELAY
        while True:
            fresh = await self._spawn()
            try:
                await asyncio.shield(fresh.up)
            except LifecycleError as failure:
                _log.error("a worker can't be replaced: %s", failure)
            else:
                return fresh
            self._workers.discard(fresh)
            self._refuse(job)
            await asyncio.sleep(delay)
            delay = min(2 * delay, _LONGEST_DELAY)

    def _refuse(self, job: _Job | None) -> None:
        if job is not None:
            job.finish(Reply(ReplyKind.FAULT))
        if not self._workers:
            for waiting in list(self._waiting):
                waiting.finish(Reply(ReplyKind.FAULT))
            self._waiting.clear()
