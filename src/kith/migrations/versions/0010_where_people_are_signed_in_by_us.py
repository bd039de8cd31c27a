"""Where people are signed in by us."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "identity_oauth_visits",
        sa.Column("visit_uuid", db.UID(length=36), nullable=False),
        sa.Column("client_id", sa.String(length=255), nullable=False),
        sa.Column("provider_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("session_uuid", db.UID(length=36), nullable=True),
        sa.Column("sid", sa.String(length=64), nullable=False),
        sa.Column("sub", sa.Text(), nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("client_ip", sa.String(length=45), nullable=False),
        sa.Column("created_at", db.Instant(length=27), nullable=False),
        sa.PrimaryKeyConstraint("visit_uuid", name=op.f("pk_identity_oauth_visits")),
        sa.UniqueConstraint("client_id", "user_id", "sid", name=op.f("uq_identity_oauth_visits_client_id_user_id_sid")),
    )
    with op.batch_alter_table("identity_oauth_visits", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_identity_oauth_visits_provider_id"), ["provider_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_visits_session_uuid"), ["session_uuid"], unique=False)
        batch_op.create_index(batch_op.f("ix_identity_oauth_visits_user_id"), ["user_id"], unique=False)
