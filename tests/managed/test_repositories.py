from typing import Any

import pytest

from vacmcpd.errors import BuildCode, Cancelled, LifecycleError, Locked

World = Any


class Flag:
    def __init__(self, on: bool = True) -> None:
        self.on = on

    def is_set(self) -> bool:
        return self.on


def test_an_added_repository_is_ready_with_its_branches_and_tags(world: World) -> None:
    remote = world.remote("flask")
    remote.commit("dev")
    status = world.repositories.add("flask", remote.url, activity=world.activity())
    assert (status.name, status.url, status.state) == ("flask", remote.url, "READY")
    assert (status.branches, status.tags, status.contexts) == (2, 1, ())
    assert status.last_sync_error is None
    assert world.repositories.list() == [status]
    assert world.repositories.status("FLASK") == status


@pytest.mark.parametrize(
    ("name", "url"), [("a/b", "/x"), ("con", "/x"), ("ok", "ext::sh -c x"), ("ok", "http://h/x")]
)
def test_a_bad_name_or_url_is_refused_before_anything_exists(
    world: World, name: str, url: str
) -> None:
    with pytest.raises(LifecycleError) as caught:
        world.repositories.add(name, url, activity=world.activity())
    assert caught.value.code is BuildCode.INVALID_ARGUMENT
    assert world.repositories.list() == []
    assert not list(world.data.repositories.glob("*"))


def test_a_failed_add_leaves_no_row_and_no_folder(world: World) -> None:
    with pytest.raises(LifecycleError):
        world.repositories.add(
            "gone", str(world.data.root.parent / "nothing"), activity=world.activity()
        )
    assert world.repositories.list() == []
    assert not list(world.data.repositories.glob("*"))
    world.added("gone")


def test_a_cancelled_add_leaves_nothing(world: World) -> None:
    remote = world.remote("flask")
    with pytest.raises(Cancelled):
        world.repositories.add("flask", remote.url, activity=world.activity(Flag()))
    assert world.repositories.list() == []
    assert not list(world.data.repositories.glob("*"))


def test_a_full_disk_fails_an_add_with_no_space_and_leaves_nothing(world: World) -> None:
    remote = world.remote("flask")

    def full() -> None:
        raise OSError(28, "No space left on device")

    world.faults.at["add.clone.after"] = full
    with pytest.raises(LifecycleError) as caught:
        world.repositories.add("flask", remote.url, activity=world.activity())
    assert caught.value.code is BuildCode.NO_SPACE
    assert not world.store.healthy("flask")
    assert world.repositories.list() == []


@pytest.mark.parametrize("name", ["flask", "Flask"])
def test_a_name_is_given_once_whatever_its_case(world: World, name: str) -> None:
    remote = world.added("flask")
    with pytest.raises(LifecycleError, match='"flask" exists') as caught:
        world.repositories.add(name, remote.url, activity=world.activity())
    assert caught.value.code is BuildCode.INVALID_ARGUMENT
    assert world.store.healthy("flask")


def test_an_add_looks_again_once_it_has_the_lock(world: World) -> None:
    remote = world.remote("flask")
    taken = world.locks.repository

    def slow(*arguments: Any) -> Any:
        world.locks.repository = taken
        world.repositories.add("flask", remote.url, activity=world.activity())
        return taken(*arguments)

    world.locks.repository = slow
    with pytest.raises(LifecycleError, match="exists"):
        world.repositories.add("flask", remote.url, activity=world.activity())
    assert world.store.healthy("flask")


def test_sync_brings_new_commits_moved_tags_and_deleted_branches(world: World) -> None:
    remote = world.remote("flask")
    remote.commit("dev")
    world.repositories.add("flask", remote.url, activity=world.activity())
    newest = remote.commit()
    remote.tag("v1", newest)
    remote.delete_branch("dev")
    status = world.repositories.sync("flask", activity=world.activity())
    assert (status.state, status.branches, status.tags) == ("READY", 1, 1)
    assert status.last_sync_at is not None
    assert world.store.resolve("flask", "main").revision == newest
    assert world.store.resolve("flask", "v1").revision == newest


def test_a_failed_sync_is_recorded_and_the_clone_stays_usable(world: World) -> None:
    remote = world.added("flask")
    world.repositories.sync("flask", activity=world.activity())
    before = world.repositories.status("flask")
    remote.vanish()
    with pytest.raises(LifecycleError) as caught:
        world.repositories.sync("flask", activity=world.activity())
    status = world.repositories.status("flask")
    assert status.state == "FAILED"
    assert status.last_sync_error == str(caught.value)
    assert status.last_sync_at == before.last_sync_at
    record = world.contexts.create("c", [("flask", "main")], activity=world.activity())
    assert record.state == "READY"


def test_a_sync_that_works_forgets_the_failure(world: World) -> None:
    world.added("flask")

    def full() -> None:
        raise OSError(28, "No space left on device")

    world.faults.at["sync.fetch.before"] = full
    with pytest.raises(LifecycleError) as caught:
        world.repositories.sync("flask", activity=world.activity())
    assert caught.value.code is BuildCode.NO_SPACE
    assert "NO_SPACE" in world.repositories.status("flask").last_sync_error
    assert world.repositories.sync("flask", activity=world.activity()).last_sync_error is None


def test_a_cancelled_sync_leaves_the_record_as_it_was(world: World) -> None:
    world.added("flask")
    before = world.repositories.status("flask")
    with pytest.raises(Cancelled):
        world.repositories.sync("flask", activity=world.activity(Flag()))
    assert world.repositories.status("flask") == before


def test_sync_makes_a_damaged_clone_again_with_the_pins_kept(world: World) -> None:
    world.added("flask")
    record = world.contexts.create("c", [("flask", "v1")], activity=world.activity())
    world.damage("flask")
    assert world.repositories.status("flask").state == "FAILED"
    assert world.repositories.sync("flask", activity=world.activity()).state == "READY"
    assert record.members[0].revision in world.kept("flask")
    world.contexts.verify("c")


def test_sync_all_goes_on_after_a_failure(world: World) -> None:
    world.added("a").vanish()
    world.added("b")
    outcomes = dict(world.repositories.sync_all(activity=world.activity()))
    assert isinstance(outcomes["a"], LifecycleError)
    assert outcomes["b"].state == "READY"


def test_sync_all_stops_when_it_is_cancelled(world: World) -> None:
    world.added("a")
    world.added("b")
    with pytest.raises(Cancelled):
        world.repositories.sync_all(activity=world.activity(Flag()))


def test_a_removed_repository_leaves_nothing(world: World) -> None:
    world.added("flask")
    world.repositories.remove("Flask", activity=world.activity())
    assert world.repositories.list() == []
    assert not list(world.data.repositories.glob("*"))
    world.added("flask2")


def test_a_repository_that_contexts_hold_is_not_removed(world: World) -> None:
    world.added("flask")
    for name in ("one", "two"):
        world.contexts.create(name, [("flask", "main")], activity=world.activity())
    with pytest.raises(LifecycleError) as caught:
        world.repositories.remove("flask", activity=world.activity())
    assert caught.value.code is BuildCode.INVALID_ARGUMENT
    assert sorted(caught.value.details["contexts"]) == ["one", "two"]
    assert world.repositories.status("flask").contexts == ("one", "two")
    world.contexts.verify("one")


@pytest.mark.parametrize("verb", ["status", "sync", "remove"])
def test_an_unknown_repository_is_not_found(world: World, verb: str) -> None:
    arguments = {} if verb == "status" else {"activity": world.activity()}
    with pytest.raises(LifecycleError) as caught:
        getattr(world.repositories, verb)("nothing", **arguments)
    assert caught.value.code is BuildCode.REPOSITORY_NOT_FOUND


def test_only_removal_is_refused_while_a_server_runs(world: World) -> None:
    world.added("flask")
    with world.locks.server("serve", "127.0.0.1:1"):
        world.added("other")
        world.repositories.sync("flask", activity=world.activity())
        assert len(world.repositories.list()) == 2
        with pytest.raises(Locked):
            world.repositories.remove("flask", activity=world.activity())
    assert world.store.healthy("flask")


def test_a_command_waits_its_turn_says_for_whom_and_gives_up_in_time(world: World) -> None:
    world.added("flask")
    world.wire(lock_timeout=0.2)
    with (
        world.locks.repository("flask", "repo sync", 0, lambda *_: None),
        pytest.raises(Locked) as caught,
    ):
        world.repositories.sync("flask", activity=world.activity())
    assert caught.value.details["verb"] == "repo sync"
    assert [lock for lock, _ in world.waits] == ["repository flask"]
    assert world.waits[0][1].verb == "repo sync"
    assert world.repositories.status("flask").last_sync_error is None
