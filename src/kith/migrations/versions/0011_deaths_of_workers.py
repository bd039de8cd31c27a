"""Jobs count how often their worker died while it ran them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_SUSPECT = sa.text("deaths > 0")


def upgrade() -> None:
    op.add_column("base_jobs", sa.Column("deaths", sa.Integer(), server_default=sa.text("0"), nullable=False))
    op.create_index(
        "ix_base_jobs_suspect",
        "base_jobs",
        ["state", "run_at"],
        postgresql_where=_SUSPECT,
        sqlite_where=_SUSPECT,
    )
