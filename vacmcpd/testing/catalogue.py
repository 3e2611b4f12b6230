"""A catalogue in memory, held to the same contract as the one in SQLite."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from ..errors import BuildCode, IllegalTransition, LifecycleError
from ..model import (
    Artifact,
    ArtifactKind,
    BuildState,
    ContextState,
    Member,
    MemberCoverage,
    Step,
    StepOutcome,
)
from ..names import check_name
from ..ports.catalogue import (
    BuildRecord,
    BuiltMember,
    ContextRecord,
    RepositoryRecord,
    StepRecord,
    StoreClaim,
)
from ..states import (
    CONTEXT_BIRTH,
    check_birth,
    check_built,
    check_coverage,
    check_move,
    check_rebuild,
    cut_off,
    lost,
)


@dataclass(slots=True)
class _State:
    repositories: dict[str, RepositoryRecord] = field(default_factory=dict)
    contexts: dict[str, ContextRecord] = field(default_factory=dict)
    builds: dict[str, BuildRecord] = field(default_factory=dict)
    stores: dict[tuple[str, str], StoreClaim] = field(default_factory=dict)

    def copy(self) -> "_State":
        return _State(
            dict(self.repositories), dict(self.contexts), dict(self.builds), dict(self.stores)
        )


class MemoryCatalogue:
    """``ports.catalogue.Catalogue`` for embedders and tests; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = _State()
        self._ids = 0
        self._closed = False

    def add_repository(self, name: str, url: str, at: datetime) -> RepositoryRecord:
        with self._change() as state:
            check_name("repository", name)
            taken = state.repositories.get(_fold(name))
            if taken is not None:
                raise _refused(f'there is a repository "{taken.name}"', repository=taken.name)
            added = RepositoryRecord(name, _text(url), _utc(at), None, None)
            state.repositories[_fold(name)] = added
            return added

    def repository(self, name: str) -> RepositoryRecord:
        with self._change() as state:
            return _repository(state, name)

    def repositories(self) -> Sequence[RepositoryRecord]:
        with self._change() as state:
            return sorted(state.repositories.values(), key=lambda record: record.name)

    def record_sync(self, name: str, at: datetime, error: str | None) -> RepositoryRecord:
        with self._change() as state:
            found = _repository(state, name)
            synced = (
                replace(found, last_sync_at=_utc(at), last_sync_error=None)
                if error is None
                else replace(found, last_sync_error=_text(error))
            )
            state.repositories[_fold(name)] = synced
            return synced

    def remove_repository(self, name: str) -> None:
        with self._change() as state:
            found = _repository(state, name)
            holders = _holders(state, found)
            if holders:
                raise _refused(
                    f'repository "{found.name}" is held by {", ".join(holders)}',
                    repository=found.name,
                    contexts=holders,
                )
            del state.repositories[_fold(name)]
            state.stores = {
                key: store for key, store in state.stores.items() if key[0] != _fold(name)
            }

    def create_context(
        self, context: str, members: Sequence[Member], at: datetime
    ) -> ContextRecord:
        with self._change() as state:
            check_name("context", context)
            check_birth(context, members)
            taken = state.contexts.get(_fold(context))
            if taken is not None:
                raise _refused(f'there is a context "{taken.id}"', context=taken.id)
            pins = tuple(
                Member(
                    _repository(state, member.repository).name,
                    _text(member.branch),
                    member.revision,
                )
                for member in members
            )
            created = ContextRecord(
                context, CONTEXT_BIRTH, 0, pins, _utc(at), _utc(at), None, None, None
            )
            return _put(state, created)

    def context(self, context: str) -> ContextRecord:
        with self._change() as state:
            return _context(state, context)

    def contexts(self) -> Sequence[ContextRecord]:
        with self._change() as state:
            return sorted(state.contexts.values(), key=lambda record: record.id)

    def contexts_of(self, repository: str) -> Sequence[str]:
        with self._change() as state:
            return _holders(state, _repository(state, repository))

    def requeue(self, context: str, at: datetime) -> ContextRecord:
        with self._change() as state:
            return _moved(state, _context(state, context), ContextState.PENDING, at)

    def begin_build(self, context: str, owner: str, rebuild: bool, at: datetime) -> BuildRecord:
        with self._change() as state:
            found = _context(state, context)
            begun = replace(found, generation=found.generation + 1, updated_at=_utc(at))
            if rebuild:
                running = any(
                    build.state is BuildState.RUNNING for build in _builds_of(state, found)
                )
                removing = found.removing_since is not None
                check_rebuild(found.id, found.state, removing, running)
                _put(state, begun)
            else:
                _moved(state, begun, ContextState.BUILDING, at)
            build = BuildRecord(
                id=f"build{self._next_id()}",
                context=found.id,
                generation=begun.generation,
                rebuild=rebuild,
                state=BuildState.RUNNING,
                owner=_text(owner),
                created_at=_utc(at),
                started_at=_utc(at),
                ended_at=None,
                failure_code=None,
                failure_message=None,
            )
            state.builds[build.id] = build
            return build

    def claim_store(self, repository: str, kind: str) -> StoreClaim:
        with self._change() as state:
            owner = _repository(state, repository)
            key = (_fold(repository), kind)
            newest = state.stores.get(key, StoreClaim(owner.name, kind, 0, 0))
            state.stores[key] = replace(newest, claim=newest.claim + 1)
            return state.stores[key]

    def start_step(self, build: str, step: Step, repository: str, at: datetime) -> int:
        with self._change() as state:
            found = _build(state, build)
            if found.state is not BuildState.RUNNING:
                raise _lost(state, found)
            member = _repository(state, repository).name
            if member not in {each.repository for each in _context(state, found.context).members}:
                raise LifecycleError(
                    BuildCode.REPOSITORY_NOT_FOUND,
                    f'repository "{member}" is no member of context "{found.context}"',
                    {"repository": member, "context": found.context},
                )
            opened = StepRecord(self._next_id(), step, member, _utc(at), None, None, {}, "")
            state.builds[build] = replace(found, steps=(*found.steps, opened))
            return opened.id

    def finish_step(
        self, step: int, outcome: StepOutcome, counts: Mapping[str, int], message: str, at: datetime
    ) -> None:
        with self._change() as state:
            build, opened = _step(state, step)
            if opened.outcome is not None:
                raise _lost(state, build)
            closed = replace(
                opened,
                outcome=outcome,
                counts=dict(counts),
                message=_text(message),
                ended_at=_utc(at),
            )
            steps = tuple(closed if each.id == step else each for each in build.steps)
            state.builds[build.id] = replace(build, steps=steps)

    def publish(
        self,
        build: str,
        members: Sequence[BuiltMember],
        claims: Sequence[StoreClaim],
        at: datetime,
    ) -> ContextRecord:
        with self._change() as state:
            running = _build(state, build)
            context = _context(state, running.context)
            _check_turn(state, running, context)
            _check_made(context, members)
            for claim in claims:
                _advance(state, running, claim)
            state.builds[build] = replace(running, state=BuildState.SUCCEEDED, ended_at=_utc(at))
            built = _with_artifacts(context, members)
            if running.rebuild:
                return _put(state, replace(built, updated_at=_utc(at)))
            return _moved(state, built, ContextState.READY, at)

    def fail_build(
        self, build: str, state: BuildState, code: str, message: str, at: datetime
    ) -> ContextRecord:
        with self._change() as now:
            outcome = cut_off(state)
            running = _build(now, build)
            context = _context(now, running.context)
            if running.state is not BuildState.RUNNING:
                return context
            now.builds[build] = replace(
                running,
                state=state,
                ended_at=_utc(at),
                failure_code=code,
                failure_message=_text(message),
                steps=tuple(_cut(step, outcome, message, at) for step in running.steps),
            )
            if running.rebuild:
                return context
            return _moved(now, context, ContextState.FAILED, at, code, message)

    def fail_unbuilt(self, context: str, code: str, message: str, at: datetime) -> ContextRecord:
        with self._change() as state:
            found = _context(state, context)
            if found.state is not ContextState.PENDING:
                raise IllegalTransition(found.id, found.shown_state, ContextState.FAILED)
            return _moved(state, found, ContextState.FAILED, at, code, message)

    def build(self, build: str) -> BuildRecord:
        with self._change() as state:
            return _build(state, build)

    def last_build(self, context: str) -> BuildRecord | None:
        with self._change() as state:
            builds = _builds_of(state, _context(state, context))
            return max(builds, key=lambda build: build.generation, default=None)

    def running_builds(self) -> Sequence[BuildRecord]:
        with self._change() as state:
            running = [
                build for build in state.builds.values() if build.state is BuildState.RUNNING
            ]
            return sorted(running, key=lambda build: build.context)

    def mark_removing(self, context: str, at: datetime) -> ContextRecord:
        with self._change() as state:
            found = _context(state, context)
            if found.removing_since is not None:
                return found
            return _put(state, replace(found, removing_since=_utc(at), updated_at=_utc(at)))

    def delete_context(self, context: str) -> None:
        with self._change() as state:
            found = _context(state, context)
            if found.removing_since is None:
                raise IllegalTransition(found.id, found.state, "deleted while it is served")
            for build in _builds_of(state, found):
                del state.builds[build.id]
            del state.contexts[_fold(context)]

    def revision(self) -> str:
        with self._change():
            return "memory"

    def integrity(self) -> Sequence[str]:
        with self._change():
            return []

    def close(self) -> None:
        self._closed = True

    @contextmanager
    def _change(self) -> Iterator[_State]:
        """A copy of everything that becomes the truth unless the body raises."""
        with self._lock:
            if self._closed:
                raise _refused("the catalogue is closed")
            state = self._state.copy()
            yield state
            self._state = state

    def _next_id(self) -> int:
        self._ids += 1
        return self._ids


def built_whole(context: ContextRecord, files: int = 3) -> tuple[BuiltMember, ...]:
    """What a build of every member would publish that searched all of its ``files``."""
    return tuple(
        BuiltMember(
            member.repository,
            Artifact(
                ArtifactKind.SEARCH, "scan", "1", f"tree of {member.revision}", member.revision
            ),
            Artifact(ArtifactKind.GRAPH, "none", "0", "", member.revision),
            MemberCoverage(member.repository, member.revision, files, files),
        )
        for member in context.members
    )


def _repository(state: _State, name: str) -> RepositoryRecord:
    found = state.repositories.get(_fold(name))
    if found is None:
        raise LifecycleError(
            BuildCode.REPOSITORY_NOT_FOUND,
            f'no repository is called "{_text(name)[:200]}"',
            {"repository": _text(name)[:200]},
        )
    return found


def _context(state: _State, name: str) -> ContextRecord:
    found = state.contexts.get(_fold(name))
    if found is None:
        raise LifecycleError(
            BuildCode.CONTEXT_NOT_FOUND,
            f'no context is called "{_text(name)[:200]}"',
            {"context": _text(name)[:200]},
        )
    return found


def _build(state: _State, build: str) -> BuildRecord:
    found = state.builds.get(build)
    if found is None:
        raise LifecycleError(BuildCode.CONTEXT_NOT_FOUND, "the build is not on record")
    return found


def _step(state: _State, step: int) -> tuple[BuildRecord, StepRecord]:
    for build in state.builds.values():
        for found in build.steps:
            if found.id == step:
                return build, found
    raise LifecycleError(BuildCode.CONTEXT_NOT_FOUND, "the step is not on record")


def _builds_of(state: _State, context: ContextRecord) -> list[BuildRecord]:
    return [build for build in state.builds.values() if build.context == context.id]


def _holders(state: _State, repository: RepositoryRecord) -> list[str]:
    return sorted(
        context.id
        for context in state.contexts.values()
        if repository.name in {member.repository for member in context.members}
    )


def _put(state: _State, context: ContextRecord) -> ContextRecord:
    state.contexts[_fold(context.id)] = context
    return context


def _moved(
    state: _State,
    context: ContextRecord,
    wanted: ContextState,
    at: datetime,
    code: str | None = None,
    message: str | None = None,
) -> ContextRecord:
    check_move(context.id, context.state, wanted, context.removing_since is not None)
    return _put(
        state,
        replace(
            context,
            state=wanted,
            updated_at=_utc(at),
            failure_code=code,
            failure_message=None if message is None else _text(message),
        ),
    )


def _check_turn(state: _State, build: BuildRecord, context: ContextRecord) -> None:
    expected = ContextState.READY if build.rebuild else ContextState.BUILDING
    if (
        build.state is not BuildState.RUNNING
        or build.generation != context.generation
        or context.state is not expected
        or context.removing_since is not None
    ):
        raise _lost(state, build)


def _check_made(context: ContextRecord, members: Sequence[BuiltMember]) -> None:
    made = {_fold(each.repository): each for each in members}
    check_built(
        context.id,
        context.members,
        [(each.repository, (each.search, each.graph)) for each in members],
    )
    for member in context.members:
        check_coverage(context.id, member, made[_fold(member.repository)].coverage)


def _advance(state: _State, build: BuildRecord, claim: StoreClaim) -> None:
    key = (_fold(_repository(state, claim.repository).name), claim.kind)
    newest = state.stores.get(key)
    if newest is None or (newest.claim, newest.generation) != (claim.claim, claim.generation):
        raise _lost(state, build)
    state.stores[key] = replace(newest, generation=newest.generation + 1)


def _with_artifacts(context: ContextRecord, members: Iterable[BuiltMember]) -> ContextRecord:
    made = {_fold(each.repository): each for each in members}
    built = [(member, made[_fold(member.repository)]) for member in context.members]
    return replace(
        context,
        members=tuple(
            replace(member, search=each.search, graph=each.graph) for member, each in built
        ),
        coverage=tuple(
            replace(each.coverage, repository=member.repository) for member, each in built
        ),
    )


def _cut(step: StepRecord, outcome: StepOutcome, message: str, at: datetime) -> StepRecord:
    if step.outcome is not None:
        return step
    return replace(step, outcome=outcome, message=_text(message), ended_at=_utc(at))


def _lost(state: _State, build: BuildRecord) -> IllegalTransition:
    context = _context(state, build.context)
    return lost(context.id, context.state, context.removing_since is not None, build.id)


def _refused(message: str, **details: object) -> LifecycleError:
    return LifecycleError(BuildCode.INVALID_ARGUMENT, message, details)


def _fold(name: str) -> str:
    return name.lower() if name.isascii() else ""


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _utc(at: datetime) -> datetime:
    if at.tzinfo is None:
        raise ValueError("a moment without its time zone")
    return at.astimezone(UTC)
