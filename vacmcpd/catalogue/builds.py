"""What is asked and said about builds, inside a caller's transaction."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy import select, text, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session, joinedload, selectinload

from ..errors import BuildCode, LifecycleError
from ..model import BuildState, ContextState, Step, StepOutcome
from ..ports.catalogue import BuildRecord, BuiltMember, ContextRecord, StoreClaim
from ..states import check_built, check_coverage, check_rebuild, cut_off, lost
from . import contexts, repositories, stores
from .records import build_record, context_record, member, put_artifacts
from .tables import BuildRow, ContextRow, CoverageRow, MemberRow, StepRow

_WHOLE = (
    joinedload(BuildRow.context),
    selectinload(BuildRow.steps).options(joinedload(StepRow.repository)),
)


def find(session: Session, build: str) -> BuildRow:
    """The row; CONTEXT_NOT_FOUND, because builds go when their context does."""
    row = session.scalar(
        select(BuildRow)
        .where(BuildRow.id == repositories.printable(build))
        .options(*_WHOLE)
        .execution_options(populate_existing=True)
    )
    if row is None:
        raise _gone(f"build {repositories.printable(build)}")
    return row


def record(session: Session, build: str) -> BuildRecord:
    return build_record(find(session, build))


def last_of(session: Session, context: str) -> BuildRecord | None:
    owner = contexts.find(session, context)
    newest = (
        select(BuildRow)
        .where(BuildRow.context_id == owner.id)
        .order_by(BuildRow.generation.desc())
        .limit(1)
        .options(*_WHOLE)
    )
    row = session.scalar(newest)
    return None if row is None else build_record(row)


_ANY_RUNNING = text("SELECT 1 FROM builds WHERE state = 'RUNNING' LIMIT 1")


def running(session: Session) -> Sequence[BuildRecord]:
    # Every command asks this and nearly always nothing runs: making the statement below, with
    # its joins, takes longer than all else that a listing does.
    if session.execute(_ANY_RUNNING).first() is None:
        return []
    rows = session.scalars(
        select(BuildRow).where(BuildRow.state == BuildState.RUNNING).options(*_WHOLE)
    )
    return sorted((build_record(row) for row in rows), key=lambda found: found.context)


def begin(session: Session, context: str, owner: str, rebuild: bool, at: datetime) -> BuildRecord:
    row = contexts.find(session, context)
    generation = row.generation + 1
    if rebuild:
        check_rebuild(row.name, row.state, row.removing_since is not None, _under_way(session, row))
        contexts.touch(session, row, at, generation)
    else:
        contexts.move(session, row, ContextState.BUILDING, at, generation=generation)
    build = BuildRow(
        # The name of a lock file too, and never given twice: a dead builder's stays its own.
        id=secrets.token_hex(16),
        context_id=row.id,
        generation=generation,
        rebuild=rebuild,
        state=BuildState.RUNNING,
        owner=owner,
        created_at=at,
        started_at=at,
    )
    session.add(build)
    session.flush()
    return record(session, build.id)


def start_step(session: Session, build: str, step: Step, repository: str, at: datetime) -> int:
    row = find(session, build)
    if row.state is not BuildState.RUNNING:
        raise _lost(row)
    # Only members: looked up through the context, so that a stranger is not found.
    members = contexts.find(session, row.context.name).members
    wanted = repositories.find(session, repository)
    if wanted.id not in {each.repository_id for each in members}:
        raise LifecycleError(
            BuildCode.REPOSITORY_NOT_FOUND,
            f'repository "{wanted.name}" is no member of context "{row.context.name}"',
            {"repository": wanted.name, "context": row.context.name},
        )
    opened = StepRow(
        build_id=row.id, step=step, repository_id=wanted.id, started_at=at, counts={}, message=""
    )
    session.add(opened)
    session.flush()
    return opened.id


def finish_step(
    session: Session,
    step: int,
    outcome: StepOutcome,
    counts: Mapping[str, int],
    message: str,
    at: datetime,
) -> None:
    row = session.get(StepRow, step)
    if row is None:
        raise _gone(f"build step {step}")
    if row.outcome is not None:
        raise _lost(find(session, row.build_id))
    row.outcome, row.counts, row.message, row.ended_at = outcome, dict(counts), message, at


def publish(
    session: Session,
    build: str,
    members: Sequence[BuiltMember],
    claims: Sequence[StoreClaim],
    at: datetime,
) -> ContextRecord:
    row = find(session, build)
    context = contexts.find(session, row.context.name)
    _check_turn(row, context)
    _check_made(context, members)
    for claim in claims:
        if not stores.advance(session, claim):
            raise _lost(row)
    for made in members:
        _put(session, context, made, at)
    _put_files(session, row, members, claims)
    session.flush()
    _end(session, row, BuildState.SUCCEEDED, at)
    if row.rebuild:
        contexts.touch(session, context, at, row.generation)
    else:
        contexts.move(session, context, ContextState.READY, at)
    return contexts.record(session, context.name)


def fail(
    session: Session, build: str, state: BuildState, code: str, message: str, at: datetime
) -> ContextRecord:
    outcome = cut_off(state)
    row = find(session, build)
    context = contexts.find(session, row.context.name)
    if row.state is not BuildState.RUNNING:
        return context_record(context)
    for step in row.steps:
        if step.outcome is None:
            step.outcome, step.message, step.ended_at = outcome, message, at
    session.flush()
    _end(session, row, state, at, (code, message))
    if not row.rebuild:
        contexts.move(session, context, ContextState.FAILED, at, failure=(code, message))
    return contexts.record(session, context.name)


def _under_way(session: Session, context: ContextRow) -> bool:
    open_states = (BuildState.QUEUED, BuildState.RUNNING)
    found = select(BuildRow.id).where(
        BuildRow.context_id == context.id, BuildRow.state.in_(open_states)
    )
    return session.scalar(found) is not None


def _check_turn(build: BuildRow, context: ContextRow) -> None:
    expected = ContextState.READY if build.rebuild else ContextState.BUILDING
    if (
        build.state is not BuildState.RUNNING
        or build.generation != context.generation
        or context.state is not expected
        or context.removing_since is not None
    ):
        raise _lost(build)


def _check_made(context: ContextRow, members: Iterable[BuiltMember]) -> None:
    made = list(members)
    pins = [member(row) for row in context.members]
    check_built(context.name, pins, [(each.repository, (each.search, each.graph)) for each in made])
    by_name = {repositories.fold(pin.repository): pin for pin in pins}
    for each in made:
        check_coverage(context.name, by_name[repositories.fold(each.repository)], each.coverage)


def _end(
    session: Session,
    build: BuildRow,
    state: BuildState,
    at: datetime,
    failure: tuple[str | None, str | None] = (None, None),
) -> None:
    code, message = failure
    done = session.execute(
        update(BuildRow)
        .where(BuildRow.id == build.id, BuildRow.state == BuildState.RUNNING)
        .values(state=state, ended_at=at, failure_code=code, failure_message=message)
        .execution_options(synchronize_session=False)
    )
    assert isinstance(done, CursorResult)
    if done.rowcount != 1:
        raise _lost(build)


def _put(session: Session, context: ContextRow, made: BuiltMember, at: datetime) -> None:
    row = _member(context, made.repository)
    put_artifacts(row, made.search, made.graph, at)
    coverage = made.coverage
    session.merge(
        CoverageRow(
            context_id=context.id,
            position=row.position,
            files=coverage.files,
            searched=coverage.searched,
            skipped=dict(coverage.skipped),
        )
    )


def _put_files(
    session: Session,
    build: BuildRow,
    members: Iterable[BuiltMember],
    claims: Iterable[StoreClaim],
) -> None:
    claimed = {(repositories.fold(claim.repository), claim.kind): claim for claim in claims}
    for made in members:
        for kind, files in made.files.items():
            mine = claimed.get((repositories.fold(made.repository), kind))
            if mine is None:
                raise _lost(build)
            stores.replace(session, mine, files)


def _member(context: ContextRow, repository: str) -> MemberRow:
    wanted = repositories.fold(repository)
    return next(row for row in context.members if row.repository.folded == wanted)


def _lost(build: BuildRow) -> LifecycleError:
    context = build.context
    return lost(context.name, context.state, context.removing_since is not None, build.id)


def _gone(what: str) -> LifecycleError:
    return LifecycleError(
        BuildCode.CONTEXT_NOT_FOUND, f"{what} is not on record; its context was removed"
    )
