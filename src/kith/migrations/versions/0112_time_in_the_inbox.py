"""What waits in the inbox is found by its site: whose turn it is depends on the time that each has taken."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0112"
down_revision = "0111"


def upgrade() -> None:
    is_waiting = sa.text("state = 0")
    op.drop_index("ix_federation_inbox_turn", "federation_inbox")
    op.create_index(
        "ix_federation_inbox_waiting",
        "federation_inbox",
        ["site", "turn", "id", "size"],
        sqlite_where=is_waiting,
        postgresql_where=is_waiting,
    )
