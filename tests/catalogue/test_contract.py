"""What every catalogue promises, held against SQLite and memory alike."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from threading import Barrier, Thread

import pytest

from vacmcpd.errors import BuildCode, IllegalTransition, LifecycleError
from vacmcpd.model import BuildState, ContextState, Member, MemberCoverage, Step, StepOutcome
from vacmcpd.ports.artifacts import StoredFile
from vacmcpd.ports.builders import StoreState
from vacmcpd.ports.catalogue import BuildRecord, BuiltMember, Catalogue, ContextRecord
from vacmcpd.testing.catalogue import built_whole

A, B, C = "a" * 40, "b" * 40, "c" * 40
NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def later(seconds: int) -> datetime:
    return NOON + timedelta(seconds=seconds)


def add(catalogue: Catalogue, *names: str) -> None:
    for name in names:
        catalogue.add_repository(name, f"https://example.org/{name}.git", NOON)


def pinned(catalogue: Catalogue, context: str = "v1", *members: Member) -> ContextRecord:
    return catalogue.create_context(context, members or (Member("demo", "main", A),), NOON)


def building(catalogue: Catalogue, context: str = "v1") -> BuildRecord:
    add(catalogue, "demo")
    pinned(catalogue, context)
    return catalogue.begin_build(context, "me", False, later(1))


def publish(
    catalogue: Catalogue, build: BuildRecord, built: Sequence[BuiltMember] = ()
) -> ContextRecord:
    whole = built or built_whole(catalogue.context(build.context))
    return catalogue.publish(build.id, whole, (), later(2))


def ready(catalogue: Catalogue, context: str = "v1") -> ContextRecord:
    return publish(catalogue, building(catalogue, context))


# ---- repositories ----------------------------------------------------------------------------


def test_a_repository_comes_back_as_it_was_added(catalogue: Catalogue) -> None:
    added = catalogue.add_repository("Demo", "https://example.org/demo.git", NOON)
    assert added.name == "Demo"
    assert added.url == "https://example.org/demo.git"
    assert (added.created_at, added.last_sync_at, added.last_sync_error) == (NOON, None, None)
    assert catalogue.repository("dEMO") == added
    assert list(catalogue.repositories()) == [added]


def test_repositories_are_listed_in_byte_order(catalogue: Catalogue) -> None:
    add(catalogue, "b", "a", "B2", "a-1", "Z")
    assert [each.name for each in catalogue.repositories()] == ["B2", "Z", "a", "a-1", "b"]


@pytest.mark.parametrize("taken", ["demo", "DEMO"])
def test_two_repositories_do_not_differ_in_case_alone(catalogue: Catalogue, taken: str) -> None:
    add(catalogue, "demo")
    with pytest.raises(LifecycleError, match='a repository "demo"') as failure:
        add(catalogue, taken)
    assert failure.value.code is BuildCode.INVALID_ARGUMENT
    assert failure.value.details == {"repository": "demo"}
    assert len(catalogue.repositories()) == 1


@pytest.mark.parametrize(
    "name",
    [
        "nothing",
        "",
        "demo\0",
        "\udcff",
        "' OR 1=1 --",
        "%",
        "de_o",
        "dem\N{KELVIN SIGN}o",
        "d" * 999,
    ],
)
def test_an_unknown_or_hostile_name_is_not_found(catalogue: Catalogue, name: str) -> None:
    add(catalogue, "demo", "demko")
    with pytest.raises(LifecycleError) as failure:
        catalogue.repository(name)
    assert failure.value.code is BuildCode.REPOSITORY_NOT_FOUND
    failure.value.message.encode("utf-8")
    with pytest.raises(LifecycleError) as failure:
        catalogue.context(name)
    assert failure.value.code is BuildCode.CONTEXT_NOT_FOUND


def test_no_letter_but_ascii_is_folded_into_a_name(catalogue: Catalogue) -> None:
    add(catalogue, "kelvin")
    with pytest.raises(LifecycleError):
        catalogue.repository("\N{KELVIN SIGN}elvin")


@pytest.mark.parametrize("name", ["../x", "a b", "", "x.git", "é", "\N{KELVIN SIGN}"])
def test_what_may_not_be_a_name_is_not_recorded(catalogue: Catalogue, name: str) -> None:
    add(catalogue, "demo")
    with pytest.raises(LifecycleError) as failure:
        catalogue.add_repository(name, "https://example.org/x.git", NOON)
    assert failure.value.code is BuildCode.INVALID_ARGUMENT
    with pytest.raises(LifecycleError) as failure:
        catalogue.create_context(name, (Member("demo", "main", A),), NOON)
    assert failure.value.code is BuildCode.INVALID_ARGUMENT
    assert not catalogue.contexts()


def test_a_failed_sync_keeps_the_time_of_the_last_good_one(catalogue: Catalogue) -> None:
    add(catalogue, "demo")
    assert catalogue.record_sync("demo", later(1), None).last_sync_at == later(1)
    failed = catalogue.record_sync("DEMO", later(2), "AUTH_FAILED: no key")
    assert (failed.last_sync_at, failed.last_sync_error) == (later(1), "AUTH_FAILED: no key")
    again = catalogue.record_sync("demo", later(3), None)
    assert (again.last_sync_at, again.last_sync_error) == (later(3), None)
    assert catalogue.repository("demo") == again


def test_a_repository_that_contexts_name_stays(catalogue: Catalogue) -> None:
    add(catalogue, "demo", "other")
    pinned(catalogue, "v2")
    pinned(catalogue, "v1", Member("other", "main", B), Member("demo", "v1", A))
    assert list(catalogue.contexts_of("Demo")) == ["v1", "v2"]
    with pytest.raises(LifecycleError, match="v1, v2") as failure:
        catalogue.remove_repository("demo")
    assert failure.value.code is BuildCode.INVALID_ARGUMENT
    assert failure.value.details == {"repository": "demo", "contexts": ["v1", "v2"]}
    assert catalogue.repository("demo").name == "demo"


def test_a_context_under_removal_still_holds_its_repository(catalogue: Catalogue) -> None:
    ready(catalogue)
    catalogue.mark_removing("v1", later(3))
    assert list(catalogue.contexts_of("demo")) == ["v1"]
    with pytest.raises(LifecycleError):
        catalogue.remove_repository("demo")
    catalogue.delete_context("v1")
    catalogue.remove_repository("demo")
    assert not catalogue.repositories()


def test_a_removed_repository_leaves_no_store_behind(catalogue: Catalogue) -> None:
    add(catalogue, "demo")
    catalogue.claim_store("demo", "search")
    catalogue.claim_store("demo", "search")
    catalogue.remove_repository("DEMO")
    add(catalogue, "demo")
    assert catalogue.claim_store("demo", "search").claim == 1


# ---- contexts --------------------------------------------------------------------------------


def test_a_context_is_born_pending_with_its_pins_in_order(catalogue: Catalogue) -> None:
    add(catalogue, "Demo", "alpha")
    members = (Member("demo", "release/v1", A), Member("alpha", "refs/tags/v1", "d" * 64))
    created = catalogue.create_context("V1", members, NOON)
    assert created == ContextRecord(
        id="V1",
        state=ContextState.PENDING,
        generation=0,
        members=(Member("Demo", "release/v1", A), Member("alpha", "refs/tags/v1", "d" * 64)),
        created_at=NOON,
        updated_at=NOON,
        removing_since=None,
        failure_code=None,
        failure_message=None,
    )
    assert catalogue.context("v1") == created
    assert list(catalogue.contexts()) == [created]
    assert catalogue.last_build("v1") is None


def test_contexts_are_listed_in_byte_order(catalogue: Catalogue) -> None:
    add(catalogue, "demo")
    for name in ("v10", "v2", "V3", "v1"):
        pinned(catalogue, name)
    assert [each.id for each in catalogue.contexts()] == ["V3", "v1", "v10", "v2"]


@pytest.mark.parametrize("taken", ["v1", "V1"])
def test_two_contexts_do_not_differ_in_case_alone(catalogue: Catalogue, taken: str) -> None:
    add(catalogue, "demo")
    pinned(catalogue)
    with pytest.raises(LifecycleError) as failure:
        pinned(catalogue, taken)
    assert failure.value.code is BuildCode.INVALID_ARGUMENT
    assert failure.value.details == {"context": "v1"}
    assert len(catalogue.contexts()) == 1


def test_a_context_of_an_unknown_repository_is_not_recorded(catalogue: Catalogue) -> None:
    add(catalogue, "demo")
    with pytest.raises(LifecycleError) as failure:
        pinned(catalogue, "v1", Member("demo", "main", A), Member("gone", "main", B))
    assert failure.value.code is BuildCode.REPOSITORY_NOT_FOUND
    assert not catalogue.contexts()


@pytest.mark.parametrize(
    "members",
    [
        (),
        (Member("demo", "main", A), Member("DEMO", "v2", B)),
        (Member("demo", "main", "abc123"),),
        (Member("demo", "main", ""),),
    ],
)
def test_a_context_without_full_pins_is_not_recorded(
    catalogue: Catalogue, members: tuple[Member, ...]
) -> None:
    add(catalogue, "demo")
    with pytest.raises(LifecycleError) as failure:
        catalogue.create_context("v1", members, NOON)
    assert failure.value.code is BuildCode.INVALID_ARGUMENT
    assert not catalogue.contexts()


def test_times_of_other_zones_come_back_in_utc(catalogue: Catalogue) -> None:
    add(catalogue, "demo")
    there = NOON.astimezone(timezone(timedelta(hours=5, minutes=45)))
    synced = catalogue.record_sync("demo", there, None).last_sync_at
    assert synced == NOON
    assert synced is not None
    assert synced.tzinfo is UTC


# ---- builds ----------------------------------------------------------------------------------


def test_a_build_begins_once_and_counts_a_generation(catalogue: Catalogue) -> None:
    build = building(catalogue)
    assert build == replace(
        build,
        context="v1",
        generation=1,
        rebuild=False,
        state=BuildState.RUNNING,
        owner="me",
        created_at=later(1),
        started_at=later(1),
        ended_at=None,
        failure_code=None,
        steps=(),
    )
    context = catalogue.context("v1")
    assert (context.state, context.generation) == (ContextState.BUILDING, 1)
    assert context.updated_at == later(1)
    assert catalogue.build(build.id) == catalogue.last_build("V1") == build
    assert list(catalogue.running_builds()) == [build]
    with pytest.raises(IllegalTransition):
        catalogue.begin_build("v1", "you", False, later(2))


def test_steps_are_kept_with_times_counts_outcome_and_message(catalogue: Catalogue) -> None:
    build = building(catalogue)
    first = catalogue.start_step(build.id, Step.RESOLVE, "DEMO", later(1))
    (open_step,) = catalogue.build(build.id).steps
    assert (open_step.ended_at, open_step.outcome) == (None, None)
    catalogue.finish_step(first, StepOutcome.DONE, {"files": 3, "bytes": 9}, "as asked", later(2))
    second = catalogue.start_step(build.id, Step.CLONE, "demo", later(3))
    catalogue.finish_step(second, StepOutcome.SKIPPED, {}, "the clone is whole", later(4))
    found = catalogue.last_build("v1")
    assert found is not None
    assert [
        (step.id, step.step, step.repository, step.started_at, step.ended_at)
        for step in found.steps
    ] == [
        (first, Step.RESOLVE, "demo", later(1), later(2)),
        (second, Step.CLONE, "demo", later(3), later(4)),
    ]
    assert [(step.outcome, dict(step.counts), step.message) for step in found.steps] == [
        (StepOutcome.DONE, {"files": 3, "bytes": 9}, "as asked"),
        (StepOutcome.SKIPPED, {}, "the clone is whole"),
    ]


def test_a_step_may_run_twice(catalogue: Catalogue) -> None:
    build = building(catalogue)
    for second in (1, 2):
        step = catalogue.start_step(build.id, Step.SEARCH, "demo", later(second))
        catalogue.finish_step(step, StepOutcome.DONE, {}, "", later(second))
    assert len(catalogue.build(build.id).steps) == 2


def test_a_step_is_of_a_member_of_a_running_build(catalogue: Catalogue) -> None:
    build = building(catalogue)
    add(catalogue, "stranger")
    for repository in ("stranger", "gone"):
        with pytest.raises(LifecycleError) as failure:
            catalogue.start_step(build.id, Step.SEARCH, repository, NOON)
        assert failure.value.code is BuildCode.REPOSITORY_NOT_FOUND
    publish(catalogue, build)
    with pytest.raises(IllegalTransition, match="lost its turn"):
        catalogue.start_step(build.id, Step.SEARCH, "demo", NOON)


def test_what_an_ended_step_says_is_not_changed(catalogue: Catalogue) -> None:
    build = building(catalogue)
    step = catalogue.start_step(build.id, Step.SEARCH, "demo", later(1))
    catalogue.fail_build(build.id, BuildState.INTERRUPTED, "INTERRUPTED", "died", later(2))
    before = catalogue.build(build.id)
    with pytest.raises(IllegalTransition):
        catalogue.finish_step(step, StepOutcome.DONE, {"files": 1}, "done", later(3))
    assert catalogue.build(build.id) == before


@pytest.mark.parametrize("unknown", ["", "nothing", "\udcff", "x" * 999])
def test_a_build_that_is_not_on_record_is_not_found(catalogue: Catalogue, unknown: str) -> None:
    add(catalogue, "demo")
    asks = (
        lambda: catalogue.build(unknown),
        lambda: catalogue.start_step(unknown, Step.SEARCH, "demo", NOON),
        lambda: catalogue.publish(unknown, (), (), NOON),
        lambda: catalogue.fail_build(unknown, BuildState.FAILED, "TIMEOUT", "", NOON),
        lambda: catalogue.finish_step(99, StepOutcome.DONE, {}, "", NOON),
    )
    for ask in asks:
        with pytest.raises(LifecycleError) as failure:
            ask()
        assert failure.value.code is BuildCode.CONTEXT_NOT_FOUND


def test_publishing_makes_a_context_ready_with_artifacts_and_coverage(catalogue: Catalogue) -> None:
    add(catalogue, "demo", "alpha")
    pinned(catalogue, "v1", Member("demo", "main", A), Member("alpha", "main", B))
    build = catalogue.begin_build("v1", "me", False, later(1))
    one, two = built_whole(catalogue.context("v1"))
    one = replace(one, coverage=MemberCoverage("demo", A, 9, 6, {"too_large": 1, "binary": 2}))
    published = catalogue.publish(build.id, (two, one), (), later(2))
    assert published.state is ContextState.READY
    assert published.updated_at == later(2)
    assert published.members == (
        Member("demo", "main", A, one.search, one.graph),
        Member("alpha", "main", B, two.search, two.graph),
    )
    assert published.coverage == (one.coverage, two.coverage)
    assert catalogue.context("v1") == published
    ended = catalogue.build(build.id)
    assert (ended.state, ended.ended_at) == (BuildState.SUCCEEDED, later(2))
    assert not catalogue.running_builds()


@pytest.mark.parametrize("spoil", ["missing", "twice", "stranger", "search", "graph", "coverage"])
def test_what_is_not_of_every_pin_is_not_published(catalogue: Catalogue, spoil: str) -> None:
    build = building(catalogue)
    (whole,) = built_whole(catalogue.context("v1"))
    spoiled: dict[str, tuple[BuiltMember, ...]] = {
        "missing": (),
        "twice": (whole, whole),
        "stranger": (whole, replace(whole, repository="stranger")),
        "search": (replace(whole, search=replace(whole.search, revision=B)),),
        "graph": (replace(whole, graph=replace(whole.graph, revision=B)),),
        "coverage": (replace(whole, coverage=replace(whole.coverage, files=4)),),
    }
    before = catalogue.context("v1"), catalogue.build(build.id)
    with pytest.raises(LifecycleError):
        catalogue.publish(build.id, spoiled[spoil], (), later(2))
    assert (catalogue.context("v1"), catalogue.build(build.id)) == before


def test_a_failed_build_keeps_code_reason_and_closes_its_open_steps(catalogue: Catalogue) -> None:
    build = building(catalogue)
    done = catalogue.start_step(build.id, Step.RESOLVE, "demo", later(1))
    catalogue.finish_step(done, StepOutcome.DONE, {}, "fine", later(2))
    catalogue.start_step(build.id, Step.SEARCH, "demo", later(3))
    reason = "git said: fatal: \udcff – no"
    failed = catalogue.fail_build(build.id, BuildState.FAILED, "NO_SPACE", reason, later(4))
    kept = "git said: fatal: \\udcff – no"
    assert failed.state is ContextState.FAILED
    assert (failed.failure_code, failed.failure_message) == ("NO_SPACE", kept)
    assert catalogue.context("v1") == failed
    ended = catalogue.build(build.id)
    assert (ended.state, ended.ended_at) == (BuildState.FAILED, later(4))
    assert (ended.failure_code, ended.failure_message) == ("NO_SPACE", kept)
    assert [(step.outcome, step.message, step.ended_at) for step in ended.steps] == [
        (StepOutcome.DONE, "fine", later(2)),
        (StepOutcome.FAILED, kept, later(4)),
    ]


def test_an_interrupted_build_says_so_in_its_steps(catalogue: Catalogue) -> None:
    build = building(catalogue)
    catalogue.start_step(build.id, Step.CLONE, "demo", later(1))
    catalogue.fail_build(build.id, BuildState.INTERRUPTED, "INTERRUPTED", "died", later(2))
    ended = catalogue.build(build.id)
    assert ended.state is BuildState.INTERRUPTED
    assert [step.outcome for step in ended.steps] == [StepOutcome.INTERRUPTED]


def test_a_build_that_has_ended_is_left_as_it_is(catalogue: Catalogue) -> None:
    build = building(catalogue)
    published = publish(catalogue, build)
    ended = catalogue.build(build.id)
    late = catalogue.fail_build(build.id, BuildState.INTERRUPTED, "INTERRUPTED", "died", later(9))
    assert late == published
    assert catalogue.build(build.id) == ended


@pytest.mark.parametrize("state", [BuildState.QUEUED, BuildState.RUNNING, BuildState.SUCCEEDED])
def test_a_build_fails_only_by_failing(catalogue: Catalogue, state: BuildState) -> None:
    build = building(catalogue)
    with pytest.raises(LifecycleError) as failure:
        catalogue.fail_build(build.id, state, "TIMEOUT", "slow", later(2))
    assert failure.value.code is BuildCode.INVALID_ARGUMENT
    assert catalogue.build(build.id) == build


def test_a_retry_forgets_the_failure_and_keeps_the_pin(catalogue: Catalogue) -> None:
    build = building(catalogue)
    catalogue.fail_build(build.id, BuildState.FAILED, "TIMEOUT", "slow", later(2))
    queued = catalogue.requeue("V1", later(3))
    assert (queued.state, queued.generation, queued.updated_at) == (
        ContextState.PENDING,
        1,
        later(3),
    )
    assert (queued.failure_code, queued.failure_message) == (None, None)
    assert queued.members == (Member("demo", "main", A),)
    again = catalogue.begin_build("v1", "me", False, later(4))
    assert again.generation == 2
    assert again.id != build.id
    assert publish(catalogue, again).state is ContextState.READY
    assert catalogue.last_build("v1") == catalogue.build(again.id)
    assert catalogue.build(build.id).failure_code == "TIMEOUT"


def test_a_context_whose_creator_died_fails_without_a_build(catalogue: Catalogue) -> None:
    add(catalogue, "demo")
    pinned(catalogue)
    failed = catalogue.fail_unbuilt("v1", "INTERRUPTED", "its creator died", later(1))
    assert (failed.state, failed.failure_code) == (ContextState.FAILED, "INTERRUPTED")
    assert failed.failure_message == "its creator died"
    assert catalogue.requeue("v1", later(2)).state is ContextState.PENDING


# ---- rebuilds --------------------------------------------------------------------------------


def test_a_rebuild_leaves_the_old_served_until_it_is_published(catalogue: Catalogue) -> None:
    old = ready(catalogue)
    build = catalogue.begin_build("v1", "me", True, later(3))
    assert (build.rebuild, build.generation) == (True, 2)
    beside = catalogue.context("v1")
    assert (beside.state, beside.members, beside.coverage) == (
        ContextState.READY,
        old.members,
        old.coverage,
    )
    (whole,) = built_whole(beside, files=7)
    newer = replace(whole, search=replace(whole.search, engine="index", engine_version="2"))
    published = catalogue.publish(build.id, (newer,), (), later(4))
    assert published.state is ContextState.READY
    assert published.members == (Member("demo", "main", A, newer.search, newer.graph),)
    assert published.coverage == (newer.coverage,)
    assert catalogue.build(build.id).state is BuildState.SUCCEEDED


def test_a_failed_rebuild_leaves_the_context_ready(catalogue: Catalogue) -> None:
    old = ready(catalogue)
    build = catalogue.begin_build("v1", "me", True, later(3))
    after = catalogue.fail_build(build.id, BuildState.FAILED, "TIMEOUT", "slow", later(4))
    assert after == replace(old, generation=2, updated_at=later(3))
    assert catalogue.build(build.id).failure_code == "TIMEOUT"


def test_of_two_rebuilds_the_second_waits_for_the_first_to_end(catalogue: Catalogue) -> None:
    ready(catalogue)
    build = catalogue.begin_build("v1", "me", True, later(3))
    with pytest.raises(IllegalTransition, match="another build of it runs"):
        catalogue.begin_build("v1", "you", True, later(3))
    catalogue.fail_build(build.id, BuildState.INTERRUPTED, "INTERRUPTED", "died", later(4))
    assert catalogue.begin_build("v1", "you", True, later(5)).generation == 3


# ---- the fence -------------------------------------------------------------------------------


def test_a_claim_is_the_next_number_of_its_own_store(catalogue: Catalogue) -> None:
    add(catalogue, "demo", "alpha")
    assert catalogue.claim_store("DEMO", "search").repository == "demo"
    second = catalogue.claim_store("demo", "search")
    assert (second.claim, second.generation) == (2, 0)
    assert catalogue.claim_store("demo", "graph").claim == 1
    assert catalogue.claim_store("alpha", "search").claim == 1
    with pytest.raises(LifecycleError) as failure:
        catalogue.claim_store("gone", "search")
    assert failure.value.code is BuildCode.REPOSITORY_NOT_FOUND


def test_publishing_advances_each_store_that_was_claimed(catalogue: Catalogue) -> None:
    build = building(catalogue)
    claims = [catalogue.claim_store("demo", kind) for kind in ("search", "graph")]
    catalogue.publish(build.id, built_whole(catalogue.context("v1")), claims, later(2))
    assert catalogue.claim_store("demo", "search").generation == 1
    assert catalogue.claim_store("demo", "graph").generation == 1
    assert catalogue.claim_store("demo", "other").generation == 0


def test_a_builder_whose_store_was_claimed_since_publishes_nothing(catalogue: Catalogue) -> None:
    build = building(catalogue)
    mine = [catalogue.claim_store("demo", kind) for kind in ("search", "graph")]
    newer = catalogue.claim_store("demo", "graph")
    before = catalogue.context("v1"), catalogue.build(build.id)
    with pytest.raises(IllegalTransition, match="lost its turn"):
        catalogue.publish(build.id, built_whole(before[0]), mine, later(2))
    assert (catalogue.context("v1"), catalogue.build(build.id)) == before
    # The search store, whose claim still was the newest, did not advance either.
    assert catalogue.claim_store("demo", "search").generation == 0
    assert newer.generation == 0


def test_a_claim_publishes_once(catalogue: Catalogue) -> None:
    build = building(catalogue)
    claim = catalogue.claim_store("demo", "search")
    catalogue.publish(build.id, built_whole(catalogue.context("v1")), [claim], later(2))
    again = catalogue.begin_build("v1", "me", True, later(3))
    with pytest.raises(IllegalTransition):
        catalogue.publish(again.id, built_whole(catalogue.context("v1")), [claim], later(4))


def test_a_claim_that_nobody_took_publishes_nothing(catalogue: Catalogue) -> None:
    build = building(catalogue)
    forged = replace(catalogue.claim_store("demo", "search"), kind="graph")
    with pytest.raises(IllegalTransition):
        catalogue.publish(build.id, built_whole(catalogue.context("v1")), [forged], later(2))
    assert catalogue.context("v1").state is ContextState.BUILDING


def test_a_builder_that_was_given_up_publishes_nothing(catalogue: Catalogue) -> None:
    lost = building(catalogue)
    claim = catalogue.claim_store("demo", "search")
    catalogue.fail_build(lost.id, BuildState.INTERRUPTED, "INTERRUPTED", "died", later(2))
    catalogue.requeue("v1", later(3))
    winner = catalogue.begin_build("v1", "you", False, later(4))
    before = catalogue.context("v1")
    with pytest.raises(IllegalTransition):
        catalogue.publish(lost.id, built_whole(before), [claim], later(5))
    assert catalogue.context("v1") == before
    assert publish(catalogue, winner).state is ContextState.READY
    with pytest.raises(IllegalTransition):
        catalogue.publish(lost.id, built_whole(before), (), later(6))


# ---- the files of stores -----------------------------------------------------------------------


def stored(*contents: str) -> tuple[StoredFile, ...]:
    return tuple(
        StoredFile(f"role.{text}", hashlib.sha256(text.encode()).hexdigest(), len(text))
        for text in contents
    )


def digests(*contents: str) -> set[str]:
    return {file.digest for file in stored(*contents)}


def with_files(
    catalogue: Catalogue, build: BuildRecord, *contents: str, kinds: Sequence[str] = ("search",)
) -> ContextRecord:
    claims = [catalogue.claim_store("demo", kind) for kind in kinds]
    (made,) = built_whole(catalogue.context(build.context))
    return catalogue.publish(
        build.id, [replace(made, search_files=stored(*contents))], claims, later(2)
    )


def test_a_store_that_nobody_built_is_empty(catalogue: Catalogue) -> None:
    add(catalogue, "demo")
    assert catalogue.store_state("demo", "search", "embedded", "1") == StoreState()
    catalogue.claim_store("demo", "search")
    assert catalogue.store_files("DEMO", "search") == ()
    assert catalogue.named_files("demo") == catalogue.named_files("gone") == frozenset()
    for ask in (
        lambda: catalogue.store_state("gone", "search", "embedded", "1"),
        lambda: catalogue.store_files("gone", "search"),
    ):
        with pytest.raises(LifecycleError) as failure:
            ask()
        assert failure.value.code is BuildCode.REPOSITORY_NOT_FOUND


def test_a_publication_replaces_the_files_of_its_store_in_their_order(
    catalogue: Catalogue,
) -> None:
    with_files(catalogue, building(catalogue), "c", "a", "b")
    assert catalogue.store_files("Demo", "search") == stored("c", "a", "b")
    assert catalogue.store_files("demo", "graph") == ()
    again = catalogue.begin_build("v1", "me", True, later(3))
    with_files(catalogue, again, "b", "d", "b")
    assert catalogue.store_files("demo", "search") == stored("b", "d", "b")
    assert catalogue.named_files("DEMO") == digests("b", "d")
    assert catalogue.claim_store("demo", "search").generation == 2
    third = catalogue.begin_build("v1", "me", True, later(4))
    with_files(catalogue, third)
    assert catalogue.store_files("demo", "search") == ()


def test_a_file_of_any_size_comes_back_as_it_was(catalogue: Catalogue) -> None:
    build = building(catalogue)
    (made,) = built_whole(catalogue.context("v1"))
    files = (StoredFile("é" * 100, "0" * 64, 2**40), StoredFile("", "f" * 64, 0))
    claim = catalogue.claim_store("demo", "search")
    catalogue.publish(build.id, [replace(made, search_files=files)], [claim], later(2))
    assert catalogue.store_files("demo", "search") == files


def test_a_publication_without_files_leaves_them(catalogue: Catalogue) -> None:
    with_files(catalogue, building(catalogue), "a")
    again = catalogue.begin_build("v1", "me", True, later(3))
    claim = catalogue.claim_store("demo", "search")
    catalogue.publish(again.id, built_whole(catalogue.context("v1")), [claim], later(4))
    assert catalogue.store_files("demo", "search") == stored("a")


def test_a_builder_that_lost_changes_no_file(catalogue: Catalogue) -> None:
    with_files(catalogue, building(catalogue), "a")
    again = catalogue.begin_build("v1", "me", True, later(3))
    (made,) = built_whole(catalogue.context("v1"))
    mine = catalogue.claim_store("demo", "search")
    catalogue.claim_store("demo", "search")
    newer = replace(made, search_files=stored("b"))
    with pytest.raises(IllegalTransition, match="lost its turn"):
        catalogue.publish(again.id, [newer], [mine], later(4))
    assert catalogue.store_files("demo", "search") == stored("a")


@pytest.mark.parametrize("kinds", [(), ("graph",)])
def test_files_of_a_store_that_was_not_claimed_are_not_published(
    catalogue: Catalogue, kinds: tuple[str, ...]
) -> None:
    build = building(catalogue)
    with pytest.raises(IllegalTransition, match="lost its turn"):
        with_files(catalogue, build, "a", kinds=kinds)
    assert catalogue.store_files("demo", "search") == ()
    assert catalogue.context("v1").state is ContextState.BUILDING


def test_a_publication_replaces_the_files_of_both_stores(catalogue: Catalogue) -> None:
    build = building(catalogue)
    (made,) = built_whole(catalogue.context("v1"))
    claims = [catalogue.claim_store("demo", kind) for kind in ("search", "graph")]
    both = replace(made, search_files=stored("a"), graph_files=stored("g", "h"))
    catalogue.publish(build.id, [both], claims, later(2))
    assert catalogue.store_files("demo", "search") == stored("a")
    assert catalogue.store_files("demo", "graph") == stored("g", "h")
    named = {file.digest for file in stored("a", "g", "h")}
    assert catalogue.named_files("demo") == named
    again = catalogue.begin_build("v1", "me", True, later(3))
    claims = [catalogue.claim_store("demo", kind) for kind in ("search", "graph")]
    catalogue.publish(again.id, [replace(made, graph_files=())], claims, later(4))
    assert catalogue.store_files("demo", "search") == stored("a")
    assert catalogue.store_files("demo", "graph") == ()


def test_a_graph_without_its_claim_publishes_neither_store(catalogue: Catalogue) -> None:
    build = building(catalogue)
    (made,) = built_whole(catalogue.context("v1"))
    claim = catalogue.claim_store("demo", "search")
    both = replace(made, search_files=stored("a"), graph_files=stored("g"))
    with pytest.raises(IllegalTransition, match="lost its turn"):
        catalogue.publish(build.id, [both], [claim], later(2))
    assert catalogue.named_files("demo") == frozenset()
    assert catalogue.context("v1").state is ContextState.BUILDING


def test_a_store_is_published_without_a_build_by_its_newest_claim(catalogue: Catalogue) -> None:
    add(catalogue, "demo")
    old = catalogue.claim_store("demo", "search")
    claim = catalogue.claim_store("demo", "search")
    with pytest.raises(LifecycleError, match="took over") as failure:
        catalogue.publish_store(old, stored("x"))
    assert failure.value.code is BuildCode.INTERRUPTED
    assert catalogue.store_files("demo", "search") == ()
    catalogue.publish_store(claim, stored("a", "b"))
    assert catalogue.store_files("demo", "search") == stored("a", "b")
    with pytest.raises(LifecycleError):
        catalogue.publish_store(claim, stored("x"))
    graph = catalogue.claim_store("demo", "graph")
    catalogue.publish_store(graph, stored("c"))
    assert catalogue.named_files("demo") == digests("a", "b", "c")
    catalogue.remove_repository("demo")
    assert catalogue.named_files("demo") == frozenset()
    add(catalogue, "demo")
    assert catalogue.store_state("demo", "search", "embedded", "1") == StoreState()


def test_live_are_the_keys_of_one_engine_in_contexts_that_stay(catalogue: Catalogue) -> None:
    add(catalogue, "demo", "other")
    for name, key, engine in (("a", "t1", "e"), ("b", "t2", "e"), ("c", "t3", "old")):
        pinned(catalogue, name, Member("demo", "main", A), Member("other", "main", B))
        build = catalogue.begin_build(name, "me", False, later(1))
        made = [
            replace(
                each, search=replace(each.search, engine=engine, key=f"{key} {each.repository}")
            )
            for each in built_whole(catalogue.context(name))
        ]
        catalogue.publish(build.id, made, (), later(2))
    pinned(catalogue, "unbuilt")

    def live(repository: str, kind: str, engine: str, version: str) -> set[str]:
        return set(catalogue.store_state(repository, kind, engine, version).live)

    assert live("DEMO", "search", "e", "1") == {"t1 demo", "t2 demo"}
    assert live("other", "search", "old", "1") == {"t3 other"}
    assert live("demo", "search", "e", "2") == set()
    assert live("demo", "graph", "e", "1") == set()
    assert live("demo", "graph", "none", "0") == {""}
    assert live("demo", "else", "e", "1") == set()
    catalogue.mark_removing("a", later(3))
    assert live("demo", "search", "e", "1") == {"t2 demo"}
    rebuild = catalogue.begin_build("b", "me", True, later(4))
    catalogue.fail_build(rebuild.id, BuildState.FAILED, "NO_SPACE", "full", later(5))
    assert live("demo", "search", "e", "1") == {"t2 demo"}


def test_a_build_publishes_once(catalogue: Catalogue) -> None:
    build = building(catalogue)
    published = publish(catalogue, build)
    with pytest.raises(IllegalTransition):
        publish(catalogue, build)
    assert catalogue.context("v1") == published


def test_of_sixteen_claimers_one_wins(catalogue: Catalogue) -> None:
    add(catalogue, "demo")
    pinned(catalogue)
    start = Barrier(16)
    won: list[str] = []
    refused: list[LifecycleError] = []

    def claim(owner: str) -> None:
        start.wait()
        try:
            won.append(catalogue.begin_build("v1", owner, False, later(1)).owner)
        except LifecycleError as error:
            refused.append(error)

    threads = [Thread(target=claim, args=(f"claimer {number}",)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert [type(error) for error in refused] == [IllegalTransition] * 15
    assert [build.owner for build in catalogue.running_builds()] == won
    assert catalogue.context("v1").generation == 1


# ---- removal ---------------------------------------------------------------------------------


def test_removal_is_marked_beside_the_state_and_once(catalogue: Catalogue) -> None:
    ready(catalogue)
    marked = catalogue.mark_removing("V1", later(3))
    assert (marked.state, marked.removing_since) == (ContextState.READY, later(3))
    assert marked.shown_state == "REMOVING"
    assert catalogue.mark_removing("v1", later(9)) == marked


def test_a_context_that_is_not_marked_is_not_deleted(catalogue: Catalogue) -> None:
    kept = ready(catalogue)
    with pytest.raises(IllegalTransition):
        catalogue.delete_context("v1")
    assert catalogue.context("v1") == kept


def test_deleting_takes_builds_and_steps_along(catalogue: Catalogue) -> None:
    build = building(catalogue)
    step = catalogue.start_step(build.id, Step.CLONE, "demo", later(1))
    catalogue.mark_removing("v1", later(2))
    catalogue.delete_context("V1")
    assert not catalogue.contexts()
    assert not catalogue.running_builds()
    for ask in (
        lambda: catalogue.context("v1"),
        lambda: catalogue.last_build("v1"),
        lambda: catalogue.build(build.id),
        lambda: catalogue.finish_step(step, StepOutcome.DONE, {}, "", later(3)),
        lambda: catalogue.delete_context("v1"),
    ):
        with pytest.raises(LifecycleError) as failure:
            ask()
        assert failure.value.code is BuildCode.CONTEXT_NOT_FOUND
    assert pinned(catalogue).generation == 0


def test_only_removal_goes_on_under_removal(catalogue: Catalogue) -> None:
    build = building(catalogue)
    marked = catalogue.mark_removing("v1", later(2))
    for move in (
        lambda: catalogue.begin_build("v1", "me", False, later(3)),
        lambda: catalogue.begin_build("v1", "me", True, later(3)),
        lambda: catalogue.requeue("v1", later(3)),
        lambda: catalogue.fail_unbuilt("v1", "INTERRUPTED", "died", later(3)),
        lambda: catalogue.publish(build.id, built_whole(marked), (), later(3)),
    ):
        with pytest.raises(IllegalTransition, match="REMOVING"):
            move()
    assert catalogue.context("v1") == marked


def test_a_build_can_be_ended_under_removal(catalogue: Catalogue) -> None:
    build = building(catalogue)
    catalogue.mark_removing("v1", later(2))
    failed = catalogue.fail_build(build.id, BuildState.INTERRUPTED, "INTERRUPTED", "x", later(3))
    assert (failed.state, failed.removing_since) == (ContextState.FAILED, later(2))
    assert not catalogue.running_builds()


# ---- the whole -------------------------------------------------------------------------------


def test_all_pairs_of_states_move_as_the_table_says_and_not_otherwise(
    catalogue: Catalogue,
) -> None:
    """Every public move is tried in every state; what the table lacks changes nothing."""
    legal = {
        ("PENDING", "build"): "BUILDING",
        ("PENDING", "fail_unbuilt"): "FAILED",
        ("BUILDING", "publish"): "READY",
        ("BUILDING", "fail_build"): "FAILED",
        ("FAILED", "requeue"): "PENDING",
        ("READY", "rebuild"): "READY",
    }
    add(catalogue, "demo")
    for state in ContextState:
        for verb in ("build", "rebuild", "publish", "fail_build", "fail_unbuilt", "requeue"):
            name = f"{state}-{verb}"
            build = brought_to(catalogue, name, state)
            before = catalogue.context(name)
            assert before.state is state
            wanted = legal.get((state.value, verb))
            if wanted is None:
                refused_or_ignored(catalogue, name, verb, build)
                assert catalogue.context(name) == before
            else:
                make(catalogue, name, verb, build)
                assert catalogue.context(name).state == wanted


def brought_to(catalogue: Catalogue, name: str, state: ContextState) -> str:
    pinned(catalogue, name)
    if state is ContextState.PENDING:
        return "none"
    build = catalogue.begin_build(name, "me", False, later(1))
    if state is ContextState.READY:
        publish(catalogue, build)
    if state is ContextState.FAILED:
        catalogue.fail_build(build.id, BuildState.FAILED, "TIMEOUT", "slow", later(2))
    return build.id


def make(catalogue: Catalogue, name: str, verb: str, build: str) -> None:
    if verb in {"build", "rebuild"}:
        catalogue.begin_build(name, "me", verb == "rebuild", later(3))
    elif verb == "publish":
        catalogue.publish(build, built_whole(catalogue.context(name)), (), later(3))
    elif verb == "fail_build":
        catalogue.fail_build(build, BuildState.FAILED, "TIMEOUT", "slow", later(3))
    elif verb == "fail_unbuilt":
        catalogue.fail_unbuilt(name, "INTERRUPTED", "died", later(3))
    else:
        catalogue.requeue(name, later(3))


def refused_or_ignored(catalogue: Catalogue, name: str, verb: str, build: str) -> None:
    if verb == "fail_build" and build != "none":
        make(catalogue, name, verb, build)
        return
    with pytest.raises(LifecycleError):
        make(catalogue, name, verb, build)


def test_a_sound_catalogue_has_no_findings_and_a_revision(catalogue: Catalogue) -> None:
    ready(catalogue)
    assert list(catalogue.integrity()) == []
    assert catalogue.revision()


def test_closing_is_idempotent_and_final(catalogue: Catalogue) -> None:
    add(catalogue, "demo")
    catalogue.close()
    catalogue.close()
    for ask in (catalogue.contexts, lambda: add(catalogue, "other")):
        with pytest.raises(LifecycleError, match="closed"):
            ask()
