"""Blueprints that the server keeps up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base.db import UID, Document, Instant

revision = "0060"
down_revision = "0059"


def upgrade() -> None:
    op.create_table(
        "identity_blueprints",
        sa.Column("instance_uuid", UID, primary_key=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("context", Document, nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(100), nullable=False),
        sa.Column("last_applied", Instant),
        sa.Column("last_applied_hash", sa.Text(), nullable=False),
        sa.Column("managed_models", Document, nullable=False),
        sa.Column("metadata", Document, nullable=False),
        sa.Column("log", Document, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.UniqueConstraint("name", name=op.f("uq_identity_blueprints_name")),
    )
