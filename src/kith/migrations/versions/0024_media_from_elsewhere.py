"""Media from elsewhere, and by whose invitation people came."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    with op.batch_alter_table("social_accounts", schema=None) as batch_op:
        batch_op.add_column(sa.Column("pictures_rejected", sa.Boolean(), server_default=sa.false(), nullable=False))

    with op.batch_alter_table("social_cards", schema=None) as batch_op:
        batch_op.add_column(sa.Column("image_source", sa.Text(), server_default="", nullable=False))
        batch_op.add_column(sa.Column("image_bytes", sa.BigInteger(), server_default="0", nullable=False))
        batch_op.add_column(sa.Column("looked_at", db.Instant(length=27), nullable=True))
        batch_op.create_index(
            "ix_social_cards_looked_at",
            ["looked_at", "image_bytes"],
            unique=False,
            sqlite_where=sa.text("looked_at IS NOT NULL"),
            postgresql_where=sa.text("looked_at IS NOT NULL"),
        )

    with op.batch_alter_table("social_media", schema=None) as batch_op:
        batch_op.add_column(sa.Column("fetched_bytes", sa.BigInteger(), server_default="0", nullable=False))
        batch_op.add_column(sa.Column("looked_at", db.Instant(length=27), nullable=True))
        batch_op.add_column(sa.Column("withheld_kind", sa.String(length=10), server_default="", nullable=False))
        batch_op.create_index(
            "ix_social_media_looked_at",
            ["looked_at", "fetched_bytes"],
            unique=False,
            sqlite_where=sa.text("looked_at IS NOT NULL"),
            postgresql_where=sa.text("looked_at IS NOT NULL"),
        )

    with op.batch_alter_table("identity_signups", schema=None) as batch_op:
        batch_op.add_column(sa.Column("invited_by", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("app_id", sa.BigInteger(), nullable=True))
        batch_op.create_index(batch_op.f("ix_identity_signups_invited_by"), ["invited_by"], unique=False)
        batch_op.create_foreign_key(
            batch_op.f("fk_identity_signups_invited_by"), "identity_users", ["invited_by"], ["id"], ondelete="SET NULL"
        )
