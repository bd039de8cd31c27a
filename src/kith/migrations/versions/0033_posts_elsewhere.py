"""Posts elsewhere."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    op.create_table(
        "federation_posts",
        sa.Column(
            "status_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("parent", sa.Text(), nullable=True),
        sa.Column("conversation", sa.Text(), nullable=True),
        sa.Column("replies", sa.Text(), nullable=True),
        sa.Column("quoted", sa.Text(), nullable=True),
        sa.Column("stamp", sa.Text(), nullable=True),
        sa.Column("stamp_checked_at", db.Instant(length=27), nullable=True),
        sa.Column("replies_asked_at", db.Instant(length=27), nullable=True),
        sa.Column("replies_read_at", db.Instant(length=27), nullable=True),
        sa.ForeignKeyConstraint(
            ["status_id"], ["social_statuses.id"], name=op.f("fk_federation_posts_status_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("status_id", name=op.f("pk_federation_posts")),
    )
    with op.batch_alter_table("federation_posts", schema=None) as batch_op:
        batch_op.create_index(
            "ix_federation_posts_conversation",
            ["conversation"],
            unique=False,
            sqlite_where=sa.text("conversation IS NOT NULL"),
            postgresql_where=sa.text("conversation IS NOT NULL"),
        )
        batch_op.create_index(
            "ix_federation_posts_parent",
            ["parent"],
            unique=False,
            sqlite_where=sa.text("parent IS NOT NULL"),
            postgresql_where=sa.text("parent IS NOT NULL"),
        )
        batch_op.create_index(
            "ix_federation_posts_stamp",
            ["stamp"],
            unique=False,
            sqlite_where=sa.text("stamp IS NOT NULL"),
            postgresql_where=sa.text("stamp IS NOT NULL"),
        )
        batch_op.create_index(
            "ix_federation_posts_stamp_checked_at",
            ["stamp_checked_at"],
            unique=False,
            sqlite_where=sa.text("stamp_checked_at IS NOT NULL"),
            postgresql_where=sa.text("stamp_checked_at IS NOT NULL"),
        )
