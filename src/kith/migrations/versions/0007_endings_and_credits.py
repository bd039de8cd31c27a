"""What is over is found by when it ended; cards know whom their pages name."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    with op.batch_alter_table("social_statuses", schema=None) as batch_op:
        batch_op.create_index(
            "ix_social_statuses_deleted_at",
            ["deleted_at"],
            unique=False,
            sqlite_where=sa.text("deleted_at IS NOT NULL"),
            postgresql_where=sa.text("deleted_at IS NOT NULL"),
        )
    with op.batch_alter_table("social_cards", schema=None) as batch_op:
        batch_op.add_column(sa.Column("creator_id", sa.BigInteger(), nullable=True))
        batch_op.create_index(batch_op.f("ix_social_cards_creator_id"), ["creator_id"], unique=False)
