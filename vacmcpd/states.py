"""The one table of moves between states, and the rules a context is born and becomes READY by.

::

    PENDING ──▶ BUILDING ──▶ READY
       ▲ │          │
       │ └──────────┴──▶ FAILED
       └────────retry──────┘

Being removed is no state but a flag beside it: a context under removal makes no move but to
FAILED, so that what ran for it can still be ended. A rebuild is a build beside a READY context,
which makes no move at all. Every catalogue asks this module before it writes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from .errors import BuildCode, IllegalTransition, LifecycleError
from .model import Artifact, BuildState, ContextState, Member, MemberCoverage, StepOutcome

CONTEXT_BIRTH = ContextState.PENDING
CONTEXT_MOVES: Mapping[ContextState, frozenset[ContextState]] = MappingProxyType(
    {
        ContextState.PENDING: frozenset({ContextState.BUILDING, ContextState.FAILED}),
        ContextState.BUILDING: frozenset({ContextState.READY, ContextState.FAILED}),
        ContextState.READY: frozenset(),
        ContextState.FAILED: frozenset({ContextState.PENDING}),
    }
)
"""What may follow each state of a context. READY stays; FAILED → PENDING is the retry."""

BUILD_MOVES: Mapping[BuildState, frozenset[BuildState]] = MappingProxyType(
    {
        BuildState.QUEUED: frozenset(
            {BuildState.RUNNING, BuildState.FAILED, BuildState.INTERRUPTED}
        ),
        BuildState.RUNNING: frozenset(
            {BuildState.SUCCEEDED, BuildState.FAILED, BuildState.INTERRUPTED}
        ),
        BuildState.SUCCEEDED: frozenset(),
        BuildState.FAILED: frozenset(),
        BuildState.INTERRUPTED: frozenset(),
    }
)
"""What may follow each state of a build; an ended build is history."""

_CUT_OFF: Mapping[BuildState, StepOutcome] = MappingProxyType(
    {
        BuildState.FAILED: StepOutcome.FAILED,
        BuildState.INTERRUPTED: StepOutcome.INTERRUPTED,
    }
)
_FULL_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def may_move(current: ContextState, wanted: ContextState, removing: bool = False) -> bool:
    """Whether a context may go from ``current`` to ``wanted``."""
    if removing and wanted is not ContextState.FAILED:
        return False
    return wanted in CONTEXT_MOVES[current]


def check_move(
    context: str, current: ContextState, wanted: ContextState, removing: bool = False
) -> None:
    """Raise :class:`IllegalTransition` unless :func:`may_move`."""
    if not may_move(current, wanted, removing):
        raise IllegalTransition(context, shown(current, removing), wanted)


def check_rebuild(context: str, current: ContextState, removing: bool, running: bool) -> None:
    """Raise :class:`IllegalTransition` unless a rebuild may begin beside this context.

    ``running``: whether another build of the context runs.
    """
    if removing or current is not ContextState.READY:
        raise IllegalTransition(context, shown(current, removing), "rebuilt")
    if running:
        raise IllegalTransition(context, current, "rebuilt: another build of it runs")


def shown(state: ContextState, removing: bool) -> str:
    """The state as commands print it."""
    return "REMOVING" if removing else str(state)


def lost(context: str, current: ContextState, removing: bool, build: str) -> IllegalTransition:
    """The failure of a builder that somebody else has overtaken."""
    return IllegalTransition(
        context, shown(current, removing), f"READY by build {build}, which has lost its turn"
    )


def overtaken(repository: str) -> LifecycleError:
    """The failure of a command whose claim on a store is no longer the newest."""
    return LifecycleError(
        BuildCode.INTERRUPTED,
        f'another command took over the store of "{repository}"; run the command again',
        {"repository": repository},
    )


def cut_off(state: BuildState) -> StepOutcome:
    """How the open steps of a build end that ends in ``state``, FAILED or INTERRUPTED."""
    try:
        return _CUT_OFF[state]
    except KeyError:
        raise _refused(f"a build does not fail by becoming {state}") from None


def check_birth(context: str, members: Sequence[Member]) -> None:
    """INVALID_ARGUMENT unless there are members, each repository once, each a full commit id."""
    if not members:
        raise _refused(f'context "{context}" names no repository')
    if len({member.repository.lower() for member in members}) != len(members):
        raise _refused(f'context "{context}" names a repository twice')
    for member in members:
        if not _FULL_ID.fullmatch(member.revision):
            raise _refused(
                f'context "{context}" pins {member.repository} to {member.revision!r}, '
                "which is not a full commit id"
            )


def check_built(
    context: str, members: Iterable[Member], built: Sequence[tuple[str, Iterable[Artifact]]]
) -> None:
    """A context is READY only with artifacts of every member, each made of the pinned commit.

    ``built``: a repository and its artifacts. Raises ARTIFACT_MISSING for a member without,
    INVALID_ARGUMENT for a stranger, SOURCE_MISMATCH (``declared_revision``, ``actual_revision``)
    for an artifact of another commit.
    """
    pins = {member.repository.lower(): member for member in members}
    for repository, artifacts in built:
        member = pins.pop(repository.lower(), None)
        if member is None:
            raise _refused(f'{repository} is no member of context "{context}", or was built twice')
        for artifact in artifacts:
            _check_revision(context, member, artifact.revision)
    if pins:
        names = ", ".join(sorted(member.repository for member in pins.values()))
        raise LifecycleError(
            BuildCode.ARTIFACT_MISSING,
            f'context "{context}" was built without {names}',
            {"context": context},
        )


def check_coverage(context: str, member: Member, coverage: MemberCoverage) -> None:
    """SOURCE_MISMATCH unless ``coverage`` is of the pinned commit and accounts for every file."""
    _check_revision(context, member, coverage.revision)
    if not coverage.complete:
        raise LifecycleError(
            BuildCode.SOURCE_MISMATCH,
            f'context "{context}": {coverage.searched} searched and '
            f"{sum(coverage.skipped.values())} skipped are not the {coverage.files} files "
            f"of {member.repository}",
            {"repository": member.repository, "declared_revision": member.revision},
        )


def _check_revision(context: str, member: Member, actual: str) -> None:
    if actual != member.revision:
        raise LifecycleError(
            BuildCode.SOURCE_MISMATCH,
            f'context "{context}": what was built for {member.repository} '
            "is not of the pinned commit",
            {
                "repository": member.repository,
                "declared_revision": member.revision,
                "actual_revision": actual,
            },
        )


def _refused(message: str) -> LifecycleError:
    return LifecycleError(BuildCode.INVALID_ARGUMENT, message)
