"""People elsewhere, the latest first, without looking at all who live here."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0056"


def upgrade() -> None:
    where = sa.text("domain != ''")
    op.create_index(
        "ix_social_accounts_elsewhere", "social_accounts", ["id"], sqlite_where=where, postgresql_where=where
    )
