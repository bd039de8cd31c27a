"""The index of notifications by groups knows whom they are from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

_GROUPABLE = sa.text("type IN ('favourite', 'reblog', 'follow', 'admin.sign_up')")


def upgrade() -> None:
    op.drop_index("ix_social_notifications_group_key", table_name="social_notifications")
    op.create_index(
        "ix_social_notifications_group_key",
        "social_notifications",
        ["account_id", "group_key", "id", "from_id"],
        sqlite_where=_GROUPABLE,
        postgresql_where=_GROUPABLE,
    )
