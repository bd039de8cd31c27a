"""Columns for what guards an account: when somebody was last disabled, and the security stamp of a mailed link.

Links of before do not count any more.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from kith.base.db import Instant

revision = "0102"
down_revision = "0101"


def upgrade() -> None:
    op.add_column("identity_users", sa.Column("disabled_at", Instant()))
    op.execute("UPDATE identity_users SET disabled_at = updated_at WHERE NOT is_active")
    op.add_column(
        "identity_flow_tokens", sa.Column("security_stamp", sa.String(length=64), nullable=False, server_default="")
    )
