"""The files of a repository's store: after every command as many as the catalogue names."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from vacmcpd.errors import BuildCode, LifecycleError, VacmcpError
from vacmcpd.managed.engines import Builders, label_of
from vacmcpd.model import ArtifactKind, ContextState
from vacmcpd.ports.artifacts import StoredFile

World = Any


def create(world: World, name: str = "c", ref: str = "main") -> Any:
    return world.contexts.create(name, [("flask", ref)], activity=world.activity())


def named(world: World) -> frozenset[str]:
    found: frozenset[str] = world.catalogue.named_files("flask")
    return found


def files(world: World) -> dict[str, StoredFile]:
    return {file.role: file for file in world.catalogue.store_files("flask", "search")}


def consistent(world: World) -> None:
    assert world.on_disk("flask") == named(world)
    for record in world.contexts.list():
        if record.shown_state == ContextState.READY:
            world.contexts.verify(record.id)


def manifests(world: World) -> set[str]:
    """The trees that there is a file of their own for."""
    return {role.removeprefix("manifest.") for role in files(world) if role.startswith("manifest.")}


def trees(*records: Any) -> set[str]:
    return {record.members[0].search.key for record in records}


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def broken(*_: object) -> None:
    raise LifecycleError(BuildCode.SOURCE_MISMATCH, "not of the pinned commit")


def lose(world: World, file: StoredFile) -> None:
    if world.real:
        (world.data.store("flask") / file.digest).unlink()
    else:
        world.artifacts.lose("flask", file)


def with_scan(world: World) -> None:
    """Let contexts be built as before there was an index."""
    world.builders = Builders(ArtifactKind.SEARCH, world.scan, (world.search,))
    world.wire()


def with_index(world: World) -> None:
    world.builders = Builders(ArtifactKind.SEARCH, world.search, (world.scan,))
    world.wire()


# ---- builds ----------------------------------------------------------------------------------


def test_a_build_publishes_its_files_and_leaves_none_that_it_replaced(world: World) -> None:
    world.added("flask")
    first = create(world, "a", "v1")
    assert manifests(world) == trees(first)
    assert files(world).keys() > {f"manifest.{tree}" for tree in trees(first)}
    consistent(world)
    second = create(world, "b")
    assert manifests(world) == trees(first, second)
    consistent(world)


def test_versions_of_one_tree_share_its_files(world: World) -> None:
    world.added("flask")
    create(world, "a")
    before = files(world)
    create(world, "b")
    assert files(world) == before
    consistent(world)


def test_each_repository_of_a_context_has_its_own_store(world: World) -> None:
    world.added("flask")
    world.added("redis")
    pairs = [("flask", "main"), ("redis", "v1")]
    world.contexts.create("c", pairs, activity=world.activity())
    consistent(world)
    assert world.on_disk("redis") == world.catalogue.named_files("redis") != frozenset()
    world.contexts.remove("c", activity=world.activity())
    assert world.on_disk("redis") == world.on_disk("flask") == frozenset()


@pytest.mark.parametrize("failure", [broken, stop])
@pytest.mark.parametrize("rebuild", [True, False])
def test_a_build_that_fails_after_it_wrote_leaves_what_was_there(
    world: World, failure: Callable[..., None], rebuild: bool
) -> None:
    world.added("flask")
    record = create(world, "a", "v1")
    before = files(world)
    world.search.on_built = failure

    def rebuilt() -> None:
        world.contexts.rebuild("a", activity=world.activity())

    attempt = rebuilt if rebuild else partial(create, world, "b")
    with pytest.raises((VacmcpError, KeyboardInterrupt)):
        attempt()
    assert files(world) == before
    assert world.contexts.list()[0].members == record.members
    consistent(world)


def test_a_builder_whose_claim_was_overtaken_throws_its_files_away(world: World) -> None:
    world.added("flask")
    create(world, "a", "v1")
    before = files(world)
    world.faults.at["build.publish.before"] = lambda: world.catalogue.claim_store("flask", "search")
    with pytest.raises(VacmcpError):
        create(world, "b")
    assert files(world) == before
    consistent(world)


def test_a_failed_first_build_leaves_no_file_at_all(world: World) -> None:
    world.added("flask")
    world.search.on_verify = broken
    with pytest.raises(LifecycleError):
        create(world)
    assert world.on_disk("flask") == frozenset()
    world.search.on_verify = None
    world.contexts.retry("c", activity=world.activity())
    consistent(world)


def test_what_was_built_is_verified_with_its_files_before_it_is_published(world: World) -> None:
    world.added("flask")

    def spoil(_: object) -> None:
        if not world.real:
            for digest in world.on_disk("flask"):
                world.artifacts.flip_bit("flask", StoredFile("", digest, 0))
            return
        for path in world.data.store("flask").iterdir():
            path.write_bytes(b"x" * path.stat().st_size)

    world.search.on_built = spoil
    with pytest.raises(LifecycleError) as caught:
        create(world)
    assert caught.value.code is BuildCode.ARTIFACT_MISSING
    assert world.contexts.list()[0].state is ContextState.FAILED
    assert world.on_disk("flask") == frozenset()


def test_a_sweep_that_fails_fails_no_build(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world.added("flask")

    def refuse(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(world.artifacts, "sweep", refuse)
    with caplog.at_level(logging.ERROR):
        assert create(world).state is ContextState.READY
    assert [record.message for record in caplog.records] == ["store_not_swept"]


def test_a_lost_file_is_found_and_a_rebuild_mends_it(world: World) -> None:
    world.added("flask")
    create(world, "a", "v1")
    create(world, "b")
    lose(world, files(world)["segment.0"])
    with pytest.raises(LifecycleError) as caught:
        world.contexts.verify("a")
    assert caught.value.code is BuildCode.ARTIFACT_MISSING
    assert "vacmcp context rebuild" in caught.value.message
    before = [record.members for record in world.contexts.list()]
    outcomes = dict(world.contexts.rebuild_all(activity=world.activity()))
    assert [outcomes[name].shown_state for name in ("a", "b")] == ["READY", "READY"]
    consistent(world)
    assert [record.members for record in world.contexts.list()] == before


def test_a_verification_beside_a_publication_looks_again(world: World) -> None:
    """It holds no lock: what it reads may be replaced and swept meanwhile."""
    world.added("flask")
    create(world, "a", "v1")

    def publish(_: object) -> None:
        world.search.on_verify = None
        create(world, "b")

    world.search.on_verify = publish
    world.contexts.verify("a")
    consistent(world)


# ---- removals --------------------------------------------------------------------------------


def test_a_removal_frees_what_nothing_else_needs(world: World) -> None:
    world.added("flask")
    first, second = create(world, "a", "v1"), create(world, "b")
    create(world, "c")
    world.contexts.remove("c", activity=world.activity())
    assert manifests(world) == trees(first, second)
    world.contexts.remove("b", activity=world.activity())
    assert manifests(world) == trees(first)
    consistent(world)
    world.contexts.remove("a", activity=world.activity())
    assert files(world) == {}
    assert world.on_disk("flask") == frozenset()


def test_a_removal_waits_for_the_build_that_holds_the_store_and_changes_nothing(
    world: World,
) -> None:
    world.added("flask")
    create(world)
    world.wire(lock_timeout=0.1)
    with (
        world.locks.store("flask", "context create", 0, lambda *_: None),
        pytest.raises(LifecycleError) as caught,
    ):
        world.contexts.remove("c", activity=world.activity())
    assert caught.value.code is BuildCode.LOCKED
    assert world.contexts.list()[0].shown_state == "READY"
    consistent(world)


def test_a_removal_that_cannot_prune_still_removes(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.added("flask")
    create(world, "a", "v1")
    create(world, "b")

    def full(_: str) -> None:
        raise LifecycleError(BuildCode.NO_SPACE, "no space left")

    world.search.on_prune = full
    with caplog.at_level(logging.ERROR):
        world.contexts.remove("b", activity=world.activity())
    assert "store_not_pruned" in {record.message for record in caplog.records}
    assert [record.id for record in world.contexts.list()] == ["a"]
    consistent(world)
    world.search.on_prune = None
    world.contexts.remove("a", activity=world.activity())
    assert world.on_disk("flask") == frozenset()


@pytest.mark.parametrize(
    "point", ["store.prune.before", "store.prune.worked", "store.prune.after", "store.sweep.before"]
)
def test_a_removal_that_is_cut_off_while_it_frees_is_finished_by_the_next(
    world: World, point: str
) -> None:
    world.added("flask")
    create(world, "a", "v1")
    create(world, "b")
    world.faults.at[point] = stop
    with pytest.raises(KeyboardInterrupt):
        world.contexts.remove("b", activity=world.activity())
    assert {record.id: record.shown_state for record in world.contexts.list()} == {
        "a": "READY",
        "b": "REMOVING",
    }
    world.contexts.verify("a")
    world.contexts.remove("b", activity=world.activity())
    consistent(world)


def test_removing_a_context_that_was_never_built_leaves_the_store(world: World) -> None:
    world.added("flask")
    create(world, "a", "v1")
    before = files(world)
    world.search.on_build = broken
    with pytest.raises(LifecycleError):
        create(world, "b")
    world.search.on_build = None
    world.contexts.remove("b", activity=world.activity())
    assert files(world) == before
    consistent(world)


def test_removing_a_repository_removes_its_store(real: World) -> None:
    real.added("flask")
    create(real)
    real.contexts.remove("c", activity=real.activity())
    assert real.data.store("flask").is_dir()
    real.repositories.remove("flask", activity=real.activity())
    assert not real.data.store("flask").exists()


# ---- recovery --------------------------------------------------------------------------------


def test_recovery_sweeps_what_no_generation_names(real: World) -> None:
    real.added("flask")
    create(real)
    real.artifacts.put("flask", "left", [b"left by a builder that died"])
    (real.data.store("flask") / ".tmp-0011223344556677").write_bytes(b"half")
    assert real.on_disk("flask") > named(real)
    real.recover()
    consistent(real)


def test_recovery_leaves_a_store_alone_where_somebody_is_at_work(real: World) -> None:
    real.added("flask")
    create(real)
    real.artifacts.put("flask", "new", [b"being built"])
    real.artifacts.put("gone", "new", [b"of no repository"])
    before = real.on_disk("flask")
    with (
        real.locks.store("flask", "context create", 0, lambda *_: None),
        real.locks.store("gone", "repo remove", 0, lambda *_: None),
    ):
        real.recover()
        assert real.waits == []
    assert real.on_disk("flask") == before
    assert real.data.store("gone").is_dir()
    real.recover()
    consistent(real)


def test_recovery_removes_the_stores_of_no_repository_and_no_strangers(real: World) -> None:
    real.added("flask")
    create(real)
    real.artifacts.put("gone", "file", [b"x"])
    (real.data.stores / "not a name").mkdir()
    real.recover()
    assert sorted(path.name for path in real.data.stores.iterdir()) == ["flask", "not a name"]
    consistent(real)


def test_recovery_takes_no_lock_where_nothing_is_left(
    real: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    real.added("flask")
    create(real)

    def taken(*_: object) -> None:
        raise AssertionError("a lock was taken")

    monkeypatch.setattr(real.locks, "store", taken)
    real.recover()


def test_adding_a_repository_removes_what_an_earlier_one_left(real: World) -> None:
    real.remote("flask")
    real.artifacts.put("flask", "file", [b"x"])
    url = str(real.data.root.parent / "remotes" / "flask")
    real.repositories.add("flask", url, activity=real.activity())
    assert not real.data.store("flask").exists()


# ---- engines ---------------------------------------------------------------------------------


def test_contexts_of_an_older_engine_stay_and_are_verified_by_it(world: World) -> None:
    world.added("flask")
    with_scan(world)
    old = create(world, "old", "v1")
    assert old.members[0].search.label == "scan/1"
    assert world.on_disk("flask") == frozenset()
    with_index(world)
    assert world.contexts.verify("old") == old
    new = create(world, "new")
    assert new.members[0].search.label == label_of(world.search)
    assert world.contexts.verify("old") == old
    assert manifests(world) == trees(new)
    world.contexts.remove("old", activity=world.activity())
    consistent(world)


def test_rebuild_all_moves_contexts_to_the_default_engine_at_their_pins(world: World) -> None:
    world.added("flask")
    with_scan(world)
    before = [create(world, "a", "v1"), create(world, "b")]
    with_index(world)
    outcomes = dict(world.contexts.rebuild_all(activity=world.activity()))
    assert {record.shown_state for record in outcomes.values()} == {"READY"}
    for old in before:
        (new,), (was,) = outcomes[old.id].members, old.members
        assert (new.repository, new.branch, new.revision) == (
            was.repository,
            was.branch,
            was.revision,
        )
        assert new.search.key == was.search.key
        assert new.search.label == label_of(world.search)
    consistent(world)


def test_an_artifact_of_an_unknown_engine_is_missing_and_names_the_repair(world: World) -> None:
    world.added("flask")
    create(world)
    world.builders = Builders(ArtifactKind.SEARCH, world.scan)
    world.wire()
    with pytest.raises(LifecycleError) as caught:
        world.contexts.verify("c")
    assert caught.value.code is BuildCode.ARTIFACT_MISSING
    assert label_of(world.search) in caught.value.message
    assert "vacmcp context rebuild c" in caught.value.message
    rebuilt = world.contexts.rebuild("c", activity=world.activity())
    assert rebuilt.members[0].search.label == "scan/1"
    world.contexts.verify("c")
