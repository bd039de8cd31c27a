"""What waits in the inbox is taken in turns of the sites that sent it; what waits already comes first."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0105"
down_revision = "0104"


def upgrade() -> None:
    op.add_column("federation_inbox", sa.Column("turn", sa.BigInteger(), nullable=False, server_default=sa.text("0")))
    op.drop_index("ix_federation_inbox_state", "federation_inbox")
    op.create_index("ix_federation_inbox_turn", "federation_inbox", ["state", "turn", "id"])
