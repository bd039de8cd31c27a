"""Announcements and discovery."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "social_announcements",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("all_day", sa.Boolean(), nullable=False),
        sa.Column("starts_at", db.Instant(length=27), nullable=True),
        sa.Column("ends_at", db.Instant(length=27), nullable=True),
        sa.Column("scheduled_at", db.Instant(length=27), nullable=True),
        sa.Column("published", sa.Boolean(), nullable=False),
        sa.Column("published_at", db.Instant(length=27), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_announcements")),
    )
    op.create_table(
        "social_announcement_reactions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("announcement_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_announcement_reactions_account_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["announcement_id"],
            ["social_announcements.id"],
            name=op.f("fk_social_announcement_reactions_announcement_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_announcement_reactions")),
        sa.UniqueConstraint(
            "announcement_id",
            "name",
            "account_id",
            name=op.f("uq_social_announcement_reactions_announcement_id_name_account_id"),
        ),
    )
    with op.batch_alter_table("social_announcement_reactions", schema=None) as batch_op:
        batch_op.create_index("ix_social_announcement_reactions_account_id", ["account_id"], unique=False)

    op.create_table(
        "social_announcement_reads",
        sa.Column("announcement_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_announcement_reads_account_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["announcement_id"],
            ["social_announcements.id"],
            name=op.f("fk_social_announcement_reads_announcement_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("announcement_id", "account_id", name=op.f("pk_social_announcement_reads")),
    )
    with op.batch_alter_table("social_announcement_reads", schema=None) as batch_op:
        batch_op.create_index("ix_social_announcement_reads_account_id", ["account_id"], unique=False)

    op.create_table(
        "social_collections",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("language", sa.String(length=35), nullable=True),
        sa.Column("sensitive", sa.Boolean(), nullable=False),
        sa.Column("discoverable", sa.Boolean(), nullable=False),
        sa.Column("tag_name", sa.Text(), nullable=True),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_collections_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_collections")),
    )
    with op.batch_alter_table("social_collections", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_collections_account_id"), ["account_id"], unique=False)

    op.create_table(
        "social_interactions",
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_interactions_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["social_accounts.id"], name=op.f("fk_social_interactions_target_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "target_id", name=op.f("pk_social_interactions")),
    )
    with op.batch_alter_table("social_interactions", schema=None) as batch_op:
        batch_op.create_index("ix_social_interactions_target_id", ["target_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_social_interactions_updated_at"), ["updated_at"], unique=False)

    op.create_table(
        "social_removed_suggestions",
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("target_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_removed_suggestions_account_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["target_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_removed_suggestions_target_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", "target_id", name=op.f("pk_social_removed_suggestions")),
    )
    with op.batch_alter_table("social_removed_suggestions", schema=None) as batch_op:
        batch_op.create_index("ix_social_removed_suggestions_target_id", ["target_id"], unique=False)

    op.create_table(
        "social_staff_picks",
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["social_accounts.id"], name=op.f("fk_social_staff_picks_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_social_staff_picks")),
    )
    op.create_table(
        "social_collection_items",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("collection_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["social_accounts.id"],
            name=op.f("fk_social_collection_items_account_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["social_collections.id"],
            name=op.f("fk_social_collection_items_collection_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_social_collection_items")),
        sa.UniqueConstraint(
            "collection_id", "account_id", name=op.f("uq_social_collection_items_collection_id_account_id")
        ),
    )
    with op.batch_alter_table("social_collection_items", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_social_collection_items_account_id"), ["account_id"], unique=False)
