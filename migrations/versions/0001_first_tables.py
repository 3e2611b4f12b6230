"""The first tables."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | Sequence[str] | None = None

MOMENT = sa.DateTime(timezone=True)
TRIGGERS = (
    "CREATE TRIGGER contexts_move BEFORE UPDATE OF state ON contexts"
    " WHEN OLD.state <> NEW.state AND OLD.state || '>' || NEW.state NOT IN"
    " ('PENDING>BUILDING', 'PENDING>FAILED', 'BUILDING>FAILED', 'BUILDING>READY',"
    " 'FAILED>PENDING')"
    " BEGIN SELECT RAISE(ABORT, 'contexts: no such move'); END",
    "CREATE TRIGGER builds_move BEFORE UPDATE OF state ON builds"
    " WHEN OLD.state <> NEW.state AND OLD.state || '>' || NEW.state NOT IN"
    " ('QUEUED>FAILED', 'QUEUED>INTERRUPTED', 'QUEUED>RUNNING', 'RUNNING>FAILED',"
    " 'RUNNING>INTERRUPTED', 'RUNNING>SUCCEEDED')"
    " BEGIN SELECT RAISE(ABORT, 'builds: no such move'); END",
    "CREATE TRIGGER contexts_birth BEFORE INSERT ON contexts WHEN NEW.state <> 'PENDING'"
    " BEGIN SELECT RAISE(ABORT, 'contexts: no such birth'); END",
)


def upgrade() -> None:
    _repositories()
    _contexts()
    _members()
    _builds()
    _build_steps()
    _stores()
    _coverage()
    for trigger in TRIGGERS:
        op.execute(trigger)


def _repositories() -> None:
    op.create_table(
        "repositories",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("folded", sa.String(100), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("last_sync_at", MOMENT),
        sa.Column("last_sync_error", sa.Text()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repositories")),
        sa.UniqueConstraint("folded", name=op.f("uq_repositories_folded")),
    )


def _contexts() -> None:
    op.create_table(
        "contexts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("folded", sa.String(100), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("removing_since", MOMENT),
        sa.Column("failure_code", sa.String(64)),
        sa.Column("failure_message", sa.Text()),
        sa.CheckConstraint(
            "state IN ('PENDING', 'BUILDING', 'READY', 'FAILED')", name=op.f("ck_contexts_state")
        ),
        sa.CheckConstraint(
            "(state = 'FAILED') = (failure_code IS NOT NULL)", name=op.f("ck_contexts_failure")
        ),
        sa.CheckConstraint("generation >= 0", name=op.f("ck_contexts_generation")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contexts")),
        sa.UniqueConstraint("folded", name=op.f("uq_contexts_folded")),
    )


def _artifact(kind: str) -> list[sa.Column[object]]:
    return [
        sa.Column(f"{kind}_engine", sa.String(100)),
        sa.Column(f"{kind}_engine_version", sa.String(100)),
        sa.Column(f"{kind}_key", sa.String(100)),
        sa.Column(f"{kind}_revision", sa.String(64)),
        sa.Column(f"{kind}_built_at", MOMENT),
    ]


def _all_or_none(kind: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(
        f"({kind}_engine IS NULL) = ({kind}_engine_version IS NULL)"
        f" AND ({kind}_engine IS NULL) = ({kind}_key IS NULL)"
        f" AND ({kind}_engine IS NULL) = ({kind}_revision IS NULL)"
        f" AND ({kind}_engine IS NULL) = ({kind}_built_at IS NULL)",
        name=op.f(f"ck_members_{kind}"),
    )


def _members() -> None:
    op.create_table(
        "members",
        sa.Column("context_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("repository_id", sa.Integer(), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("revision", sa.String(64), nullable=False),
        *_artifact("search"),
        *_artifact("graph"),
        sa.CheckConstraint("length(revision) IN (40, 64)", name=op.f("ck_members_revision")),
        _all_or_none("search"),
        _all_or_none("graph"),
        sa.ForeignKeyConstraint(
            ["context_id"],
            ["contexts.id"],
            name=op.f("fk_members_context_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"], ["repositories.id"], name=op.f("fk_members_repository_id")
        ),
        sa.PrimaryKeyConstraint("context_id", "position", name=op.f("pk_members")),
        sa.UniqueConstraint(
            "context_id", "repository_id", name=op.f("uq_members_context_id_repository_id")
        ),
    )
    op.create_index(op.f("ix_members_repository_id"), "members", ["repository_id"])


def _builds() -> None:
    op.create_table(
        "builds",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("context_id", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("rebuild", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT),
        sa.Column("ended_at", MOMENT),
        sa.Column("failure_code", sa.String(64)),
        sa.Column("failure_message", sa.Text()),
        sa.CheckConstraint(
            "state IN ('QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'INTERRUPTED')",
            name=op.f("ck_builds_state"),
        ),
        sa.CheckConstraint(
            "(state IN ('FAILED', 'INTERRUPTED')) = (failure_code IS NOT NULL)",
            name=op.f("ck_builds_failure"),
        ),
        sa.CheckConstraint(
            "(state IN ('QUEUED', 'RUNNING')) = (ended_at IS NULL)", name=op.f("ck_builds_ended")
        ),
        sa.ForeignKeyConstraint(
            ["context_id"], ["contexts.id"], name=op.f("fk_builds_context_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_builds")),
        sa.UniqueConstraint(
            "context_id", "generation", name=op.f("uq_builds_context_id_generation")
        ),
    )
    under_way = sa.text("state IN ('QUEUED', 'RUNNING')")
    op.create_index(
        op.f("ix_builds_under_way"),
        "builds",
        ["context_id"],
        unique=True,
        sqlite_where=under_way,
        postgresql_where=under_way,
    )


def _build_steps() -> None:
    op.create_table(
        "build_steps",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("build_id", sa.String(32), nullable=False),
        sa.Column("step", sa.String(16), nullable=False),
        sa.Column("repository_id", sa.Integer(), nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("ended_at", MOMENT),
        sa.Column("outcome", sa.String(16)),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "step IN ('RESOLVE', 'CLONE', 'WORKTREE', 'SEARCH', 'GRAPH', 'VERIFY')",
            name=op.f("ck_build_steps_step"),
        ),
        sa.CheckConstraint(
            "outcome IN ('DONE', 'SKIPPED', 'FAILED', 'INTERRUPTED')",
            name=op.f("ck_build_steps_outcome"),
        ),
        sa.CheckConstraint(
            "(outcome IS NULL) = (ended_at IS NULL)", name=op.f("ck_build_steps_ended")
        ),
        sa.ForeignKeyConstraint(
            ["build_id"],
            ["builds.id"],
            name=op.f("fk_build_steps_build_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"], ["repositories.id"], name=op.f("fk_build_steps_repository_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_build_steps")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_build_steps_build_id"), "build_steps", ["build_id"])
    op.create_index(op.f("ix_build_steps_repository_id"), "build_steps", ["repository_id"])


def _stores() -> None:
    op.create_table(
        "stores",
        sa.Column("repository_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(100), nullable=False),
        sa.Column("format", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("claim", sa.Integer(), nullable=False),
        sa.CheckConstraint("claim >= 0 AND generation >= 0", name=op.f("ck_stores_counters")),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repositories.id"],
            name=op.f("fk_stores_repository_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("repository_id", "kind", name=op.f("pk_stores")),
    )


def _coverage() -> None:
    op.create_table(
        "coverage",
        sa.Column("context_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("searched", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.JSON(), nullable=False),
        sa.CheckConstraint("files >= 0 AND searched >= 0", name=op.f("ck_coverage_counts")),
        sa.ForeignKeyConstraint(
            ["context_id", "position"],
            ["members.context_id", "members.position"],
            name=op.f("fk_coverage_context_id_position"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("context_id", "position", name=op.f("pk_coverage")),
    )
