"""What is sent and what waits in the inbox is bounded by its bytes, in the inbox for each site."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0109"
down_revision = "0108"


def upgrade() -> None:
    op.add_column("federation_deliveries", _size())
    op.add_column("federation_inbox", _size())
    op.add_column("federation_inbox", sa.Column("site", sa.Text(), nullable=False, server_default=sa.text("''")))
    op.drop_index("ix_federation_inbox_turn", "federation_inbox")
    op.create_index("ix_federation_inbox_turn", "federation_inbox", ["state", "turn", "id", "size"])
    is_put_off = sa.text("state > 0")
    op.create_index(
        "ix_federation_inbox_site",
        "federation_inbox",
        ["site", "size"],
        sqlite_where=is_put_off,
        postgresql_where=is_put_off,
    )
    length = "octet_length" if op.get_bind().dialect.name == "postgresql" else "length"
    op.execute(f"UPDATE federation_inbox SET size = {length}(body)")
    op.execute(
        f"UPDATE federation_deliveries SET size = (SELECT {length}(activity) FROM federation_outgoing"
        " WHERE federation_outgoing.id = federation_deliveries.outgoing_id)"
    )


def _size() -> sa.Column[int]:
    return sa.Column("size", sa.Integer(), nullable=False, server_default=sa.text("0"))
