"""What is asked and said about repositories, inside a caller's transaction."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from ..errors import BuildCode, LifecycleError
from ..names import check_name
from ..ports.catalogue import RepositoryRecord
from .records import repository_record
from .tables import ContextRow, MemberRow, RepositoryRow


def fold(name: str) -> str:
    """The spelling by which names are equal; empty for what can be nobody's name.

    Lower-casing alone would make ASCII of some other letters, the Kelvin sign for one.
    """
    return name.lower() if name.isascii() else ""


def printable(name: str) -> str:
    """A name from outside, fit for a message."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")[:200]


def find(session: Session, name: str) -> RepositoryRow:
    """The row; REPOSITORY_NOT_FOUND."""
    row = session.scalar(select(RepositoryRow).where(RepositoryRow.folded == fold(name)))
    if row is None:
        shown = printable(name)
        raise LifecycleError(
            BuildCode.REPOSITORY_NOT_FOUND,
            f'no repository is called "{shown}"; `vacmcp repo list` shows those there are',
            {"repository": shown},
        )
    return row


def add(session: Session, name: str, url: str, at: datetime) -> RepositoryRecord:
    check_name("repository", name)
    taken = session.scalar(select(RepositoryRow).where(RepositoryRow.folded == fold(name)))
    if taken is not None:
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f'there is a repository "{taken.name}" already; choose another name',
            {"repository": taken.name},
        )
    row = RepositoryRow(name=name, folded=fold(name), url=url, created_at=at)
    session.add(row)
    session.flush()
    session.refresh(row)
    return repository_record(row)


def all_by_name(session: Session) -> Sequence[RepositoryRecord]:
    rows = session.scalars(select(RepositoryRow))
    return sorted((repository_record(row) for row in rows), key=lambda record: record.name)


def record_sync(session: Session, name: str, at: datetime, error: str | None) -> RepositoryRecord:
    row = find(session, name)
    row.last_sync_error = error
    if error is None:
        row.last_sync_at = at
    session.flush()
    session.refresh(row)
    return repository_record(row)


def contexts_of(session: Session, repository: str) -> Sequence[str]:
    row = find(session, repository)
    names = session.scalars(
        select(ContextRow.name).join(MemberRow).where(MemberRow.repository_id == row.id)
    )
    return sorted(names)


def remove(session: Session, name: str) -> None:
    row = find(session, name)
    holders = list(contexts_of(session, name))
    if holders:
        raise LifecycleError(
            BuildCode.INVALID_ARGUMENT,
            f'repository "{row.name}" is held by {", ".join(holders)}; remove them first '
            "with `vacmcp context remove NAME`",
            {"repository": row.name, "contexts": holders},
        )
    session.execute(delete(RepositoryRow).where(RepositoryRow.id == row.id))
