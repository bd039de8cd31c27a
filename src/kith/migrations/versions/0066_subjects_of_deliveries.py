"""What a delivery is about, so that nothing overtakes what it changes or takes back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0066"
down_revision = "0065"


def upgrade() -> None:
    op.add_column(
        "federation_deliveries", sa.Column("subject", sa.BigInteger(), nullable=False, server_default=sa.text("0"))
    )
