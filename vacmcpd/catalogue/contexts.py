"""What is asked and said about contexts, inside a caller's transaction.

Every move is ``UPDATE … WHERE state = … AND generation = …`` of what was read, whatever the
isolation of the database is.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session, joinedload, selectinload

from ..errors import BuildCode, IllegalTransition, LifecycleError
from ..model import ContextState, Member
from ..names import check_name
from ..ports.catalogue import ContextRecord
from ..states import CONTEXT_BIRTH, check_birth, check_move, shown
from . import repositories
from .records import context_record
from .repositories import fold, printable
from .tables import ContextRow, MemberRow

_WHOLE = selectinload(ContextRow.members).options(
    joinedload(MemberRow.repository), joinedload(MemberRow.coverage)
)


def find(session: Session, name: str) -> ContextRow:
    """The row with its members, as the database has it now; CONTEXT_NOT_FOUND."""
    row = session.scalar(
        select(ContextRow)
        .where(ContextRow.folded == fold(name))
        .options(_WHOLE)
        .execution_options(populate_existing=True)
    )
    if row is None:
        asked = printable(name)
        raise LifecycleError(
            BuildCode.CONTEXT_NOT_FOUND,
            f'no context is called "{asked}"; `vacmcp context list` shows those there are',
            {"context": asked},
        )
    return row


def record(session: Session, name: str) -> ContextRecord:
    return context_record(find(session, name))


def all_by_id(session: Session) -> Sequence[ContextRecord]:
    rows = session.scalars(select(ContextRow).options(_WHOLE))
    return sorted((context_record(row) for row in rows), key=lambda found: found.id)


def create(session: Session, name: str, members: Sequence[Member], at: datetime) -> ContextRecord:
    check_name("context", name)
    check_birth(name, members)
    taken = session.scalar(select(ContextRow).where(ContextRow.folded == fold(name)))
    if taken is not None:
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f'there is a context "{taken.name}" already; choose another name, or remove it first '
            f"with `vacmcp context remove {taken.name}`",
            {"context": taken.name},
        )
    row = ContextRow(
        name=name,
        folded=fold(name),
        state=CONTEXT_BIRTH,
        generation=0,
        created_at=at,
        updated_at=at,
    )
    row.members = [
        MemberRow(
            position=position,
            repository_id=repositories.find(session, member.repository).id,
            ref=member.branch,
            revision=member.revision,
        )
        for position, member in enumerate(members)
    ]
    session.add(row)
    session.flush()
    return record(session, name)


def move(
    session: Session,
    row: ContextRow,
    wanted: ContextState,
    at: datetime,
    *,
    generation: int | None = None,
    failure: tuple[str | None, str | None] = (None, None),
) -> None:
    """``row.state`` → ``wanted``; IllegalTransition when the table or the database says no."""
    check_move(row.name, row.state, wanted, row.removing_since is not None)
    code, message = failure
    _guarded(
        session,
        row,
        wanted,
        state=wanted,
        generation=row.generation if generation is None else generation,
        updated_at=at,
        failure_code=code,
        failure_message=message,
    )


def touch(session: Session, row: ContextRow, at: datetime, generation: int) -> None:
    """A rebuild beside the state: its generation in, the state left as it is."""
    _guarded(session, row, row.state, generation=generation, updated_at=at)


def _guarded(session: Session, row: ContextRow, wanted: ContextState, **values: object) -> None:
    done = session.execute(
        update(ContextRow)
        .where(
            ContextRow.id == row.id,
            ContextRow.state == row.state,
            ContextRow.generation == row.generation,
        )
        .values(values)
        .execution_options(synchronize_session=False)
    )
    assert isinstance(done, CursorResult)
    if done.rowcount != 1:
        current = session.scalar(select(ContextRow.state).where(ContextRow.id == row.id))
        raise IllegalTransition(row.name, str(current), wanted)


def requeue(session: Session, name: str, at: datetime) -> ContextRecord:
    move(session, find(session, name), ContextState.PENDING, at)
    return record(session, name)


def fail_unbuilt(
    session: Session, name: str, code: str, message: str, at: datetime
) -> ContextRecord:
    row = find(session, name)
    # A BUILDING context may fail too, but only together with its build.
    if row.state is not ContextState.PENDING:
        raise IllegalTransition(
            row.name, shown(row.state, row.removing_since is not None), ContextState.FAILED
        )
    move(session, row, ContextState.FAILED, at, failure=(code, message))
    return record(session, name)


def mark_removing(session: Session, name: str, at: datetime) -> ContextRecord:
    row = find(session, name)
    if row.removing_since is None:
        row.removing_since = row.updated_at = at
        session.flush()
    return record(session, name)


def remove(session: Session, name: str) -> None:
    row = find(session, name)
    if row.removing_since is None:
        raise IllegalTransition(row.name, row.state, "deleted before it is marked for removal")
    session.execute(delete(ContextRow).where(ContextRow.id == row.id))
