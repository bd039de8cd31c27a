"""Pictures of people elsewhere."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    op.create_table(
        "social_fetched_pictures",
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("shelf", sa.String(length=10), nullable=False),
        sa.Column("fetched_bytes", sa.Integer(), nullable=False),
        sa.Column("looked_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_fetched_pictures_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", "shelf", name=op.f("pk_social_fetched_pictures")),
    )
    with op.batch_alter_table("social_fetched_pictures", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_fetched_pictures_looked_at"), ["looked_at"], unique=False)
