"""The table of moves, over all pairs."""

import itertools

import pytest

from vacmcpd.errors import BuildCode, IllegalTransition, LifecycleError
from vacmcpd.model import (
    Artifact,
    ArtifactKind,
    BuildState,
    ContextState,
    Member,
    MemberCoverage,
    StepOutcome,
)
from vacmcpd.states import (
    BUILD_MOVES,
    CONTEXT_MOVES,
    check_birth,
    check_built,
    check_coverage,
    check_move,
    check_rebuild,
    cut_off,
    may_move,
)

A, B = "a" * 40, "b" * 40
PAIRS = list(itertools.product(ContextState, ContextState))
LEGAL = {
    ("PENDING", "BUILDING"),
    ("PENDING", "FAILED"),
    ("BUILDING", "READY"),
    ("BUILDING", "FAILED"),
    ("FAILED", "PENDING"),
}


@pytest.mark.parametrize(("current", "wanted"), PAIRS)
def test_a_context_makes_exactly_the_moves_of_the_drawing(
    current: ContextState, wanted: ContextState
) -> None:
    assert may_move(current, wanted) is ((current.value, wanted.value) in LEGAL)
    if may_move(current, wanted):
        check_move("c", current, wanted)
        return
    with pytest.raises(IllegalTransition) as failure:
        check_move("c", current, wanted)
    assert failure.value.details == {"context": "c", "state": current, "wanted": wanted}


@pytest.mark.parametrize(("current", "wanted"), PAIRS)
def test_a_context_under_removal_can_only_fail(current: ContextState, wanted: ContextState) -> None:
    legal = (current.value, wanted.value) in LEGAL and wanted is ContextState.FAILED
    assert may_move(current, wanted, removing=True) is legal
    if not legal:
        with pytest.raises(IllegalTransition, match="is REMOVING"):
            check_move("c", current, wanted, removing=True)


def test_every_state_has_its_row() -> None:
    assert set(CONTEXT_MOVES) == set(ContextState)
    assert set(BUILD_MOVES) == set(BuildState)


def test_an_ended_build_never_moves() -> None:
    for ended in (BuildState.SUCCEEDED, BuildState.FAILED, BuildState.INTERRUPTED):
        assert not BUILD_MOVES[ended]


@pytest.mark.parametrize("state", ContextState)
@pytest.mark.parametrize("removing", [False, True])
@pytest.mark.parametrize("running", [False, True])
def test_a_rebuild_begins_beside_a_ready_context_that_nobody_builds_or_removes(
    state: ContextState, removing: bool, running: bool
) -> None:
    if state is ContextState.READY and not removing and not running:
        check_rebuild("c", state, removing, running)
        return
    with pytest.raises(IllegalTransition):
        check_rebuild("c", state, removing, running)


def test_open_steps_end_as_their_build_does() -> None:
    assert cut_off(BuildState.FAILED) is StepOutcome.FAILED
    assert cut_off(BuildState.INTERRUPTED) is StepOutcome.INTERRUPTED
    with pytest.raises(LifecycleError, match="does not fail by becoming SUCCEEDED"):
        cut_off(BuildState.SUCCEEDED)


@pytest.mark.parametrize(
    "members",
    [
        (),
        (Member("r", "main", A), Member("R", "v2", B)),
        (Member("r", "main", "a" * 39),),
        (Member("r", "main", "A" * 40),),
        (Member("r", "main", "a" * 40 + "\n"),),
        (Member("r", "main", "main"),),
        (Member("r", "main", ""),),
    ],
)
def test_a_context_is_not_born_without_full_pins(members: tuple[Member, ...]) -> None:
    with pytest.raises(LifecycleError) as failure:
        check_birth("c", members)
    assert failure.value.code is BuildCode.INVALID_ARGUMENT


def test_sha1_and_sha256_ids_are_full_pins() -> None:
    check_birth("c", (Member("r", "main", A), Member("s", "main", "c" * 64)))


def artifact(revision: str) -> Artifact:
    return Artifact(ArtifactKind.SEARCH, "scan", "1", "tree", revision)


@pytest.mark.parametrize(
    ("built", "code"),
    [
        ([("r", [artifact(B)])], BuildCode.SOURCE_MISMATCH),
        ([], BuildCode.ARTIFACT_MISSING),
        ([("r", [artifact(A)]), ("r", [artifact(A)])], BuildCode.INVALID_ARGUMENT),
        ([("s", [artifact(A)])], BuildCode.INVALID_ARGUMENT),
    ],
)
def test_ready_needs_what_was_built_of_every_pin(
    built: list[tuple[str, list[Artifact]]], code: BuildCode
) -> None:
    with pytest.raises(LifecycleError) as failure:
        check_built("c", (Member("r", "main", A),), built)
    assert failure.value.code is code


def test_ready_takes_what_was_built_of_every_pin() -> None:
    check_built("c", (Member("r", "main", A),), [("R", [artifact(A)])])


@pytest.mark.parametrize(
    "coverage",
    [
        MemberCoverage("r", B, 1, 1),
        MemberCoverage("r", A, 3, 1, {"binary": 1}),
        MemberCoverage("r", A, 1, 1, {"binary": 1}),
    ],
)
def test_coverage_of_another_commit_or_of_not_every_file_is_refused(
    coverage: MemberCoverage,
) -> None:
    with pytest.raises(LifecycleError) as failure:
        check_coverage("c", Member("r", "main", A), coverage)
    assert failure.value.code is BuildCode.SOURCE_MISMATCH
