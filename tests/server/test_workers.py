"""The runner of worker processes, without a server around it."""

import asyncio
import gc
import sys
import time
from functools import partial
from typing import Any, cast

import pytest

from vacmcpd.engine import Budgets, SearchCodeRequest
from vacmcpd.server.runner import ReplyKind
from vacmcpd.server.workers import WorkerRunner


def blocked(**options: Any) -> WorkerRunner:
    """One worker, which builds its engine for longer than any test."""
    factory = cast("Any", partial(time.sleep, 600))
    return WorkerRunner(factory, 1, budgets=Budgets(), **options)


async def give_up(runner: WorkerRunner, request: SearchCodeRequest) -> None:
    call = asyncio.create_task(runner.run(request))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


def test_nothing_is_kept_of_calls_that_were_given_up_while_they_waited() -> None:
    async def come_and_go() -> tuple[int, int]:
        runner = blocked(queue_limit=4)
        await runner.start()
        try:
            request = SearchCodeRequest("v1", "a long query " * 100)
            before = sys.getrefcount(request)
            for _ in range(200):
                await give_up(runner, request)
            await asyncio.sleep(0)
            gc.collect()
            return before, sys.getrefcount(request)
        finally:
            await runner.close()

    before, after = asyncio.run(come_and_go())
    assert after == before


def test_a_call_that_was_given_up_makes_room_for_another() -> None:
    async def fill() -> list[ReplyKind]:
        runner = blocked(queue_limit=1)
        await runner.start()
        try:
            request = SearchCodeRequest("v1", "query")
            waiting = asyncio.create_task(runner.run(request))
            await asyncio.sleep(0)
            busy = await runner.run(request)
            waiting.cancel()
            await asyncio.wait({waiting})
            await give_up(runner, request)
            return [busy.kind]
        finally:
            await runner.close()

    assert asyncio.run(fill()) == [ReplyKind.BUSY]
