"""Flows run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "identity_sessions",
        sa.Column("session_uuid", db.UID(length=36), nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("auth_method", sa.String(length=40), nullable=False),
        sa.Column("keeps", sa.Boolean(), nullable=False),
        sa.Column("last_ip", sa.String(length=45), nullable=False),
        sa.Column("last_user_agent", sa.String(length=300), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.Column("last_used_at", db.Instant(length=27), nullable=False),
        sa.Column("expires_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["identity_users.id"], name=op.f("fk_identity_sessions_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session_uuid", name=op.f("pk_identity_sessions")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_identity_sessions_key_hash")),
    )
    with op.batch_alter_table("identity_sessions", schema=None) as batch_op:
        batch_op.create_index("ix_identity_sessions_expires_at", ["expires_at"], unique=False)
        batch_op.create_index("ix_identity_sessions_user_id", ["user_id"], unique=False)

    op.create_table(
        "identity_flow_runs",
        sa.Column("run_uuid", db.UID(length=36), nullable=False),
        sa.Column("session_uuid", db.UID(length=36), nullable=False),
        sa.Column("flow_uuid", db.UID(length=36), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("updated_at", db.Instant(length=27), nullable=False),
        sa.ForeignKeyConstraint(
            ["flow_uuid"],
            ["identity_flows.flow_uuid"],
            name=op.f("fk_identity_flow_runs_flow_uuid"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["session_uuid"],
            ["identity_sessions.session_uuid"],
            name=op.f("fk_identity_flow_runs_session_uuid"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_uuid", name=op.f("pk_identity_flow_runs")),
        sa.UniqueConstraint("session_uuid", "flow_uuid", name=op.f("uq_identity_flow_runs_session_uuid_flow_uuid")),
    )
    with op.batch_alter_table("identity_flow_runs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_flow_runs_flow_uuid"), ["flow_uuid"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_flow_runs_updated_at"), ["updated_at"], unique=False)
