"""Rows as the values of ``ports/catalogue.py``; whatever a value needs must have been loaded."""

from datetime import datetime

from ..model import Artifact, ArtifactKind, Member, MemberCoverage
from ..ports.catalogue import BuildRecord, ContextRecord, RepositoryRecord, StepRecord
from .tables import BuildRow, ContextRow, MemberRow, RepositoryRow, StepRow


def repository_record(row: RepositoryRow) -> RepositoryRecord:
    return RepositoryRecord(
        row.name, row.url, row.created_at, row.last_sync_at, row.last_sync_error
    )


def context_record(row: ContextRow) -> ContextRecord:
    return ContextRecord(
        id=row.name,
        state=row.state,
        generation=row.generation,
        members=tuple(member(each) for each in row.members),
        created_at=row.created_at,
        updated_at=row.updated_at,
        removing_since=row.removing_since,
        failure_code=row.failure_code,
        failure_message=row.failure_message,
        coverage=tuple(found for each in row.members if (found := _coverage(each))),
    )


def member(row: MemberRow) -> Member:
    return Member(
        row.repository.name,
        row.ref,
        row.revision,
        _artifact(
            ArtifactKind.SEARCH,
            row.search_engine,
            row.search_engine_version,
            row.search_key,
            row.search_revision,
        ),
        _artifact(
            ArtifactKind.GRAPH,
            row.graph_engine,
            row.graph_engine_version,
            row.graph_key,
            row.graph_revision,
        ),
    )


def put_artifacts(row: MemberRow, search: Artifact, graph: Artifact, at: datetime) -> None:
    """Record what was built of a member, and when."""
    row.search_engine, row.search_engine_version = search.engine, search.engine_version
    row.search_key, row.search_revision, row.search_built_at = search.key, search.revision, at
    row.graph_engine, row.graph_engine_version = graph.engine, graph.engine_version
    row.graph_key, row.graph_revision, row.graph_built_at = graph.key, graph.revision, at


def build_record(row: BuildRow) -> BuildRecord:
    return BuildRecord(
        id=row.id,
        context=row.context.name,
        generation=row.generation,
        rebuild=row.rebuild,
        state=row.state,
        owner=row.owner,
        created_at=row.created_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        failure_code=row.failure_code,
        failure_message=row.failure_message,
        steps=tuple(_step(step) for step in row.steps),
    )


def _step(row: StepRow) -> StepRecord:
    return StepRecord(
        row.id,
        row.step,
        row.repository.name,
        row.started_at,
        row.ended_at,
        row.outcome,
        row.counts,
        row.message,
    )


def _coverage(row: MemberRow) -> MemberCoverage | None:
    found = row.coverage
    if found is None:
        return None
    return MemberCoverage(
        row.repository.name, row.revision, found.files, found.searched, found.skipped
    )


def _artifact(kind: ArtifactKind, *parts: str | None) -> Artifact | None:
    engine, version, key, revision = parts
    if engine is None or version is None or key is None or revision is None:
        return None
    return Artifact(kind, engine, version, key, revision)
