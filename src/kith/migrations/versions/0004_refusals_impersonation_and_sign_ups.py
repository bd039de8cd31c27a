"""Refusals, impersonation and sign-ups."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "identity_refusals",
        sa.Column("code", sa.String(length=16), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("username", sa.String(length=150), nullable=False),
        sa.Column("area", sa.String(length=60), nullable=False),
        sa.Column("target", db.UID(length=36), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("details", db.Document(), nullable=False),
        sa.Column("client_ip", sa.String(length=45), nullable=False),
        sa.Column("request_id", sa.String(length=64), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_refusals_user_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("code", name=op.f("pk_identity_refusals")),
    )
    with op.batch_alter_table("identity_refusals", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_refusals_created_at"), ["created_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_refusals_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_refusals_user_id"), ["user_id"], unique=False)

    op.create_table(
        "identity_signups",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("locale", sa.String(length=35), nullable=False),
        sa.Column("client_ip", sa.String(length=45), nullable=False),
        sa.Column("client_name", sa.Text(), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_signups_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_identity_signups")),
    )
    with op.batch_alter_table("identity_signups", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_signups_created_at"), ["created_at"], unique=False)

    op.create_table(
        "identity_impersonations",
        sa.Column("session_uuid", db.UID(length=36), nullable=False),
        sa.Column("by_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("started_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["by_id"], ["identity_users.id"], name=op.f("fk_identity_impersonations_by_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["session_uuid"],
            ["identity_sessions.session_uuid"],
            name=op.f("fk_identity_impersonations_session_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("session_uuid", name=op.f("pk_identity_impersonations")),
    )
    with op.batch_alter_table("identity_impersonations", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_impersonations_by_id"), ["by_id"], unique=False)
