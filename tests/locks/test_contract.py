"""One suite over the locks in memory and those of files."""

import threading
import time
from collections.abc import Callable

import pytest

from vacmcpd.adapters.locks import FileLocks
from vacmcpd.datadir import DataDirectory
from vacmcpd.errors import BuildCode, Cancelled, Locked
from vacmcpd.ports.locks import Holder, Locks
from vacmcpd.testing.locks import MemoryLocks

Pair = tuple[Locks, Locks]


def unheard(lock: str, holder: Holder | None) -> None:
    raise AssertionError(f"nobody should wait for {lock}, held by {holder}")


def ignored(lock: str, holder: Holder | None) -> None:
    del lock, holder


@pytest.fixture(params=["memory", "files"])
def pair(request: pytest.FixtureRequest, data: DataDirectory) -> Pair:
    """The same locks, as two parties have them in hand."""
    if request.param == "files":
        return FileLocks(data), FileLocks(data)
    shared = MemoryLocks()
    return shared, shared


def test_a_guard_says_what_it_holds(pair: Pair) -> None:
    locks, _ = pair
    with locks.server("serve", "127.0.0.1:1") as guard:
        assert guard.lock == "server"
    with locks.changing("context create") as guard:
        assert guard.lock == "server"
    with locks.repository("a", "repo sync", 0, unheard) as guard:
        assert guard.lock == "repository a"
    with locks.store("a", "context create", 0, unheard) as guard:
        assert guard.lock == "store a"
    with locks.build("b", "context create") as guard:
        assert guard.lock == "build b"


def test_a_second_server_is_refused_and_told_who_runs(pair: Pair) -> None:
    one, other = pair
    with one.server("serve --managed", "127.0.0.1:8080"):
        with pytest.raises(Locked) as caught, other.server("serve", ""):
            pass
        assert caught.value.code is BuildCode.LOCKED
        assert caught.value.details["lock"] == "server"
        assert str(caught.value.details["pid"]) in caught.value.message
        assert "serve --managed" in caught.value.message
    with other.server("serve", ""):
        pass


def test_a_server_and_a_changing_command_exclude_each_other(pair: Pair) -> None:
    one, other = pair
    with (
        one.server("serve", ""),
        pytest.raises(Locked, match="stop it, run the command"),
        other.changing("context x"),
    ):
        pass
    with (
        one.changing("context create"),
        pytest.raises(Locked, match="context create"),
        other.server("serve", ""),
    ):
        pass


def test_changing_commands_share_the_directory(pair: Pair) -> None:
    one, other = pair
    with one.changing("context create"), other.changing("context remove"):
        assert one.server_holder() is None
    with one.server("serve", ""):
        pass


def test_the_server_is_known_to_others_while_it_runs(pair: Pair) -> None:
    one, other = pair
    assert other.server_holder() is None
    with one.server("serve", "127.0.0.1:8080"):
        holder = other.server_holder()
        assert holder is not None
        assert (holder.verb, holder.address) == ("serve", "127.0.0.1:8080")
    assert other.server_holder() is None


Take = Callable[[Locks, float], object]
WAITING = {
    "repository": lambda locks, name, timeout, on_wait, cancel: locks.repository(
        name, "repo sync", timeout, on_wait, cancel
    ),
    "store": lambda locks, name, timeout, on_wait, cancel: locks.store(
        name, "context create", timeout, on_wait, cancel
    ),
}


@pytest.fixture(params=sorted(WAITING))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_taken_lock_is_waited_for_and_its_holder_told_once(pair: Pair, kind: str) -> None:
    one, other = pair
    told: list[tuple[str, Holder | None]] = []
    got = threading.Event()

    def wait() -> None:
        def on_wait(lock: str, holder: Holder | None) -> None:
            told.append((lock, holder))
            waiting.set()

        with WAITING[kind](other, "a", 10, on_wait, None):
            got.set()

    waiting = threading.Event()
    thread = threading.Thread(target=wait)
    with WAITING[kind](one, "a", 0, unheard, None):
        thread.start()
        assert waiting.wait(10)
        assert not got.is_set()
    assert got.wait(10)
    thread.join()
    assert len(told) == 1
    lock, holder = told[0]
    assert lock == f"{kind} a"
    assert holder is not None
    assert holder.verb in {"repo sync", "context create"}


def test_a_wait_ends_within_its_timeout_naming_the_holder(pair: Pair, kind: str) -> None:
    one, other = pair
    with WAITING[kind](one, "a", 0, unheard, None):
        began = time.monotonic()
        with pytest.raises(Locked) as caught, WAITING[kind](other, "a", 0.2, ignored, None):
            pass
        assert time.monotonic() - began >= 0.2
        assert caught.value.details["lock"] == f"{kind} a"
        assert isinstance(caught.value.details["pid"], int)


def test_no_time_to_wait_means_no_wait(pair: Pair, kind: str) -> None:
    one, other = pair
    with (
        WAITING[kind](one, "a", 0, unheard, None),
        pytest.raises(Locked),
        WAITING[kind](other, "a", 0, unheard, None),
    ):
        pass


def test_a_wait_can_be_cancelled(pair: Pair, kind: str) -> None:
    one, other = pair
    cancel = threading.Event()

    def on_wait(lock: str, holder: Holder | None) -> None:
        del lock, holder
        cancel.set()

    with (
        WAITING[kind](one, "a", 0, unheard, None),
        pytest.raises(Cancelled),
        WAITING[kind](other, "a", 60, on_wait, cancel),
    ):
        pass


def test_locks_of_different_names_and_kinds_do_not_meet(pair: Pair) -> None:
    one, other = pair
    with (
        one.repository("a", "x", 0, unheard),
        other.repository("b", "x", 0, unheard),
        other.store("a", "x", 0, unheard),
        other.build("a", "x"),
        other.changing("x"),
    ):
        pass


def test_names_that_differ_in_case_alone_are_one_lock(pair: Pair) -> None:
    one, other = pair
    with (
        one.repository("Flask", "x", 0, unheard),
        pytest.raises(Locked),
        other.repository("flask", "x", 0, unheard),
    ):
        pass
    with one.build("Ctx", "x"):
        assert not other.build_is_dead("ctx")


def test_the_same_thread_does_not_get_a_lock_twice(pair: Pair) -> None:
    locks, _ = pair
    with (
        locks.repository("a", "x", 0, unheard),
        pytest.raises(Locked),
        locks.repository("a", "x", 0, unheard),
    ):
        pass


def test_a_build_is_dead_exactly_when_its_lock_can_be_taken(pair: Pair) -> None:
    one, other = pair
    assert other.build_is_dead("b")
    with one.build("b", "context create"):
        assert not other.build_is_dead("b")
        with pytest.raises(Locked, match="context create"), other.build("b", "context retry"):
            pass
    assert other.build_is_dead("b")
    with other.build("b", "context retry"):
        pass


def test_an_exception_gives_every_lock_back(pair: Pair) -> None:
    one, other = pair
    for take in (
        lambda: one.server("x", ""),
        lambda: one.changing("x"),
        lambda: one.repository("a", "x", 0, unheard),
        lambda: one.store("a", "x", 0, unheard),
        lambda: one.build("a", "x"),
    ):
        with pytest.raises(KeyError), take():
            raise KeyError
    with (
        other.server("x", ""),
        other.repository("a", "x", 0, unheard),
        other.store("a", "x", 0, unheard),
        other.build("a", "x"),
    ):
        pass


def test_many_threads_get_one_lock_one_after_the_other(pair: Pair) -> None:
    inside = 0
    most = 0
    done = 0

    def work(locks: Locks) -> None:
        nonlocal inside, most, done
        with locks.repository("a", "x", 60, ignored):
            inside += 1
            most = max(most, inside)
            time.sleep(0.002)
            inside -= 1
            done += 1

    threads = [threading.Thread(target=work, args=(pair[number % 2],)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, done) == (1, 8)
