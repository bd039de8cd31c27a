"""Backups and rehearsals of restoring them: when each was, and how it went."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0061"
down_revision = "0060"


def upgrade() -> None:
    long = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "base_backup_runs",
        sa.Column("id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("started_at", db.Instant(), nullable=False),
        sa.Column("ended_at", db.Instant(), nullable=False),
        sa.Column("succeeded", sa.Boolean(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("backup", sa.String(60), nullable=False),
        sa.Column("is_encrypted", sa.Boolean(), nullable=False),
        sa.Column("size", long, nullable=False),
        sa.Column("new_bytes", long, nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
    )
    op.create_index("ix_base_backup_runs_kind", "base_backup_runs", ["kind", "started_at"])
