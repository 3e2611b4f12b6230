"""The tables of the catalogue, as SQLAlchemy maps them.

A name is kept twice: as it was given, and folded to lower case under a unique constraint. Only
ASCII letters are names, so the folded column means the same in every database, which SQLite's
``COLLATE NOCASE`` and PostgreSQL's collations do not, and looking a name up is one equality on an
index. What can be said as a CHECK is one; what compares a row with what it was before is a
trigger, generated here from the table of moves.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from sqlalchemy import (
    DDL,
    BigInteger,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    MetaData,
    String,
    UniqueConstraint,
    event,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from ..model import BuildState, ContextState, Step, StepOutcome
from ..states import BUILD_MOVES, CONTEXT_BIRTH, CONTEXT_MOVES
from .types import Counts, Prose, UtcDateTime, states

_State = TypeVar("_State", bound=StrEnum)
NAME, KEY, REVISION, CODE, DIGEST = (String(length) for length in (100, 100, 64, 64, 64))


class Base(DeclarativeBase):
    """Constraints get names by rule, so that a migration can name what it drops."""

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
        }
    )


class RepositoryRow(Base):
    """A managed clone."""

    __tablename__ = "repositories"
    __table_args__ = (UniqueConstraint("folded"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    folded: Mapped[str] = mapped_column(NAME)
    url: Mapped[str] = mapped_column(Prose)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_sync_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    last_sync_error: Mapped[str | None] = mapped_column(Prose)


class ContextRow(Base):
    """A context; ``generation`` counts its builds and fences their writes."""

    __tablename__ = "contexts"
    __table_args__ = (
        UniqueConstraint("folded"),
        CheckConstraint("(state = 'FAILED') = (failure_code IS NOT NULL)", name="failure"),
        CheckConstraint("generation >= 0", name="generation"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    folded: Mapped[str] = mapped_column(NAME)
    state: Mapped[ContextState] = mapped_column(states(ContextState, "state"))
    generation: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    removing_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    failure_code: Mapped[str | None] = mapped_column(CODE)
    failure_message: Mapped[str | None] = mapped_column(Prose)

    members: Mapped[list["MemberRow"]] = relationship(
        order_by="MemberRow.position", lazy="raise", passive_deletes="all", cascade="save-update"
    )


class MemberRow(Base):
    """One pinned repository of a context, and what was built of it: both artifacts or none."""

    __tablename__ = "members"
    __table_args__ = (
        UniqueConstraint("context_id", "repository_id"),
        CheckConstraint("length(revision) IN (40, 64)", name="revision"),
        CheckConstraint(
            "(search_engine IS NULL) = (search_engine_version IS NULL)"
            " AND (search_engine IS NULL) = (search_key IS NULL)"
            " AND (search_engine IS NULL) = (search_revision IS NULL)"
            " AND (search_engine IS NULL) = (search_built_at IS NULL)",
            name="search",
        ),
        CheckConstraint(
            "(graph_engine IS NULL) = (graph_engine_version IS NULL)"
            " AND (graph_engine IS NULL) = (graph_key IS NULL)"
            " AND (graph_engine IS NULL) = (graph_revision IS NULL)"
            " AND (graph_engine IS NULL) = (graph_built_at IS NULL)",
            name="graph",
        ),
    )

    context_id: Mapped[int] = mapped_column(
        ForeignKey("contexts.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"), index=True)
    ref: Mapped[str] = mapped_column(Prose)
    revision: Mapped[str] = mapped_column(REVISION)
    search_engine: Mapped[str | None] = mapped_column(KEY)
    search_engine_version: Mapped[str | None] = mapped_column(KEY)
    search_key: Mapped[str | None] = mapped_column(KEY)
    search_revision: Mapped[str | None] = mapped_column(REVISION)
    search_built_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    graph_engine: Mapped[str | None] = mapped_column(KEY)
    graph_engine_version: Mapped[str | None] = mapped_column(KEY)
    graph_key: Mapped[str | None] = mapped_column(KEY)
    graph_revision: Mapped[str | None] = mapped_column(REVISION)
    graph_built_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    repository: Mapped[RepositoryRow] = relationship(lazy="raise")
    coverage: Mapped["CoverageRow | None"] = relationship(
        lazy="raise", passive_deletes="all", cascade="save-update"
    )


class BuildRow(Base):
    """One attempt to build a context. Of one context at most one build is under way."""

    __tablename__ = "builds"
    __table_args__ = (
        UniqueConstraint("context_id", "generation"),
        CheckConstraint(
            "(state IN ('FAILED', 'INTERRUPTED')) = (failure_code IS NOT NULL)", name="failure"
        ),
        CheckConstraint("(state IN ('QUEUED', 'RUNNING')) = (ended_at IS NULL)", name="ended"),
        # The migration says it for PostgreSQL too; here that would load its dialect at every start.
        Index(
            "ix_builds_under_way",
            "context_id",
            unique=True,
            sqlite_where=text("state IN ('QUEUED', 'RUNNING')"),
        ),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    context_id: Mapped[int] = mapped_column(ForeignKey("contexts.id", ondelete="CASCADE"))
    generation: Mapped[int]
    rebuild: Mapped[bool]
    state: Mapped[BuildState] = mapped_column(states(BuildState, "state"))
    owner: Mapped[str] = mapped_column(Prose)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    started_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    failure_code: Mapped[str | None] = mapped_column(CODE)
    failure_message: Mapped[str | None] = mapped_column(Prose)

    context: Mapped[ContextRow] = relationship(lazy="raise")
    steps: Mapped[list["StepRow"]] = relationship(
        order_by="StepRow.id", lazy="raise", passive_deletes="all", cascade="save-update"
    )


class StepRow(Base):
    """One step of one build for one member; without an outcome it runs, or was cut off."""

    __tablename__ = "build_steps"
    __table_args__ = (
        CheckConstraint("(outcome IS NULL) = (ended_at IS NULL)", name="ended"),
        # Without it SQLite gives the id of a deleted row to the next one, and a builder that
        # lost would finish somebody else's step.
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    build_id: Mapped[str] = mapped_column(ForeignKey("builds.id", ondelete="CASCADE"), index=True)
    step: Mapped[Step] = mapped_column(states(Step, "step"))
    repository_id: Mapped[int] = mapped_column(ForeignKey("repositories.id"), index=True)
    started_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    outcome: Mapped[StepOutcome | None] = mapped_column(states(StepOutcome, "outcome"))
    counts: Mapped[dict[str, int]] = mapped_column(Counts)
    message: Mapped[str] = mapped_column(Prose)

    repository: Mapped[RepositoryRow] = relationship(lazy="raise")


class StoreRow(Base):
    """One kind of store of one repository; only the newest claim may advance ``generation``."""

    __tablename__ = "stores"
    __table_args__ = (CheckConstraint("claim >= 0 AND generation >= 0", name="counters"),)

    repository_id: Mapped[int] = mapped_column(
        ForeignKey("repositories.id", ondelete="CASCADE"), primary_key=True
    )
    kind: Mapped[str] = mapped_column(KEY, primary_key=True)
    format: Mapped[int]
    generation: Mapped[int]
    claim: Mapped[int]


class StoreFileRow(Base):
    """One file of a store's current generation, in its order."""

    __tablename__ = "store_files"
    __table_args__ = (
        ForeignKeyConstraint(
            ["repository_id", "kind"],
            ["stores.repository_id", "stores.kind"],
            ondelete="CASCADE",
        ),
        CheckConstraint("length(digest) = 64", name="digest"),
        CheckConstraint("size >= 0", name="size"),
    )

    repository_id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(KEY, primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    role: Mapped[str] = mapped_column(KEY)
    digest: Mapped[str] = mapped_column(DIGEST)
    size: Mapped[int] = mapped_column(BigInteger)


class CoverageRow(Base):
    """How many files of a member were looked at; ``skipped`` counts the others by reason."""

    __tablename__ = "coverage"
    __table_args__ = (
        ForeignKeyConstraint(
            ["context_id", "position"],
            ["members.context_id", "members.position"],
            ondelete="CASCADE",
        ),
        CheckConstraint("files >= 0 AND searched >= 0", name="counts"),
    )

    context_id: Mapped[int] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    files: Mapped[int]
    searched: Mapped[int]
    skipped: Mapped[dict[str, int]] = mapped_column(Counts)


def move_trigger(table: str, moves: Mapping[_State, frozenset[_State]]) -> str:
    """SQL that aborts an UPDATE of ``table.state`` which ``moves`` does not have."""
    legal = ", ".join(
        f"'{current}>{wanted}'" for current in moves for wanted in sorted(moves[current])
    )
    return (
        f"CREATE TRIGGER {table}_move BEFORE UPDATE OF state ON {table}"
        " WHEN OLD.state <> NEW.state"
        f" AND OLD.state || '>' || NEW.state NOT IN ({legal})"
        f" BEGIN SELECT RAISE(ABORT, '{table}: no such move'); END"
    )


TRIGGERS = (
    move_trigger("contexts", CONTEXT_MOVES),
    move_trigger("builds", BUILD_MOVES),
    "CREATE TRIGGER contexts_birth BEFORE INSERT ON contexts"
    f" WHEN NEW.state <> '{CONTEXT_BIRTH}'"
    " BEGIN SELECT RAISE(ABORT, 'contexts: no such birth'); END",
)
"""What ``metadata.create_all`` and the migrations make on SQLite, beside the tables."""

for _trigger in TRIGGERS:
    # SQLAlchemy leaves the parameters of DDL unannotated; "%" would begin one of its fields.
    _ddl = DDL(_trigger.replace("%", "%%"))  # type: ignore[no-untyped-call]
    event.listen(Base.metadata, "after_create", _ddl.execute_if(dialect="sqlite"))
