"""What became of which record of another server, and by which `sub` its clients know people."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0065"
down_revision = "0064"


def upgrade() -> None:
    op.add_column("identity_users", sa.Column("subject", sa.String(64), nullable=True))
    op.create_table(
        "base_import_records",
        sa.Column("origin", sa.String(64), primary_key=True),
        sa.Column("model", sa.String(120), primary_key=True),
        sa.Column("old", sa.String(100), primary_key=True),
        sa.Column("new", sa.String(100), nullable=False),
    )
