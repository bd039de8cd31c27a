"""Activities that wait."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    op.create_table(
        "federation_inbox",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("activity_id", sa.Text(), nullable=True),
        sa.Column("delivered_to", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("synchronization", sa.Text(), nullable=True),
        sa.Column("state", sa.SmallInteger(), nullable=False),
        sa.Column("signed_at", db.Instant(length=27), nullable=False),
        sa.Column("received_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_federation_inbox")),
        sa.UniqueConstraint(
            "account_id",
            "activity_id",
            "delivered_to",
            name=op.f("uq_federation_inbox_account_id_activity_id_delivered_to"),
        ),
    )
    with op.batch_alter_table("federation_inbox", schema=None) as batch_op:
        batch_op.create_index("ix_federation_inbox_state", ["state", "id"], unique=False)
