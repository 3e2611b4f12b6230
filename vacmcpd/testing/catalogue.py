"""A catalogue in memory, held to the same contract as the one in SQLite."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

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
from ..ports.artifacts import StoredFile
from ..ports.builders import StoreState
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
    check_rebuild,
    cut_off,
    overtaken,
)
from .catalogue_state import (
    State,
    advance,
    as_text,
    as_utc,
    builds_of,
    check_made,
    check_turn,
    cut,
    find_build,
    find_context,
    find_repository,
    find_step,
    fold,
    holders_of,
    live_keys,
    lost_turn,
    moved_to,
    put_context,
    put_files,
    refusal,
    store_key,
    with_artifacts,
)


class MemoryCatalogue:
    """``ports.catalogue.Catalogue`` for embedders and tests; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state = State()
        self._ids = 0
        self._closed = False

    def add_repository(self, name: str, url: str, at: datetime) -> RepositoryRecord:
        with self._change() as state:
            check_name("repository", name)
            taken = state.repositories.get(fold(name))
            if taken is not None:
                raise refusal(f'there is a repository "{taken.name}"', repository=taken.name)
            added = RepositoryRecord(name, as_text(url), as_utc(at), None, None)
            state.repositories[fold(name)] = added
            return added

    def repository(self, name: str) -> RepositoryRecord:
        with self._change() as state:
            return find_repository(state, name)

    def repositories(self) -> Sequence[RepositoryRecord]:
        with self._change() as state:
            return sorted(state.repositories.values(), key=lambda record: record.name)

    def record_sync(self, name: str, at: datetime, error: str | None) -> RepositoryRecord:
        with self._change() as state:
            found = find_repository(state, name)
            synced = (
                replace(found, last_sync_at=as_utc(at), last_sync_error=None)
                if error is None
                else replace(found, last_sync_error=as_text(error))
            )
            state.repositories[fold(name)] = synced
            return synced

    def remove_repository(self, name: str) -> None:
        with self._change() as state:
            found = find_repository(state, name)
            holders = holders_of(state, found)
            if holders:
                raise refusal(
                    f'repository "{found.name}" is held by {", ".join(holders)}',
                    repository=found.name,
                    contexts=holders,
                )
            del state.repositories[fold(name)]
            for kept in (state.stores, state.files):
                for key in [key for key in kept if key[0] == fold(name)]:
                    del kept[key]

    def create_context(
        self, context: str, members: Sequence[Member], at: datetime
    ) -> ContextRecord:
        with self._change() as state:
            check_name("context", context)
            check_birth(context, members)
            taken = state.contexts.get(fold(context))
            if taken is not None:
                raise refusal(f'there is a context "{taken.id}"', context=taken.id)
            pins = tuple(
                Member(
                    find_repository(state, member.repository).name,
                    as_text(member.branch),
                    member.revision,
                )
                for member in members
            )
            created = ContextRecord(
                context, CONTEXT_BIRTH, 0, pins, as_utc(at), as_utc(at), None, None, None
            )
            return put_context(state, created)

    def context(self, context: str) -> ContextRecord:
        with self._change() as state:
            return find_context(state, context)

    def contexts(self) -> Sequence[ContextRecord]:
        with self._change() as state:
            return sorted(state.contexts.values(), key=lambda record: record.id)

    def contexts_of(self, repository: str) -> Sequence[str]:
        with self._change() as state:
            return holders_of(state, find_repository(state, repository))

    def requeue(self, context: str, at: datetime) -> ContextRecord:
        with self._change() as state:
            return moved_to(state, find_context(state, context), ContextState.PENDING, at)

    def begin_build(self, context: str, owner: str, rebuild: bool, at: datetime) -> BuildRecord:
        with self._change() as state:
            found = find_context(state, context)
            begun = replace(found, generation=found.generation + 1, updated_at=as_utc(at))
            if rebuild:
                running = any(
                    build.state is BuildState.RUNNING for build in builds_of(state, found)
                )
                removing = found.removing_since is not None
                check_rebuild(found.id, found.state, removing, running)
                put_context(state, begun)
            else:
                moved_to(state, begun, ContextState.BUILDING, at)
            build = BuildRecord(
                id=f"build{self._next_id()}",
                context=found.id,
                generation=begun.generation,
                rebuild=rebuild,
                state=BuildState.RUNNING,
                owner=as_text(owner),
                created_at=as_utc(at),
                started_at=as_utc(at),
                ended_at=None,
                failure_code=None,
                failure_message=None,
            )
            state.builds[build.id] = build
            return build

    def claim_store(self, repository: str, kind: str) -> StoreClaim:
        with self._change() as state:
            owner = find_repository(state, repository)
            key = (fold(repository), kind)
            newest = state.stores.get(key, StoreClaim(owner.name, kind, 0, 0))
            state.stores[key] = replace(newest, claim=newest.claim + 1)
            return state.stores[key]

    def store_state(
        self, repository: str, kind: str, engine: str, engine_version: str
    ) -> StoreState:
        with self._change() as state:
            owner = find_repository(state, repository)
            files = state.files.get(store_key(state, repository, kind), ())
            return StoreState(files, live_keys(state, owner, kind, f"{engine}/{engine_version}"))

    def store_files(self, repository: str, kind: str) -> tuple[StoredFile, ...]:
        with self._change() as state:
            return state.files.get(store_key(state, repository, kind), ())

    def named_files(self, repository: str) -> frozenset[str]:
        with self._change() as state:
            return frozenset(
                file.digest
                for (owner, _), files in state.files.items()
                if owner == fold(repository)
                for file in files
            )

    def publish_store(self, claim: StoreClaim, files: Sequence[StoredFile]) -> None:
        with self._change() as state:
            if not advance(state, claim):
                raise overtaken(claim.repository)
            state.files[store_key(state, claim.repository, claim.kind)] = tuple(files)

    def start_step(self, build: str, step: Step, repository: str, at: datetime) -> int:
        with self._change() as state:
            found = find_build(state, build)
            if found.state is not BuildState.RUNNING:
                raise lost_turn(state, found)
            member = find_repository(state, repository).name
            if member not in {
                each.repository for each in find_context(state, found.context).members
            }:
                raise LifecycleError(
                    BuildCode.REPOSITORY_NOT_FOUND,
                    f'repository "{member}" is no member of context "{found.context}"',
                    {"repository": member, "context": found.context},
                )
            opened = StepRecord(self._next_id(), step, member, as_utc(at), None, None, {}, "")
            state.builds[build] = replace(found, steps=(*found.steps, opened))
            return opened.id

    def finish_step(
        self, step: int, outcome: StepOutcome, counts: Mapping[str, int], message: str, at: datetime
    ) -> None:
        with self._change() as state:
            build, opened = find_step(state, step)
            if opened.outcome is not None:
                raise lost_turn(state, build)
            closed = replace(
                opened,
                outcome=outcome,
                counts=dict(counts),
                message=as_text(message),
                ended_at=as_utc(at),
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
            running = find_build(state, build)
            context = find_context(state, running.context)
            check_turn(state, running, context)
            check_made(context, members)
            for claim in claims:
                if not advance(state, claim):
                    raise lost_turn(state, running)
            put_files(state, running, members, claims)
            state.builds[build] = replace(running, state=BuildState.SUCCEEDED, ended_at=as_utc(at))
            built = with_artifacts(context, members)
            if running.rebuild:
                return put_context(state, replace(built, updated_at=as_utc(at)))
            return moved_to(state, built, ContextState.READY, at)

    def fail_build(
        self, build: str, state: BuildState, code: str, message: str, at: datetime
    ) -> ContextRecord:
        with self._change() as now:
            outcome = cut_off(state)
            running = find_build(now, build)
            context = find_context(now, running.context)
            if running.state is not BuildState.RUNNING:
                return context
            now.builds[build] = replace(
                running,
                state=state,
                ended_at=as_utc(at),
                failure_code=code,
                failure_message=as_text(message),
                steps=tuple(cut(step, outcome, message, at) for step in running.steps),
            )
            if running.rebuild:
                return context
            return moved_to(now, context, ContextState.FAILED, at, code, message)

    def fail_unbuilt(self, context: str, code: str, message: str, at: datetime) -> ContextRecord:
        with self._change() as state:
            found = find_context(state, context)
            if found.state is not ContextState.PENDING:
                raise IllegalTransition(found.id, found.shown_state, ContextState.FAILED)
            return moved_to(state, found, ContextState.FAILED, at, code, message)

    def build(self, build: str) -> BuildRecord:
        with self._change() as state:
            return find_build(state, build)

    def last_build(self, context: str) -> BuildRecord | None:
        with self._change() as state:
            builds = builds_of(state, find_context(state, context))
            return max(builds, key=lambda build: build.generation, default=None)

    def running_builds(self) -> Sequence[BuildRecord]:
        with self._change() as state:
            running = [
                build for build in state.builds.values() if build.state is BuildState.RUNNING
            ]
            return sorted(running, key=lambda build: build.context)

    def mark_removing(self, context: str, at: datetime) -> ContextRecord:
        with self._change() as state:
            found = find_context(state, context)
            if found.removing_since is not None:
                return found
            return put_context(
                state, replace(found, removing_since=as_utc(at), updated_at=as_utc(at))
            )

    def delete_context(self, context: str) -> None:
        with self._change() as state:
            found = find_context(state, context)
            if found.removing_since is None:
                raise IllegalTransition(found.id, found.state, "deleted while it is served")
            for build in builds_of(state, found):
                del state.builds[build.id]
            del state.contexts[fold(context)]

    def revision(self) -> str:
        with self._change():
            return "memory"

    def integrity(self) -> Sequence[str]:
        with self._change():
            return []

    def close(self) -> None:
        self._closed = True

    @contextmanager
    def _change(self) -> Iterator[State]:
        """A copy of everything that becomes the truth unless the body raises."""
        with self._lock:
            if self._closed:
                raise refusal("the catalogue is closed")
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
