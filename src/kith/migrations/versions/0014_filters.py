"""Filters."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "social_filter_versions",
        sa.Column(
            "account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_filter_versions_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_social_filter_versions")),
    )
    op.create_table(
        "social_filters",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("action", sa.String(length=10), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_filters_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_filters")),
    )
    with op.batch_alter_table("social_filters", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_filters_account_id"), ["account_id"], unique=False)

    op.create_table(
        "social_filter_keywords",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("filter_id", sa.BigInteger(), nullable=False),
        sa.Column("keyword", sa.Text(), nullable=False),
        sa.Column("whole_word", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["filter_id"], ["social_filters.id"], name=op.f("fk_social_filter_keywords_filter_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_filter_keywords")),
    )
    with op.batch_alter_table("social_filter_keywords", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_filter_keywords_filter_id"), ["filter_id"], unique=False)

    op.create_table(
        "social_filter_statuses",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("filter_id", sa.BigInteger(), nullable=False),
        sa.Column("status_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["filter_id"], ["social_filters.id"], name=op.f("fk_social_filter_statuses_filter_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_social_filter_statuses_status_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_filter_statuses")),
        sa.UniqueConstraint("filter_id", "status_id", name=op.f("uq_social_filter_statuses_filter_id_status_id")),
    )
    with op.batch_alter_table("social_filter_statuses", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_filter_statuses_status_id"), ["status_id"], unique=False)
