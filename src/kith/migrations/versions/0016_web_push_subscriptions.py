"""Web Push subscriptions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.create_table(
        "social_push_subscriptions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("oauth_hash", sa.String(length=64), nullable=True),
        sa.Column("personal_hash", sa.String(length=64), nullable=True),
        sa.Column("access_token", sa.Text(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("p256dh", sa.String(length=100), nullable=False),
        sa.Column("auth", sa.Text(), nullable=False),
        sa.Column("standard", sa.Boolean(), nullable=False),
        sa.Column("alerts", db.Document(), nullable=False),
        sa.Column("policy", sa.String(length=10), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name="fk_social_push_subscriptions_account_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["oauth_hash"],
            ["identity_oauth_tokens.key_hash"],
            name="fk_social_push_subscriptions_oauth_hash",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["personal_hash"],
            ["identity_tokens.key_hash"],
            name="fk_social_push_subscriptions_personal_hash",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_social_push_subscriptions"),
        sa.UniqueConstraint("oauth_hash", name="uq_social_push_subscriptions_oauth_hash"),
        sa.UniqueConstraint("personal_hash", name="uq_social_push_subscriptions_personal_hash"),
    )
    op.create_index("ix_social_push_subscriptions_account_id", "social_push_subscriptions", ["account_id"])
