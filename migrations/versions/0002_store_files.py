"""The files of a store's generation."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | Sequence[str] | None = "0001"


def upgrade() -> None:
    op.create_table(
        "store_files",
        sa.Column("repository_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(100), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(100), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("length(digest) = 64", name=op.f("ck_store_files_digest")),
        sa.CheckConstraint("size >= 0", name=op.f("ck_store_files_size")),
        sa.ForeignKeyConstraint(
            ["repository_id", "kind"],
            ["stores.repository_id", "stores.kind"],
            name=op.f("fk_store_files_repository_id_kind"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("repository_id", "kind", "position", name=op.f("pk_store_files")),
    )
