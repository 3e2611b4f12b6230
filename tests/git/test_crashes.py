"""``kill -9`` at every point and inside git: the next command finds a whole clone or none."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

World = Any
Upstream = Any
GitServer = Any

PROGRAM = Path(__file__).with_name("killed.py")


def start(world: World, operation: str, argument: str, point: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(world.data.root), operation, argument, point],
        stderr=subprocess.DEVNULL,
    )


def kill_at(world: World, operation: str, argument: str, point: str) -> None:
    process = start(world, operation, argument, point)
    assert process.wait(60) == -signal.SIGKILL


def running(needle: str) -> list[int]:
    """The processes whose command line names ``needle``, zombies left out."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,stat=,args="], capture_output=True, check=True, text=True
    )
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    return [int(row[0]) for row in rows if needle in row[2] and not row[1].startswith("Z")]


def wait_until_gone(needle: str) -> None:
    deadline = time.monotonic() + 30
    while running(needle):
        assert time.monotonic() < deadline, f"still running: {needle}"
        time.sleep(0.02)


def only_the_clone(world: World) -> bool:
    return [each.name for each in world.data.repositories.iterdir()] == ["one.git"]


@pytest.mark.parametrize("point", ["clone.initialised", "clone.fetched", "clone.renamed"])
def test_a_clone_killed_at_any_point_is_made_whole_by_the_next(
    world: World, upstream: Upstream, point: str
) -> None:
    head = upstream.commit()
    kill_at(world, "clone", upstream.url, point)
    # Renamed is whole; before that there is none, however far it had come.
    assert world.store.healthy("one") is (point == "clone.renamed")
    world.clone(upstream)
    assert world.store.healthy("one")
    assert world.store.resolve("one", "main").revision == head
    assert only_the_clone(world)


@pytest.mark.parametrize("point", ["clone.displaced", "clone.renamed"])
def test_a_replacement_killed_at_any_point_is_made_whole_by_the_next(
    world: World, upstream: Upstream, point: str
) -> None:
    head = upstream.commit()
    git_dir = world.clone(upstream)
    (git_dir / "HEAD").unlink()
    kill_at(world, "clone", upstream.url, point)
    world.clone(upstream)
    assert world.store.resolve("one", "main").revision == head
    assert only_the_clone(world)


def test_a_removal_killed_half_way_is_finished_by_the_next(
    world: World, upstream: Upstream
) -> None:
    upstream.commit()
    world.clone(upstream)
    kill_at(world, "remove", "", "remove.renamed")
    assert not world.store.healthy("one")
    world.store.remove("one")
    assert list(world.data.repositories.iterdir()) == []


@pytest.mark.parametrize(("operation", "point"), [("keep", "written"), ("unkeep", "deleted")])
def test_a_keep_ref_survives_what_happens_after_it(
    world: World, upstream: Upstream, operation: str, point: str
) -> None:
    head = upstream.commit()
    world.clone(upstream)
    if operation == "unkeep":
        world.store.keep("one", head)
    kill_at(world, operation, head, f"keep.{point}")
    assert world.store.kept("one") == ({head} if operation == "keep" else frozenset())
    world.store.keep("one", head)
    assert world.store.kept("one") == {head}


def test_a_fetch_killed_after_git_has_ended_is_complete(world: World, upstream: Upstream) -> None:
    upstream.commit()
    world.clone(upstream)
    head = upstream.commit()
    kill_at(world, "fetch", upstream.url, "fetch.fetched")
    assert world.store.resolve("one", "main").revision == head
    world.fetch(upstream)


def test_a_clone_killed_inside_git_leaves_no_clone_and_the_next_is_whole(
    world: World, upstream: Upstream, server: GitServer
) -> None:
    head = upstream.commit()
    server.mode = "stall"
    process = start(world, "clone", server.url(), "-")
    assert server.asked.wait(60)
    process.kill()
    process.wait()
    assert not world.store.healthy("one")
    world.clone(upstream)
    assert world.store.resolve("one", "main").revision == head
    assert only_the_clone(world)
    server.close()
    wait_until_gone(server.url())
    assert only_the_clone(world)


def test_a_git_that_outlives_a_killed_fetch_is_ended_by_the_next_writer(
    world: World, upstream: Upstream, server: GitServer
) -> None:
    head = upstream.commit()
    world.clone(upstream)
    server.mode = "stall"
    process = start(world, "fetch", server.url(), "-")
    assert server.asked.wait(60)
    process.kill()
    process.wait()
    # Its git still waits for the server and would write whenever that answers.
    assert running(server.url())
    world.store.keep("one", head)
    wait_until_gone(server.url())
    upstream.commit()
    world.fetch(upstream)
    assert world.store.healthy("one")
    assert world.store.kept("one") == {head}


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05])
def test_a_fetch_killed_at_random_breaks_nothing(
    world: World, upstream: Upstream, delay: float
) -> None:
    head = upstream.commit()
    world.clone(upstream)
    world.store.keep("one", head)
    for number in range(40):
        upstream.git("update-ref", f"refs/heads/b{number}", head)
    newest = upstream.commit({"big": bytes(range(256)) * 4000})
    process = start(world, "fetch", upstream.url, "-")
    deadline = time.monotonic() + 60
    while not running(f"--git-dir={world.data.repository('one')}") and process.poll() is None:
        assert time.monotonic() < deadline
    time.sleep(delay)
    process.kill()
    process.wait()
    assert world.store.kept("one") == {head}
    world.fetch(upstream)
    assert world.store.resolve("one", "main").revision == newest
    assert world.store.count("one").branches == 41
    assert world.store.healthy("one")
    assert not list(world.data.repository("one").rglob("tmp_*"))
