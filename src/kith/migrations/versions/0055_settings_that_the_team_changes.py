"""Settings that the team changes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base import db

revision = "0055"
down_revision = "0053"


def upgrade() -> None:
    op.create_table(
        "base_settings",
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("value", db.Document(), nullable=False),
        sa.Column("updated_at", db.Instant(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_base_settings")),
    )
