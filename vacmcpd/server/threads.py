"""The runner for one client: an engine in this process, each request in a thread."""

import logging
import threading
from functools import partial

import anyio

from ..engine import Budgets, Engine, Request
from . import daemons
from .answers import perform
from .runner import GRACE_SECONDS, QUEUE_LIMIT, Reply, ReplyKind, allowance

_log = logging.getLogger(__name__)

_LEAVE_SECONDS = 0.5
_LOOK_SECONDS = 0.01


class ThreadRunner:
    """Runs at most ``threads`` requests at a time over one ``engine``, which it closes.

    Nobody can end a thread: one that overruns its allowance is answered for and left behind.
    ``members`` is how many members the largest context has.
    """

    def __init__(
        self,
        engine: Engine,
        threads: int,
        *,
        budgets: Budgets,
        members: int = 1,
        grace: float = GRACE_SECONDS,
        queue_limit: int = QUEUE_LIMIT,
    ) -> None:
        self._engine = engine
        self._slots = anyio.CapacityLimiter(threads)
        self._budgets = budgets
        self._members = members
        self._grace = grace
        self._queue_limit = queue_limit
        self._working: set[threading.Event] = set()

    async def run(self, request: Request) -> Reply:
        """See :class:`vacmcpd.server.runner.Runner`."""
        if self._slots.statistics().tasks_waiting >= self._queue_limit:
            return Reply(ReplyKind.BUSY)
        gone = threading.Event()
        async with self._slots:
            allowed = allowance(request, self._budgets, self._members)
            reply: Reply | None = None
            try:
                with anyio.move_on_after(allowed.seconds + self._grace):
                    work = partial(self._perform, request, gone)
                    reply = await daemons.call(allowed.operation, work)
            finally:
                gone.set()
        if reply is None:
            _log.warning(
                "%s overran %g s; its thread is left behind", allowed.operation, allowed.seconds
            )
            return allowed.overrun()
        return reply

    def _perform(self, request: Request, gone: threading.Event) -> Reply:
        self._working.add(gone)
        try:
            return perform(self._engine, request, gone)
        finally:
            self._working.discard(gone)

    async def healthy(self) -> bool:
        """See :class:`vacmcpd.server.runner.Runner`."""
        return True

    async def close(self) -> None:
        """See :class:`vacmcpd.server.runner.Runner`."""
        # Cancelled threads get a moment to leave the engine before it is closed under them.
        with anyio.move_on_after(_LEAVE_SECONDS):
            while self._working:
                await anyio.sleep(_LOOK_SECONDS)
        self._engine.close()
