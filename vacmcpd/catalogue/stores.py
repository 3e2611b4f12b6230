"""What is asked and said about the stores of repositories, inside a caller's transaction."""

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.engine import CursorResult
from sqlalchemy.orm import Session

from ..model import ArtifactKind
from ..ports.artifacts import StoredFile
from ..ports.builders import StoreState
from ..ports.catalogue import StoreClaim
from ..states import overtaken
from . import repositories
from .tables import ContextRow, MemberRow, RepositoryRow, StoreFileRow, StoreRow

STORE_FORMAT = 1

_MADE = {
    str(ArtifactKind.SEARCH): (
        MemberRow.search_key,
        MemberRow.search_engine,
        MemberRow.search_engine_version,
    ),
    str(ArtifactKind.GRAPH): (
        MemberRow.graph_key,
        MemberRow.graph_engine,
        MemberRow.graph_engine_version,
    ),
}


def claim(session: Session, repository: str, kind: str) -> StoreClaim:
    owner = repositories.find(session, repository)
    store = session.get(StoreRow, (owner.id, kind))
    if store is None:
        store = StoreRow(
            repository_id=owner.id, kind=kind, format=STORE_FORMAT, generation=0, claim=0
        )
        session.add(store)
    store.claim += 1
    session.flush()
    return StoreClaim(owner.name, kind, store.claim, store.generation)


def state(
    session: Session, repository: str, kind: str, engine: str, engine_version: str
) -> StoreState:
    owner = repositories.find(session, repository)
    return StoreState(
        _files(session, owner, kind), _live(session, owner, kind, engine, engine_version)
    )


def files(session: Session, repository: str, kind: str) -> tuple[StoredFile, ...]:
    return _files(session, repositories.find(session, repository), kind)


def named(session: Session, repository: str) -> frozenset[str]:
    found = session.execute(
        select(StoreFileRow.digest)
        .join(RepositoryRow, RepositoryRow.id == StoreFileRow.repository_id)
        .where(RepositoryRow.folded == repositories.fold(repository))
    )
    return frozenset(digest for (digest,) in found)


def publish(session: Session, claimed: StoreClaim, made: Sequence[StoredFile]) -> None:
    if not advance(session, claimed):
        raise overtaken(claimed.repository)
    replace(session, claimed, made)


def advance(session: Session, claimed: StoreClaim) -> bool:
    """The store's next generation, if nobody claimed the store since and nobody moved it."""
    owner = repositories.find(session, claimed.repository)
    done = session.execute(
        update(StoreRow)
        .where(
            StoreRow.repository_id == owner.id,
            StoreRow.kind == claimed.kind,
            StoreRow.claim == claimed.claim,
            StoreRow.generation == claimed.generation,
        )
        .values(generation=claimed.generation + 1)
        .execution_options(synchronize_session=False)
    )
    assert isinstance(done, CursorResult)
    return done.rowcount == 1


def replace(session: Session, claimed: StoreClaim, made: Iterable[StoredFile]) -> None:
    """Let ``made`` be all the files of a store that :func:`advance` has moved."""
    owner = repositories.find(session, claimed.repository)
    session.execute(delete(StoreFileRow).where(*_of(owner, claimed.kind)))
    rows = [
        {
            "repository_id": owner.id,
            "kind": claimed.kind,
            "position": position,
            "role": file.role,
            "digest": file.digest,
            "size": file.size,
        }
        for position, file in enumerate(made)
    ]
    if rows:
        session.execute(insert(StoreFileRow), rows)


def _files(session: Session, owner: RepositoryRow, kind: str) -> tuple[StoredFile, ...]:
    found = session.execute(
        select(StoreFileRow.role, StoreFileRow.digest, StoreFileRow.size)
        .where(*_of(owner, kind))
        .order_by(StoreFileRow.position)
    )
    return tuple(StoredFile(role, digest, size) for role, digest, size in found)


def _live(
    session: Session, owner: RepositoryRow, kind: str, engine: str, engine_version: str
) -> frozenset[str]:
    if kind not in _MADE:
        return frozenset()
    key, by, version = _MADE[kind]
    found = session.execute(
        select(key)
        .join(ContextRow, ContextRow.id == MemberRow.context_id)
        .where(
            MemberRow.repository_id == owner.id,
            ContextRow.removing_since.is_(None),
            by == engine,
            version == engine_version,
        )
    )
    return frozenset(named for (named,) in found if named is not None)


def _of(owner: RepositoryRow, kind: str) -> tuple[ColumnElement[bool], ...]:
    return (StoreFileRow.repository_id == owner.id, StoreFileRow.kind == kind)
