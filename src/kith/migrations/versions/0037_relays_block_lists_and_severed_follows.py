"""Relays, block lists and severed follows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0037"
down_revision = "0035"


def upgrade() -> None:
    op.create_table(
        "federation_block_lists",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("offered", db.Document(), nullable=True),
        sa.Column("digest", sa.String(length=64), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("fetched_at", db.Instant(length=27), nullable=True),
        sa.Column("applied_at", db.Instant(length=27), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_federation_block_lists")),
        sa.UniqueConstraint("url", name=op.f("uq_federation_block_lists_url")),
    )
    op.create_table(
        "federation_relays",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("inbox", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("follow_uri", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("answered_at", db.Instant(length=27), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_federation_relays")),
        sa.UniqueConstraint("follow_uri", name=op.f("uq_federation_relays_follow_uri")),
        sa.UniqueConstraint("inbox", name=op.f("uq_federation_relays_inbox")),
    )
    op.create_table(
        "social_federation_mode",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("mode", sa.String(length=10), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_federation_mode")),
    )
    op.create_table(
        "federation_block_list_entries",
        sa.Column("list_id", sa.BigInteger(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("severity", sa.String(length=10), nullable=False),
        sa.Column("reject_media", sa.Boolean(), nullable=False),
        sa.Column("reject_reports", sa.Boolean(), nullable=False),
        sa.Column("obfuscate", sa.Boolean(), nullable=False),
        sa.Column("public_comment", sa.Text(), nullable=True),
        sa.Column("block_id", sa.BigInteger(), nullable=False),
        sa.Column("applied", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["list_id"],
            ["federation_block_lists.id"],
            name=op.f("fk_federation_block_list_entries_list_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("list_id", "domain", name=op.f("pk_federation_block_list_entries")),
    )
    with op.batch_alter_table("federation_block_list_entries", schema=None) as batch_op:
        batch_op.create_index("ix_federation_block_list_entries_domain", ["domain"], unique=False)

    op.create_table(
        "social_severed_follows",
        sa.Column("severance_id", sa.BigInteger(), nullable=False),
        sa.Column("following", sa.Boolean(), nullable=False),
        sa.Column("acct", sa.Text(), nullable=False),
        sa.Column("reblogs", sa.Boolean(), nullable=False),
        sa.Column("notify", sa.Boolean(), nullable=False),
        sa.Column("languages", db.Document(), nullable=True),
        sa.ForeignKeyConstraint(
            ["severance_id"],
            ["social_severances.id"],
            name=op.f("fk_social_severed_follows_severance_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("severance_id", "following", "acct", name=op.f("pk_social_severed_follows")),
    )
