"""Trends."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "social_link_publishers",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("trendable", sa.Boolean(), nullable=True),
        sa.Column("reviewed_at", db.Instant(length=27), nullable=True),
        sa.Column("requested_review_at", db.Instant(length=27), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_link_publishers")),
        sa.UniqueConstraint("domain", name=op.f("uq_social_link_publishers_domain")),
    )
    op.create_table(
        "social_trend_settings",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("trendable_by_default", sa.Boolean(), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_trend_settings")),
    )
    op.create_table(
        "social_link_days",
        sa.Column("card_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("accounts", sa.Integer(), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["card_id"], ["social_cards.id"], name=op.f("fk_social_link_days_card_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("card_id", "day", name=op.f("pk_social_link_days")),
    )
    op.create_table(
        "social_link_trends",
        sa.Column("card_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("publisher_id", sa.BigInteger(), nullable=True),
        sa.Column("language", sa.String(length=35), nullable=True),
        sa.Column("trendable", sa.Boolean(), nullable=True),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("max_score", sa.Float(), nullable=False),
        sa.Column("max_score_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["card_id"], ["social_cards.id"], name=op.f("fk_social_link_trends_card_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["publisher_id"],
            ["social_link_publishers.id"],
            name=op.f("fk_social_link_trends_publisher_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("card_id", name=op.f("pk_social_link_trends")),
    )
    with op.batch_alter_table("social_link_trends", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_link_trends_publisher_id"), ["publisher_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_link_trends_score"), ["score"], unique=False)

    op.create_table(
        "social_tag_trends",
        sa.Column("tag_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("max_score", sa.Float(), nullable=False),
        sa.Column("max_score_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["tag_id"], ["social_tags.id"], name=op.f("fk_social_tag_trends_tag_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tag_id", name=op.f("pk_social_tag_trends")),
    )
    with op.batch_alter_table("social_tag_trends", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_tag_trends_score"), ["score"], unique=False)

    op.create_table(
        "social_trend_authors",
        sa.Column(
            "account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("trendable", sa.Boolean(), nullable=True),
        sa.Column("reviewed_at", db.Instant(length=27), nullable=True),
        sa.Column("requested_review_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_trend_authors_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_social_trend_authors")),
    )
    op.create_table(
        "social_status_trends",
        sa.Column(
            "status_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("trendable", sa.Boolean(), nullable=True),
        sa.Column("score", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_social_status_trends_status_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("status_id", name=op.f("pk_social_status_trends")),
    )
    with op.batch_alter_table("social_status_trends", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_status_trends_score"), ["score"], unique=False)

    with op.batch_alter_table("social_tag_days", schema=None) as batch_op:
        batch_op.create_index("ix_social_tag_days_account_id", ["account_id", "day"], unique=False)

    with op.batch_alter_table("social_tags", schema=None) as batch_op:
        batch_op.add_column(sa.Column("reviewed_at", db.Instant(length=27), nullable=True))
        batch_op.add_column(sa.Column("requested_review_at", db.Instant(length=27), nullable=True))
