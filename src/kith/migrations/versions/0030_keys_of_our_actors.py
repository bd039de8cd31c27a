"""Keys of our actors."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0030"
down_revision = "0028"


def upgrade() -> None:
    op.create_table(
        "federation_keys",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=True),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("private_key", sa.Text(), nullable=False),
        sa.Column("previous_key", sa.Text(), nullable=True),
        sa.Column("made_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name="fk_federation_keys_account_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_federation_keys"),
        sa.UniqueConstraint("account_id", name="uq_federation_keys_account_id"),
    )
