"""People elsewhere."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    op.create_table(
        "federation_ended",
        sa.Column("uri", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("until", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("uri", "actor", name=op.f("pk_federation_ended")),
    )
    with op.batch_alter_table("federation_ended", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_federation_ended_until"), ["until"], unique=False)

    op.create_table(
        "federation_actor_keys",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("public_key", sa.Text(), nullable=False),
        sa.Column("fetched_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_federation_actor_keys_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_federation_actor_keys")),
    )
    with op.batch_alter_table("federation_actor_keys", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_federation_actor_keys_account_id"), ["account_id"], unique=False)

    op.create_table(
        "federation_actors",
        sa.Column(
            "account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("inbox", sa.Text(), nullable=False),
        sa.Column("shared_inbox", sa.Text(), nullable=True),
        sa.Column("outbox", sa.Text(), nullable=True),
        sa.Column("followers", sa.Text(), nullable=True),
        sa.Column("following", sa.Text(), nullable=True),
        sa.Column("featured", sa.Text(), nullable=True),
        sa.Column("featured_tags", sa.Text(), nullable=True),
        sa.Column("devices", sa.Text(), nullable=True),
        sa.Column("filled_at", db.Instant(length=27), nullable=True),
        sa.Column("moved_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_federation_actors_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_federation_actors")),
    )
