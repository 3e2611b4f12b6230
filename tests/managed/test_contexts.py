import threading
from typing import Any

import pytest

from vacmcpd.errors import BuildCode, Cancelled, LifecycleError, Locked, VacmcpError
from vacmcpd.managed.engines import label_of
from vacmcpd.model import BuildState, ContextState, Step, StepOutcome
from vacmcpd.ports.builders import Built, StoreState

World = Any


def create(
    world: World, name: str = "c", pairs: Any = (("flask", "main"),), cancel: Any = None
) -> Any:
    return world.contexts.create(name, list(pairs), activity=world.activity(cancel))


def refused(action: Any, code: BuildCode = BuildCode.INVALID_ARGUMENT) -> VacmcpError:
    with pytest.raises(VacmcpError) as caught:
        action()
    assert str(caught.value.code) == code
    return caught.value


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def broken(*_: object) -> None:
    raise LifecycleError(BuildCode.SOURCE_MISMATCH, "not of the pinned commit")


def test_a_created_context_is_ready_pinned_kept_and_shows_the_ref_asked_for(world: World) -> None:
    remote = world.added("flask")
    world.added("redis")
    record = create(world, "c", [("redis", "v1"), ("flask", "main")])
    assert (record.id, record.state, record.generation) == ("c", ContextState.READY, 1)
    assert [(member.repository, member.branch) for member in record.members] == [
        ("redis", "v1"),
        ("flask", "main"),
    ]
    for member in record.members:
        assert len(member.revision) == 40
        assert member.search.label == label_of(world.search)
        assert member.graph.label == "none/0"
        assert member.search.revision == member.graph.revision == member.revision
        assert member.search.key == world.store.tree_id(member.repository, member.revision)
        assert member.revision in world.kept(member.repository)
    assert [each.repository for each in record.coverage] == ["redis", "flask"]
    assert all(each.complete for each in record.coverage)
    assert world.contexts.list() == [record]
    assert world.contexts.verify("C") == record
    newest = remote.commit()
    world.repositories.sync("flask", activity=world.activity())
    assert create(world, "d").members[0].revision == newest
    assert world.contexts.verify("c") == record


def test_the_steps_of_a_build_are_on_record(world: World) -> None:
    world.added("flask")
    world.added("redis")
    create(world, "c", [("flask", "main"), ("redis", "main")])
    build = world.contexts.status("c").last_build
    assert build.state is BuildState.SUCCEEDED
    assert not build.rebuild
    assert [(step.step, step.repository) for step in build.steps] == [
        (step, repository) for step in Step for repository in ("flask", "redis")
    ]
    outcomes = {step.step: step.outcome for step in build.steps}
    assert outcomes == {
        Step.RESOLVE: StepOutcome.DONE,
        Step.CLONE: StepOutcome.SKIPPED,
        Step.WORKTREE: StepOutcome.SKIPPED,
        Step.SEARCH: StepOutcome.DONE,
        Step.GRAPH: StepOutcome.DONE,
        Step.VERIFY: StepOutcome.DONE,
    }
    by_step = {step.step: step for step in build.steps}
    assert by_step[Step.SEARCH].counts["files"] >= 1
    assert by_step[Step.GRAPH].message == "no call graph: the graph engine is none"
    assert all(step.ended_at >= step.started_at for step in build.steps)
    assert "SEARCH flask" in world.progress


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("a/b", [("flask", "main")]),
        ("c", []),
        ("c", [("flask", "main"), ("flask", "v1")]),
        ("c", [("flask", "main"), ("FLASK", "v1")]),
        ("c", [("flask", "  ")]),
    ],
)
def test_bad_names_and_pairs_are_refused_before_a_row_exists(
    world: World, name: str, pairs: Any
) -> None:
    world.added("flask")
    refused(lambda: create(world, name, pairs))
    assert world.contexts.list() == []


def test_a_ref_that_is_not_there_records_nothing(world: World) -> None:
    world.added("flask")
    world.added("redis")
    pairs = [("flask", "main"), ("redis", "nothing")]
    error = refused(lambda: create(world, "c", pairs), BuildCode.REVISION_NOT_FOUND)
    assert error.details["ref"] == "nothing"
    assert world.contexts.list() == []
    assert world.kept("flask") == frozenset()


def test_an_unknown_repository_records_nothing(world: World) -> None:
    refused(lambda: create(world), BuildCode.REPOSITORY_NOT_FOUND)
    assert world.contexts.list() == []


@pytest.mark.parametrize("name", ["c", "C"])
def test_a_context_never_changes(world: World, name: str) -> None:
    world.added("flask")
    create(world, "c", [("flask", "v1")])
    assert "never changes" in refused(lambda: create(world, name)).message
    assert world.contexts.list()[0].members[0].branch == "v1"


def test_creation_needs_no_network(world: World) -> None:
    world.added("flask").vanish()
    assert create(world).state is ContextState.READY


def test_two_creations_of_one_name_at_once_have_one_winner(world: World) -> None:
    world.added("flask")
    barrier = threading.Barrier(2)
    outcomes: list[Any] = []

    def race(ref: str) -> None:
        barrier.wait()
        try:
            outcomes.append(create(world, "c", [("flask", ref)]))
        except LifecycleError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=race, args=(ref,)) for ref in ("main", "v1")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    losers = [each for each in outcomes if isinstance(each, LifecycleError)]
    assert len(losers) == 1
    assert losers[0].code in {BuildCode.LOCKED, BuildCode.INVALID_ARGUMENT}
    (record,) = world.contexts.list()
    assert record.state is ContextState.READY
    assert record in outcomes


def test_two_contexts_of_one_repository_built_at_once_are_both_ready(world: World) -> None:
    world.added("flask")
    barrier = threading.Barrier(2)
    failures: list[VacmcpError] = []

    def build(name: str) -> None:
        barrier.wait()
        try:
            create(world, name)
        except VacmcpError as error:
            failures.append(error)

    threads = [threading.Thread(target=build, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [record.state for record in world.contexts.list()] == [ContextState.READY] * 2


@pytest.mark.parametrize(
    ("failure", "code"),
    [(full, BuildCode.NO_SPACE), (broken, BuildCode.SOURCE_MISMATCH)],
)
def test_a_failed_build_is_recorded_with_code_reason_and_step_and_can_be_retried(
    world: World, failure: Any, code: BuildCode
) -> None:
    remote = world.added("flask")
    world.search.on_build = failure
    error = refused(lambda: create(world), code)
    status = world.contexts.status("c")
    assert status.record.state is ContextState.FAILED
    assert status.record.failure_code == code
    assert status.record.failure_message == error.message
    assert status.repair == "vacmcp context retry c"
    last = status.last_build.steps[-1]
    assert (last.step, last.outcome) == (Step.SEARCH, StepOutcome.FAILED)
    assert last.message == error.message
    remote.commit()
    world.repositories.sync("flask", activity=world.activity())
    world.search.on_build = None
    record = world.contexts.retry("c", activity=world.activity())
    assert record.state is ContextState.READY
    assert record.generation == 2
    assert record.members[0].revision == status.record.members[0].revision
    assert record.failure_code is None


@pytest.mark.parametrize(
    "point",
    ["build.resolve.before", "build.search.started", "build.verify.worked", "build.publish.before"],
)
def test_a_cancelled_build_is_failed_cancelled_and_raised_as_such(world: World, point: str) -> None:
    world.added("flask")
    cancel = threading.Event()
    world.faults.at[point] = cancel.set
    with pytest.raises(Cancelled, match="`vacmcp context retry c` builds it again"):
        create(world, cancel=cancel)
    status = world.contexts.status("c")
    assert (status.record.state, status.record.failure_code) == (ContextState.FAILED, "CANCELLED")
    assert all(step.ended_at for step in status.last_build.steps)
    assert world.contexts.retry("c", activity=world.activity()).state is ContextState.READY


def test_a_build_can_be_cancelled_through_the_queue(world: World) -> None:
    world.added("flask")
    world.search.on_build = lambda _: [
        world.queue.cancel(build.id) for build in world.catalogue.running_builds()
    ]
    with pytest.raises(Cancelled):
        create(world)
    assert world.contexts.status("c").record.failure_code == "CANCELLED"


def test_a_bug_in_a_builder_leaves_no_build_that_claims_to_run(world: World) -> None:
    world.added("flask")

    def bug(_: object) -> None:
        raise ZeroDivisionError

    world.search.on_build = bug
    with pytest.raises(ZeroDivisionError):
        create(world)
    record = world.contexts.status("c").record
    assert (record.state, record.failure_code) == (ContextState.FAILED, "INTERRUPTED")
    assert "SEARCH" in record.failure_message
    assert world.catalogue.running_builds() == []


def test_a_failure_that_cannot_be_recorded_is_still_the_one_raised(world: World) -> None:
    world.added("flask")
    world.search.on_build = broken
    world.faults.at["build.fail.before"] = full
    refused(lambda: create(world), BuildCode.SOURCE_MISMATCH)
    assert world.contexts.status("c").record.state is ContextState.BUILDING
    assert world.recover() == ("c",)
    world.search.on_build = None
    assert world.contexts.retry("c", activity=world.activity()).state is ContextState.READY


def test_files_that_search_did_not_account_for_are_no_ready_context(world: World) -> None:
    world.added("flask")
    inner = world.search._inner

    def short(target: Any) -> Built:
        from dataclasses import replace

        built = inner.build(target, StoreState(), lambda *_: None, None)
        return replace(built, coverage=replace(built.coverage, files=built.coverage.files + 1))

    world.search.on_build = short
    refused(lambda: create(world), BuildCode.ARTIFACT_MISSING)


def test_an_artifact_of_another_commit_is_never_published(world: World) -> None:
    world.added("flask")
    inner = world.search._inner

    def wrong(target: Any) -> Built:
        from dataclasses import replace

        built = inner.build(target, StoreState(), lambda *_: None, None)
        return replace(built, artifact=replace(built.artifact, revision="0" * 40))

    world.search.on_build = wrong
    refused(lambda: create(world), BuildCode.SOURCE_MISMATCH)
    assert world.contexts.status("c").record.members[0].search is None


def test_a_builder_that_lost_its_build_publishes_nothing(world: World) -> None:
    world.added("flask")

    def lose() -> None:
        (build,) = world.catalogue.running_builds()
        world.catalogue.fail_build(
            build.id, BuildState.INTERRUPTED, "INTERRUPTED", "taken", build.created_at
        )

    world.faults.at["build.verify.after"] = lose
    with pytest.raises(VacmcpError):
        create(world)
    record = world.contexts.status("c").record
    assert (record.state, record.failure_code) == (ContextState.FAILED, "INTERRUPTED")


def test_a_builder_whose_claim_was_overtaken_publishes_nothing(world: World) -> None:
    world.added("flask")
    world.faults.at["build.publish.before"] = lambda: world.catalogue.claim_store("flask", "search")
    with pytest.raises(VacmcpError):
        create(world)
    assert world.contexts.status("c").record.state is ContextState.FAILED


def test_a_missing_clone_is_made_again_by_a_retry_with_every_pin_of_it_kept(world: World) -> None:
    world.added("flask")
    other = create(world, "other", [("flask", "v1")])
    world.search.on_build = broken
    refused(lambda: create(world), BuildCode.SOURCE_MISMATCH)
    world.search.on_build = None
    world.store.remove("flask")
    record = world.contexts.retry("c", activity=world.activity())
    assert record.state is ContextState.READY
    steps = {step.step: step for step in world.contexts.status("c").last_build.steps}
    assert steps[Step.RESOLVE].outcome is StepOutcome.SKIPPED
    assert steps[Step.CLONE].outcome is StepOutcome.DONE
    assert steps[Step.CLONE].counts == {"branches": 1, "tags": 1}
    assert world.kept("flask") == {record.members[0].revision, other.members[0].revision}
    world.contexts.verify("other")


def test_a_pin_that_the_remote_no_longer_has_cannot_come_back_and_says_so(world: World) -> None:
    remote = world.added("flask")
    world.search.on_build = broken
    refused(lambda: create(world), BuildCode.SOURCE_MISMATCH)
    world.search.on_build = None
    remote.rewrite()
    if world.real:
        remote._git("tag", "--delete", "v1")
        remote._git("gc", "--quiet", "--prune=now")
    world.store.remove("flask")
    refused(
        lambda: world.contexts.retry("c", activity=world.activity()), BuildCode.REVISION_NOT_FOUND
    )
    assert world.contexts.status("c").record.failure_code == "REVISION_NOT_FOUND"


def test_a_force_push_never_breaks_a_context(world: World) -> None:
    remote = world.added("flask")
    record = create(world)
    remote.rewrite()
    world.repositories.sync("flask", activity=world.activity())
    assert world.contexts.verify("c") == record
    assert world.contexts.rebuild("c", activity=world.activity()).members[0].revision == (
        record.members[0].revision
    )


def test_retry_is_for_failed_contexts(world: World) -> None:
    world.added("flask")
    create(world)
    error = refused(lambda: world.contexts.retry("c", activity=world.activity()))
    assert "vacmcp context rebuild c" in error.message


def test_rebuild_is_for_ready_contexts(world: World) -> None:
    world.added("flask")
    world.search.on_build = broken
    refused(lambda: create(world), BuildCode.SOURCE_MISMATCH)
    error = refused(lambda: world.contexts.rebuild("c", activity=world.activity()))
    assert "vacmcp context retry c" in error.message


def test_a_rebuild_keeps_the_pin_and_serves_the_old_until_the_new_is_verified(
    world: World,
) -> None:
    remote = world.added("flask")
    before = create(world)
    remote.commit()
    world.repositories.sync("flask", activity=world.activity())
    seen = []
    world.search.on_build = lambda _: seen.append(world.contexts.list()[0])
    after = world.contexts.rebuild("c", activity=world.activity())
    assert [record.state for record in seen] == [ContextState.READY]
    assert seen[0].members == before.members
    assert after.state is ContextState.READY
    assert after.members[0].revision == before.members[0].revision
    assert after.generation > before.generation
    assert world.contexts.status("c").last_build.rebuild


@pytest.mark.parametrize("failure", [full, broken])
def test_a_failed_rebuild_leaves_the_old_served(world: World, failure: Any) -> None:
    world.added("flask")
    before = create(world)
    world.search.on_build = failure
    with pytest.raises(LifecycleError) as caught:
        world.contexts.rebuild("c", activity=world.activity())
    status = world.contexts.status("c")
    assert status.record.state is ContextState.READY
    assert status.record.members == before.members
    assert status.last_build.state is BuildState.FAILED
    assert status.last_build.failure_code == caught.value.code
    world.contexts.verify("c")


def test_rebuild_all_goes_on_after_a_failure_and_leaves_failed_contexts_alone(
    world: World,
) -> None:
    world.added("flask")
    for name in ("a", "b"):
        create(world, name)
    world.search.on_build = broken
    refused(lambda: create(world, "c"), BuildCode.SOURCE_MISMATCH)
    world.search.on_build = lambda target: broken() if target.context == "a" else None
    outcomes = dict(world.contexts.rebuild_all(activity=world.activity()))
    assert outcomes.keys() == {"a", "b"}
    assert isinstance(outcomes["a"], LifecycleError)
    assert outcomes["b"].state is ContextState.READY


def test_rebuild_all_stops_when_it_is_cancelled(world: World) -> None:
    world.added("flask")
    create(world, "a")
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        world.contexts.rebuild_all(activity=world.activity(cancel))
    assert world.contexts.list()[0].state is ContextState.READY


def test_verify_names_the_first_thing_that_does_not_hold(world: World) -> None:
    world.added("flask")
    record = create(world)
    revision = record.members[0].revision
    world.store.unkeep("flask", revision)
    error = refused(lambda: world.contexts.verify("c"), BuildCode.SOURCE_MISMATCH)
    assert error.details["declared_revision"] == revision
    assert "vacmcp context rebuild c" in error.message
    world.contexts.rebuild("c", activity=world.activity())
    world.contexts.verify("c")
    world.search.on_verify = broken
    refused(lambda: world.contexts.verify("c"), BuildCode.SOURCE_MISMATCH)
    world.search.on_verify = None
    world.search.engine_version = "2"
    error = refused(lambda: world.contexts.verify("c"), BuildCode.ARTIFACT_MISSING)
    assert label_of(world.search) in error.message
    world.store.remove("flask")
    refused(lambda: world.contexts.verify("c"), BuildCode.REPOSITORY_NOT_FOUND)


def test_verify_works_on_a_failed_context_and_beside_a_server(world: World) -> None:
    world.added("flask")
    create(world, "ok")
    world.search.on_build = broken
    refused(lambda: create(world), BuildCode.SOURCE_MISMATCH)
    with world.locks.server("serve", ""):
        world.contexts.verify("ok")
        refused(lambda: world.contexts.verify("c"), BuildCode.ARTIFACT_MISSING)


def test_a_removed_context_is_gone_with_its_keep_ref(world: World) -> None:
    world.added("flask")
    create(world)
    world.contexts.remove("C", activity=world.activity())
    assert world.contexts.list() == []
    assert world.kept("flask") == frozenset()
    refused(lambda: world.contexts.status("c"), BuildCode.CONTEXT_NOT_FOUND)
    assert create(world).state is ContextState.READY


def test_a_keep_ref_stays_while_another_context_pins_its_commit(world: World) -> None:
    world.added("flask")
    record = create(world, "a")
    create(world, "b")
    world.contexts.remove("a", activity=world.activity())
    assert world.kept("flask") == {record.members[0].revision}
    world.contexts.verify("b")
    world.contexts.remove("b", activity=world.activity())
    assert world.kept("flask") == frozenset()


@pytest.mark.parametrize("point", ["remove.mark.after", "remove.row.after"])
def test_a_removal_that_was_cut_off_is_finished_later(world: World, point: str) -> None:
    world.added("flask")
    create(world)
    create(world, "other", [("flask", "v1")])

    def stop() -> None:
        raise KeyboardInterrupt

    world.faults.at[point] = stop
    with pytest.raises(KeyboardInterrupt):
        world.contexts.remove("c", activity=world.activity())
    if point == "remove.mark.after":
        status = world.contexts.status("c")
        assert status.record.shown_state == "REMOVING"
        assert status.repair == "vacmcp context remove c"
        for verb in (world.contexts.retry, world.contexts.rebuild):
            message = refused(lambda verb=verb: verb("c", activity=world.activity())).message
            assert "vacmcp context remove c" in message
        refused(lambda: create(world))
        world.contexts.remove("c", activity=world.activity())
    else:
        world.contexts.remove("other", activity=world.activity())
    assert world.kept("flask") <= {record.members[0].revision for record in world.contexts.list()}


def test_a_context_is_removed_though_its_clone_is_gone(world: World) -> None:
    world.added("flask")
    create(world)
    world.store.remove("flask")
    world.contexts.remove("c", activity=world.activity())
    assert world.contexts.list() == []


def test_a_removal_that_cannot_have_its_locks_changes_nothing(world: World) -> None:
    world.added("flask")
    create(world)
    world.wire(lock_timeout=0.1)
    with world.locks.repository("flask", "repo sync", 0, lambda *_: None):
        refused(lambda: world.contexts.remove("c", activity=world.activity()), BuildCode.LOCKED)
    assert world.contexts.list()[0].shown_state == "READY"


@pytest.mark.parametrize("verb", ["retry", "rebuild", "remove"])
def test_an_unknown_context_is_not_found(world: World, verb: str) -> None:
    action = getattr(world.contexts, verb)
    refused(lambda: action("nothing", activity=world.activity()), BuildCode.CONTEXT_NOT_FOUND)


@pytest.mark.parametrize("verb", ["create", "retry", "rebuild", "rebuild_all", "remove"])
def test_what_changes_contexts_is_refused_while_a_server_runs(world: World, verb: str) -> None:
    world.added("flask")
    create(world)
    arguments = {"create": ["d", [("flask", "main")]], "rebuild_all": []}.get(verb, ["c"])
    with world.locks.server("serve --managed", "127.0.0.1:8080"):
        action = getattr(world.contexts, verb)
        with pytest.raises(Locked) as caught:
            action(*arguments, activity=world.activity())
        assert str(caught.value.details["pid"]) in caught.value.message
        assert "stop it" in caught.value.message
    assert [record.id for record in world.contexts.list()] == ["c"]


def test_a_context_that_somebody_builds_is_left_to_them(world: World) -> None:
    world.added("flask")
    create(world)
    with world.locks.build("c", "context rebuild"):
        for verb in (world.contexts.rebuild, world.contexts.remove):
            error = refused(
                lambda verb=verb: verb("c", activity=world.activity()), BuildCode.LOCKED
            )
            assert "context rebuild" in error.message
    assert world.contexts.list()[0].shown_state == "READY"


def test_a_build_waits_for_a_sync_and_says_so(world: World) -> None:
    world.added("flask")
    world.wire(lock_timeout=0.1)
    with world.locks.repository("flask", "repo sync", 0, lambda *_: None):
        refused(lambda: create(world), BuildCode.LOCKED)
    assert world.waits[0][0] == "repository flask"
    assert world.waits[0][1].verb == "repo sync"
    assert world.contexts.status("c").record.failure_code == "LOCKED"
    assert world.contexts.retry("c", activity=world.activity()).state is ContextState.READY


def test_a_sync_is_not_kept_waiting_while_a_build_indexes(world: World) -> None:
    world.added("flask")
    world.search.on_build = lambda _: world.repositories.sync("flask", activity=world.activity())
    assert create(world).state is ContextState.READY
    assert world.waits == []


def test_a_build_waits_for_another_of_its_repository_and_says_for_which_command(
    world: World,
) -> None:
    world.added("flask")
    create(world, "b")
    world.wire(lock_timeout=0.1)

    def rebuild_too(target: Any) -> None:
        if target.context == "a":
            world.contexts.rebuild("b", activity=world.activity())

    world.search.on_build = rebuild_too
    refused(lambda: create(world, "a"), BuildCode.LOCKED)
    ((lock, holder),) = world.waits
    assert (lock, holder.verb) == ("store flask", "context create")
    assert {record.id: record.shown_state for record in world.contexts.list()} == {
        "a": "FAILED",
        "b": "READY",
    }
