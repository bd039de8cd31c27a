"""Annual reports and automatic deletion."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.create_table(
        "social_annual_reports",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=False),
        sa.Column("schema_version", sa.SmallInteger(), nullable=False),
        sa.Column("data", db.Document(), nullable=True),
        sa.Column("share_key", sa.String(length=32), nullable=False),
        sa.Column("asked_at", db.Instant(length=27), nullable=False),
        sa.Column("made_at", db.Instant(length=27), nullable=True),
        sa.Column("read_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_annual_reports_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_annual_reports")),
        sa.UniqueConstraint("account_id", "year", name=op.f("uq_social_annual_reports_account_id_year")),
    )
    op.create_table(
        "social_cleanup_policies",
        sa.Column(
            "account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("min_status_age", sa.Integer(), nullable=False),
        sa.Column("keep_direct", sa.Boolean(), nullable=False),
        sa.Column("keep_pinned", sa.Boolean(), nullable=False),
        sa.Column("keep_polls", sa.Boolean(), nullable=False),
        sa.Column("keep_media", sa.Boolean(), nullable=False),
        sa.Column("keep_self_fav", sa.Boolean(), nullable=False),
        sa.Column("keep_self_bookmark", sa.Boolean(), nullable=False),
        sa.Column("min_favs", sa.Integer(), nullable=True),
        sa.Column("min_reblogs", sa.Integer(), nullable=True),
        sa.Column("inspected_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("restarts_at", db.Instant(length=27), nullable=False),
        sa.Column("next_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_cleanup_policies_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_social_cleanup_policies")),
    )
    with op.batch_alter_table("social_cleanup_policies", schema=None) as batch_op:
        batch_op.create_index(
            "ix_social_cleanup_policies_next_at",
            ["next_at"],
            unique=False,
            sqlite_where=sa.text("enabled"),
            postgresql_where=sa.text("enabled"),
        )
