"""Which request led to a job, so that the log tells what came of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0064"
down_revision = "0063"


def upgrade() -> None:
    op.add_column("base_jobs", sa.Column("request", sa.String(100), nullable=False, server_default=sa.text("''")))
