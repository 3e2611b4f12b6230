"""The record of repositories, contexts and builds; it alone decides who wins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

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
from .artifacts import StoredFile
from .builders import StoreState


@dataclass(frozen=True, slots=True)
class RepositoryRecord:
    """A managed repository. ``last_sync_error`` is ``CODE: message`` of the last failed sync."""

    name: str
    url: str
    created_at: datetime
    last_sync_at: datetime | None
    last_sync_error: str | None


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step of one build for one member (``repository``)."""

    id: int
    step: Step
    repository: str
    started_at: datetime
    ended_at: datetime | None
    outcome: StepOutcome | None
    counts: Mapping[str, int]
    message: str


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """One attempt to build a context. ``rebuild``: the context stays READY beside it."""

    id: str
    context: str
    generation: int
    rebuild: bool
    state: BuildState
    owner: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    failure_code: str | None
    failure_message: str | None
    steps: tuple[StepRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextRecord:
    """A context with its pins. ``removing_since`` set: only ``remove`` accepts it.

    ``generation`` counts build attempts and fences their writes.
    """

    id: str
    state: ContextState
    generation: int
    members: tuple[Member, ...]
    created_at: datetime
    updated_at: datetime
    removing_since: datetime | None
    failure_code: str | None
    failure_message: str | None
    coverage: tuple[MemberCoverage, ...] = ()

    @property
    def shown_state(self) -> str:
        """The state as commands print it; REMOVING hides what was before."""
        return "REMOVING" if self.removing_since else str(self.state)


@dataclass(frozen=True, slots=True)
class StoreClaim:
    """A builder's ticket for one store: it may publish only while it is still the newest."""

    repository: str
    kind: str
    claim: int
    generation: int


@dataclass(frozen=True, slots=True)
class BuiltMember:
    """What a build made for one member: its artifacts and what they cover.

    ``search_files`` and ``graph_files`` are the next generations of its stores, whole; None leaves
    the files as they are.
    """

    repository: str
    search: Artifact
    graph: Artifact
    coverage: MemberCoverage
    search_files: tuple[StoredFile, ...] | None = None
    graph_files: tuple[StoredFile, ...] | None = None

    @property
    def files(self) -> dict[ArtifactKind, tuple[StoredFile, ...]]:
        """The stores' next generations, by kind."""
        made = {ArtifactKind.SEARCH: self.search_files, ArtifactKind.GRAPH: self.graph_files}
        return {kind: files for kind, files in made.items() if files is not None}


class Catalogue(Protocol):
    """Every method is one transaction. Names are compared without regard to case.

    Unknown names raise REPOSITORY_NOT_FOUND or CONTEXT_NOT_FOUND, taken ones INVALID_ARGUMENT,
    moves that the state machine does not have :class:`IllegalTransition`. Times are UTC.
    """

    def add_repository(self, name: str, url: str, at: datetime) -> RepositoryRecord:
        """Record a repository whose clone is whole."""
        ...

    def repository(self, name: str) -> RepositoryRecord:
        """One repository."""
        ...

    def repositories(self) -> Sequence[RepositoryRecord]:
        """All, by name."""
        ...

    def record_sync(self, name: str, at: datetime, error: str | None) -> RepositoryRecord:
        """The outcome of a sync; an error leaves ``last_sync_at`` as it was."""
        ...

    def remove_repository(self, name: str) -> None:
        """Forget it. INVALID_ARGUMENT (details ``contexts``) while a context names it."""
        ...

    def create_context(
        self, context: str, members: Sequence[Member], at: datetime
    ) -> ContextRecord:
        """A PENDING context with full pins; generation 0."""
        ...

    def context(self, context: str) -> ContextRecord:
        """One context."""
        ...

    def contexts(self) -> Sequence[ContextRecord]:
        """All, by id in byte order."""
        ...

    def contexts_of(self, repository: str) -> Sequence[str]:
        """The ids of the contexts that name this repository, removing ones too."""
        ...

    def requeue(self, context: str, at: datetime) -> ContextRecord:
        """FAILED → PENDING, the failure forgotten."""
        ...

    def begin_build(self, context: str, owner: str, rebuild: bool, at: datetime) -> BuildRecord:
        """Start an attempt: PENDING → BUILDING, or a row beside a READY context (``rebuild``).

        Of several callers exactly one gets the build, the others IllegalTransition.
        """
        ...

    def claim_store(self, repository: str, kind: str) -> StoreClaim:
        """Take the next claim number of one store."""
        ...

    def store_state(
        self, repository: str, kind: str, engine: str, engine_version: str
    ) -> StoreState:
        """The store's current generation, empty where nothing was published yet.

        ``live`` are the keys of the artifacts of this kind (``search`` or ``graph``) and this
        engine and version in contexts of any state that are not being removed.
        """
        ...

    def store_files(self, repository: str, kind: str) -> tuple[StoredFile, ...]:
        """The files of the store's current generation, in their order."""
        ...

    def named_files(self, repository: str) -> frozenset[str]:
        """The digests of all files of all stores of a repository; none for an unknown one."""
        ...

    def publish_store(self, claim: StoreClaim, files: Sequence[StoredFile]) -> None:
        """Advance one store to a generation of ``files``, without a build.

        INTERRUPTED when the claim is no longer its store's newest.
        """
        ...

    def start_step(self, build: str, step: Step, repository: str, at: datetime) -> int:
        """Record that a step begins, before its work does; returns its id."""
        ...

    def finish_step(
        self, step: int, outcome: StepOutcome, counts: Mapping[str, int], message: str, at: datetime
    ) -> None:
        """Record how it ended."""
        ...

    def publish(
        self,
        build: str,
        members: Sequence[BuiltMember],
        claims: Sequence[StoreClaim],
        at: datetime,
    ) -> ContextRecord:
        """In one transaction: artifacts and coverage in, stores advanced, build SUCCEEDED, READY.

        IllegalTransition when the build no longer runs at the context's generation, or a claim
        is no longer its store's newest: the caller lost and throws its files away. So is who
        gives files of a store that it did not claim.
        """
        ...

    def fail_build(
        self, build: str, state: BuildState, code: str, message: str, at: datetime
    ) -> ContextRecord:
        """RUNNING → FAILED or INTERRUPTED; the context too unless it was a rebuild.

        Steps still open are closed with the same outcome. A build that has already ended is left
        as it is.
        """
        ...

    def fail_unbuilt(self, context: str, code: str, message: str, at: datetime) -> ContextRecord:
        """PENDING → FAILED for a context whose creator died before its build began."""
        ...

    def build(self, build: str) -> BuildRecord:
        """One build with its steps."""
        ...

    def last_build(self, context: str) -> BuildRecord | None:
        """The newest attempt for a context, with its steps."""
        ...

    def running_builds(self) -> Sequence[BuildRecord]:
        """Every build that claims to run."""
        ...

    def mark_removing(self, context: str, at: datetime) -> ContextRecord:
        """Any state; idempotent. From here on it is served by nobody."""
        ...

    def delete_context(self, context: str) -> None:
        """Delete a context that is being removed, with its builds, steps and coverage."""
        ...

    def revision(self) -> str:
        """The schema revision of the open catalogue."""
        ...

    def integrity(self) -> Sequence[str]:
        """What SQLite's integrity and foreign key checks find; empty when all is well."""
        ...

    def close(self) -> None:
        """Release the file; idempotent."""
        ...
