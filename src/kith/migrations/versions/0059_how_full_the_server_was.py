"""How full the server was: the most of each thing on each day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0058"


def upgrade() -> None:
    op.create_table(
        "web_levels",
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("name", sa.String(20), primary_key=True),
        sa.Column("most", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
    )
