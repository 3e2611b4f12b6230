"""One suite over the queue that builds here and the one in memory."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from vacmcpd.errors import LifecycleError, Locked
from vacmcpd.managed.queue import LocalQueue
from vacmcpd.model import BuildState, Member
from vacmcpd.ports.build_queue import BuildJob, BuildQueue
from vacmcpd.testing.catalogue import MemoryCatalogue
from vacmcpd.testing.locks import MemoryLocks
from vacmcpd.testing.queue import MemoryQueue

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def job(context: str) -> BuildJob:
    return BuildJob(context, False, (), "scan/1", "none/0")


@pytest.fixture
def catalogue() -> MemoryCatalogue:
    made = MemoryCatalogue()
    made.add_repository("flask", "/flask", NOW)
    for name in ("a", "b"):
        made.create_context(name, [Member("flask", "main", "1" * 40)], NOW)
    return made


@pytest.fixture
def locks() -> MemoryLocks:
    return MemoryLocks()


@pytest.fixture(params=["local", "memory"])
def queue(request: pytest.FixtureRequest, catalogue: Any, locks: MemoryLocks) -> BuildQueue:
    return LocalQueue(catalogue, locks) if request.param == "local" else MemoryQueue()


def test_an_empty_queue_has_nothing_to_claim(queue: BuildQueue) -> None:
    assert queue.claim("pid 1") is None


def test_jobs_are_claimed_once_in_order(queue: BuildQueue) -> None:
    queue.submit(job("a"))
    queue.submit(job("b"))
    first, second = queue.claim("pid 1"), queue.claim("pid 1")
    assert first is not None
    assert second is not None
    assert [first.job.context, second.job.context] == ["a", "b"]
    assert first.build != second.build
    assert (first.generation, second.generation) == (1, 1)
    assert queue.claim("pid 1") is None
    queue.finish(first.build)
    queue.finish(second.build)


def test_a_claimed_build_lives_until_it_is_finished(queue: BuildQueue) -> None:
    queue.submit(job("a"))
    claimed = queue.claim("pid 1")
    assert claimed is not None
    assert queue.alive(claimed.build)
    assert queue.heartbeat(claimed.build)
    queue.finish(claimed.build)
    assert not queue.alive(claimed.build)
    queue.finish(claimed.build)


def test_a_cancelled_build_learns_it_at_its_heartbeat(queue: BuildQueue) -> None:
    queue.submit(job("a"))
    claimed = queue.claim("pid 1")
    assert claimed is not None
    queue.cancel(claimed.build)
    assert not queue.heartbeat(claimed.build)
    assert queue.alive(claimed.build)
    queue.finish(claimed.build)


def test_a_build_that_was_ended_elsewhere_learns_it_at_its_heartbeat(
    catalogue: MemoryCatalogue, locks: MemoryLocks
) -> None:
    queue = LocalQueue(catalogue, locks)
    queue.submit(job("a"))
    claimed = queue.claim("pid 1")
    assert claimed is not None
    catalogue.fail_build(claimed.build, BuildState.INTERRUPTED, "INTERRUPTED", "x", NOW)
    assert not queue.heartbeat(claimed.build)
    assert not queue.alive(claimed.build)
    queue.finish(claimed.build)


def test_a_context_that_is_held_is_locked_before_its_build_and_after_it(
    catalogue: MemoryCatalogue, locks: MemoryLocks
) -> None:
    queue = LocalQueue(catalogue, locks)
    with queue.hold("a", "context create"):
        assert not locks.build_is_dead("a")
        queue.submit(job("a"))
        claimed = queue.claim("pid 1")
        assert claimed is not None
        queue.finish(claimed.build)
        assert not locks.build_is_dead("a")
        with pytest.raises(Locked), queue.hold("a", "context retry"):
            pass
    assert locks.build_is_dead("a")


def test_a_claim_that_fails_gives_the_lock_back(
    catalogue: MemoryCatalogue, locks: MemoryLocks
) -> None:
    queue = LocalQueue(catalogue, locks)
    queue.submit(job("nothing"))
    with pytest.raises(LifecycleError):
        queue.claim("pid 1")
    assert locks.build_is_dead("nothing")


def test_each_thread_builds_what_it_submitted(
    catalogue: MemoryCatalogue, locks: MemoryLocks
) -> None:
    queue = LocalQueue(catalogue, locks)
    barrier = threading.Barrier(2)
    claimed: dict[str, str] = {}

    def work(context: str) -> None:
        queue.submit(job(context))
        barrier.wait()
        got = queue.claim("pid 1")
        assert got is not None
        claimed[context] = got.job.context
        queue.finish(got.build)

    run: Callable[[str], threading.Thread] = lambda name: threading.Thread(  # noqa: E731
        target=work, args=(name,)
    )
    threads = [run("a"), run("b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert claimed == {"a": "a", "b": "b"}
