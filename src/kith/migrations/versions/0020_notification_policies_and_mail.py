"""Notification policies and requests."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.create_table(
        "social_notification_emails",
        sa.Column(
            "account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("types", db.Document(), nullable=False),
        sa.Column("always", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_notification_emails_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_social_notification_emails")),
    )
    op.create_table(
        "social_notification_permissions",
        sa.Column(
            "account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("from_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("merging", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_notification_permissions_account_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["from_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_notification_permissions_from_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", "from_id", name=op.f("pk_social_notification_permissions")),
    )
    with op.batch_alter_table("social_notification_permissions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_notification_permissions_from_id"), ["from_id"], unique=False)

    op.create_table(
        "social_notification_policies",
        sa.Column(
            "account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("for_not_following", sa.String(length=6), nullable=False),
        sa.Column("for_not_followers", sa.String(length=6), nullable=False),
        sa.Column("for_new_accounts", sa.String(length=6), nullable=False),
        sa.Column("for_private_mentions", sa.String(length=6), nullable=False),
        sa.Column("for_limited_accounts", sa.String(length=6), nullable=False),
        sa.Column("for_bots", sa.String(length=6), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_notification_policies_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_social_notification_policies")),
    )
    op.create_table(
        "social_notification_requests",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("from_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_notification_requests_account_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["from_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_notification_requests_from_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_notification_requests")),
        sa.UniqueConstraint("account_id", "from_id", name=op.f("uq_social_notification_requests_account_id_from_id")),
    )
    with op.batch_alter_table("social_notification_requests", schema=None) as batch_op:
        batch_op.create_index("ix_social_notification_requests_account_id", ["account_id", "id"], unique=False)
        batch_op.create_index("ix_social_notification_requests_from_id", ["from_id"], unique=False)

    with op.batch_alter_table("social_notifications", schema=None) as batch_op:
        batch_op.create_index(
            "ix_social_notifications_group_key",
            ["account_id", "group_key", "id"],
            unique=False,
            sqlite_where=sa.text("type IN ('favourite', 'reblog', 'follow', 'admin.sign_up')"),
            postgresql_where=sa.text("type IN ('favourite', 'reblog', 'follow', 'admin.sign_up')"),
        )
