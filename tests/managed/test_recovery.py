from datetime import UTC, datetime
from typing import Any

import pytest

from vacmcpd.errors import LifecycleError
from vacmcpd.model import BuildState, ContextState, Member, Step, StepOutcome

World = Any
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def pin(world: World, ref: str = "main") -> Member:
    return Member("flask", ref, world.store.resolve("flask", ref).revision)


def abandoned(world: World, name: str = "c", step: Step | None = Step.SEARCH) -> Any:
    """A build whose process died in a step."""
    world.catalogue.create_context(name, [pin(world)], NOW)
    build = world.catalogue.begin_build(name, "pid 1", False, NOW)
    if step is not None:
        world.catalogue.start_step(build.id, step, "flask", NOW)
    return build


def test_nothing_interrupted_is_nothing_to_recover(world: World) -> None:
    assert world.recover() == ()
    world.added("flask")
    record = world.contexts.create("c", [("flask", "main")], activity=world.activity())
    assert world.recover() == ()
    assert world.contexts.list() == [record]


def test_a_build_without_its_builder_is_interrupted_in_the_step_it_died_in(world: World) -> None:
    world.added("flask")
    abandoned(world)
    assert world.recover() == ("c",)
    status = world.contexts.status("c")
    assert (status.record.state, status.record.failure_code) == (ContextState.FAILED, "INTERRUPTED")
    assert 'in SEARCH of "flask"' in status.record.failure_message
    assert "vacmcp context retry c" in status.record.failure_message
    assert status.last_build.state is BuildState.INTERRUPTED
    assert status.last_build.steps[-1].outcome is StepOutcome.INTERRUPTED
    assert world.recover() == ()
    assert world.contexts.retry("c", activity=world.activity()).state is ContextState.READY


def test_a_build_that_died_between_steps_says_after_which(world: World) -> None:
    world.added("flask")
    build = abandoned(world, step=None)
    step = world.catalogue.start_step(build.id, Step.RESOLVE, "flask", NOW)
    world.catalogue.finish_step(step, StepOutcome.DONE, {}, "", NOW)
    world.recover()
    assert "after RESOLVE" in world.contexts.status("c").record.failure_message


def test_a_context_whose_build_never_began_is_interrupted(world: World) -> None:
    world.added("flask")
    world.catalogue.create_context("c", [pin(world)], NOW)
    assert world.recover() == ("c",)
    record = world.contexts.status("c").record
    assert (record.state, record.failure_code) == (ContextState.FAILED, "INTERRUPTED")
    assert world.contexts.retry("c", activity=world.activity()).state is ContextState.READY


def test_a_rebuild_without_its_builder_leaves_the_context_served(world: World) -> None:
    world.added("flask")
    before = world.contexts.create("c", [("flask", "main")], activity=world.activity())
    build = world.catalogue.begin_build("c", "pid 1", True, NOW)
    assert world.recover() == ("c",)
    assert world.catalogue.build(build.id).state is BuildState.INTERRUPTED
    after = world.contexts.list()[0]
    assert (after.state, after.members) == (ContextState.READY, before.members)
    assert world.contexts.rebuild("c", activity=world.activity()).state is ContextState.READY


@pytest.mark.parametrize("building", [True, False])
def test_what_a_living_process_builds_is_left_alone(world: World, building: bool) -> None:
    world.added("flask")
    with world.locks.build("c", "context create"):
        if building:
            abandoned(world)
        else:
            world.catalogue.create_context("c", [pin(world)], NOW)
        assert world.recover() == ()
        assert world.contexts.list()[0].state in {ContextState.BUILDING, ContextState.PENDING}
    assert world.recover() == ("c",)


def test_recovery_in_the_middle_of_a_creation_disturbs_nothing(world: World) -> None:
    world.added("flask")
    found: list[Any] = []
    for point in ("create.row.after", "build.begin.after", "build.search.started"):
        world.faults.at[point] = lambda: found.append(world.recover())
    record = world.contexts.create("c", [("flask", "main")], activity=world.activity())
    assert record.state is ContextState.READY
    assert found == [(), (), ()]


def test_a_context_under_removal_is_left_to_its_removal(world: World) -> None:
    world.added("flask")
    world.catalogue.create_context("c", [pin(world)], NOW)
    world.catalogue.mark_removing("c", NOW)
    assert world.recover() == ()
    world.contexts.remove("c", activity=world.activity())
    assert world.contexts.list() == []


def test_several_are_found_at_once(world: World) -> None:
    world.added("flask")
    for name in ("b", "a"):
        abandoned(world, name)
    world.catalogue.create_context("c", [pin(world)], NOW)
    assert world.recover() == ("a", "b", "c")


def test_half_clones_are_swept_and_strangers_stay(real: World) -> None:
    real.added("flask")
    strangers = {"README", "notes", "con.git", ".git", ".tmp-half", ".tmp-half-xyz", "half.git.bak"}
    leftovers = {"half.git", ".tmp-half-0123456789abcdef", ".tmp-a-b-0123456789abcdef"}
    for name in strangers | leftovers:
        folder = real.data.repositories / name
        folder.mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    real.recover()
    left = {path.name for path in real.data.repositories.iterdir()}
    assert left == strangers | {"flask.git"}
    assert real.store.healthy("flask")


def test_a_clone_being_made_is_not_swept(real: World) -> None:
    real.data.repository("new").mkdir()
    with real.locks.repository("new", "repo add", 0, lambda *_: None):
        real.recover()
        assert real.data.repository("new").exists()
    real.recover()
    assert not real.data.repository("new").exists()


def test_recovery_of_a_directory_that_was_never_used_makes_nothing(world: World) -> None:
    def entries() -> set[str]:
        names = {str(path) for path in world.data.root.rglob("*")}
        return {name for name in names if not name.endswith(("-wal", "-shm"))}

    before = entries()
    world.recover()
    assert entries() == before


def test_an_interrupted_context_is_not_what_verify_accepts(world: World) -> None:
    world.added("flask")
    abandoned(world)
    world.recover()
    with pytest.raises(LifecycleError):
        world.contexts.verify("c")
