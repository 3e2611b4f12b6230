"""What the catalogue in memory holds, and the moves on it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from ..errors import BuildCode, IllegalTransition, LifecycleError
from ..model import (
    ArtifactKind,
    BuildState,
    ContextState,
    StepOutcome,
)
from ..ports.artifacts import StoredFile
from ..ports.catalogue import (
    BuildRecord,
    BuiltMember,
    ContextRecord,
    RepositoryRecord,
    StepRecord,
    StoreClaim,
)
from ..states import (
    check_built,
    check_coverage,
    check_move,
    lost,
)


@dataclass(slots=True)
class State:
    repositories: dict[str, RepositoryRecord] = field(default_factory=dict)
    contexts: dict[str, ContextRecord] = field(default_factory=dict)
    builds: dict[str, BuildRecord] = field(default_factory=dict)
    stores: dict[tuple[str, str], StoreClaim] = field(default_factory=dict)
    files: dict[tuple[str, str], tuple[StoredFile, ...]] = field(default_factory=dict)

    def copy(self) -> "State":
        return State(
            dict(self.repositories),
            dict(self.contexts),
            dict(self.builds),
            dict(self.stores),
            dict(self.files),
        )


def find_repository(state: State, name: str) -> RepositoryRecord:
    found = state.repositories.get(fold(name))
    if found is None:
        raise LifecycleError(
            BuildCode.REPOSITORY_NOT_FOUND,
            f'no repository is called "{as_text(name)[:200]}"',
            {"repository": as_text(name)[:200]},
        )
    return found


def find_context(state: State, name: str) -> ContextRecord:
    found = state.contexts.get(fold(name))
    if found is None:
        raise LifecycleError(
            BuildCode.CONTEXT_NOT_FOUND,
            f'no context is called "{as_text(name)[:200]}"',
            {"context": as_text(name)[:200]},
        )
    return found


def find_build(state: State, build: str) -> BuildRecord:
    found = state.builds.get(build)
    if found is None:
        raise LifecycleError(BuildCode.CONTEXT_NOT_FOUND, "the build is not on record")
    return found


def find_step(state: State, step: int) -> tuple[BuildRecord, StepRecord]:
    for build in state.builds.values():
        for found in build.steps:
            if found.id == step:
                return build, found
    raise LifecycleError(BuildCode.CONTEXT_NOT_FOUND, "the step is not on record")


def builds_of(state: State, context: ContextRecord) -> list[BuildRecord]:
    return [build for build in state.builds.values() if build.context == context.id]


def holders_of(state: State, repository: RepositoryRecord) -> list[str]:
    return sorted(
        context.id
        for context in state.contexts.values()
        if repository.name in {member.repository for member in context.members}
    )


def put_context(state: State, context: ContextRecord) -> ContextRecord:
    state.contexts[fold(context.id)] = context
    return context


def moved_to(
    state: State,
    context: ContextRecord,
    wanted: ContextState,
    at: datetime,
    code: str | None = None,
    message: str | None = None,
) -> ContextRecord:
    check_move(context.id, context.state, wanted, context.removing_since is not None)
    return put_context(
        state,
        replace(
            context,
            state=wanted,
            updated_at=as_utc(at),
            failure_code=code,
            failure_message=None if message is None else as_text(message),
        ),
    )


def check_turn(state: State, build: BuildRecord, context: ContextRecord) -> None:
    expected = ContextState.READY if build.rebuild else ContextState.BUILDING
    if (
        build.state is not BuildState.RUNNING
        or build.generation != context.generation
        or context.state is not expected
        or context.removing_since is not None
    ):
        raise lost_turn(state, build)


def check_made(context: ContextRecord, members: Sequence[BuiltMember]) -> None:
    made = {fold(each.repository): each for each in members}
    check_built(
        context.id,
        context.members,
        [(each.repository, (each.search, each.graph)) for each in members],
    )
    for member in context.members:
        check_coverage(context.id, member, made[fold(member.repository)].coverage)


def advance(state: State, claim: StoreClaim) -> bool:
    key = store_key(state, claim.repository, claim.kind)
    newest = state.stores.get(key)
    if newest is None or (newest.claim, newest.generation) != (claim.claim, claim.generation):
        return False
    state.stores[key] = replace(newest, generation=newest.generation + 1)
    return True


def put_files(
    state: State,
    build: BuildRecord,
    members: Iterable[BuiltMember],
    claims: Iterable[StoreClaim],
) -> None:
    claimed = {store_key(state, claim.repository, claim.kind) for claim in claims}
    for made in members:
        for kind, files in made.files.items():
            key = store_key(state, made.repository, kind)
            if key not in claimed:
                raise lost_turn(state, build)
            state.files[key] = files


def store_key(state: State, repository: str, kind: str) -> tuple[str, str]:
    return fold(find_repository(state, repository).name), str(kind)


def live_keys(state: State, repository: RepositoryRecord, kind: str, label: str) -> frozenset[str]:
    made = [
        member.search if kind == ArtifactKind.SEARCH else member.graph
        for context in state.contexts.values()
        if context.removing_since is None
        for member in context.members
        if member.repository == repository.name
    ]
    return frozenset(
        each.key for each in made if each is not None and (each.kind, each.label) == (kind, label)
    )


def with_artifacts(context: ContextRecord, members: Iterable[BuiltMember]) -> ContextRecord:
    made = {fold(each.repository): each for each in members}
    built = [(member, made[fold(member.repository)]) for member in context.members]
    return replace(
        context,
        members=tuple(
            replace(member, search=each.search, graph=each.graph) for member, each in built
        ),
        coverage=tuple(
            replace(each.coverage, repository=member.repository) for member, each in built
        ),
    )


def cut(step: StepRecord, outcome: StepOutcome, message: str, at: datetime) -> StepRecord:
    if step.outcome is not None:
        return step
    return replace(step, outcome=outcome, message=as_text(message), ended_at=as_utc(at))


def lost_turn(state: State, build: BuildRecord) -> IllegalTransition:
    context = find_context(state, build.context)
    return lost(context.id, context.state, context.removing_since is not None, build.id)


def refusal(message: str, **details: object) -> LifecycleError:
    return LifecycleError(BuildCode.INVALID_ARGUMENT, message, details)


def fold(name: str) -> str:
    return name.lower() if name.isascii() else ""


def as_text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def as_utc(at: datetime) -> datetime:
    if at.tzinfo is None:
        raise ValueError("a moment without its time zone")
    return at.astimezone(UTC)
