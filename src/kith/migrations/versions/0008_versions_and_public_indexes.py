"""Versions have room for counts; SQLite finds public statuses by the words that timelines use."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_PUBLIC = "visibility = 0 AND coalesce(reblog_of_id, 0) = 0 AND deleted_at IS NULL"


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for table in ("social_accounts", "social_statuses"):
            op.alter_column(table, "version", existing_type=sa.Integer(), type_=sa.BigInteger())
        return
    for name, clause in (("public", _PUBLIC), ("local", f"{_PUBLIC} AND local")):
        op.drop_index(f"ix_social_statuses_{name}", "social_statuses")
        op.create_index(f"ix_social_statuses_{name}", "social_statuses", ["id"], sqlite_where=sa.text(clause))
