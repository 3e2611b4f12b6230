"""The runner for one client: an engine in this process, each request in a thread."""

import logging
import threading

import anyio
import anyio.to_thread

from ..engine import Budgets, Engine, Request
from .answers import perform
from .runner import GRACE_SECONDS, QUEUE_LIMIT, Reply, ReplyKind, allowance

_log = logging.getLogger(__name__)


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
                    # An own limiter, because an abandoned thread must not hold a slot for ever.
                    reply = await anyio.to_thread.run_sync(
                        perform,
                        self._engine,
                        request,
                        gone,
                        abandon_on_cancel=True,
                        limiter=anyio.CapacityLimiter(1),
                    )
            finally:
                gone.set()
        if reply is None:
            _log.warning(
                "%s overran %g s; its thread is left behind", allowed.operation, allowed.seconds
            )
            return allowed.overrun()
        return reply

    async def healthy(self) -> bool:
        """See :class:`vacmcpd.server.runner.Runner`."""
        return True

    async def close(self) -> None:
        """See :class:`vacmcpd.server.runner.Runner`."""
        self._engine.close()
