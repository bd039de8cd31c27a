"""What every post and every job writes into fewer indexes, each for the rows that are looked for in it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_UNUSED = (
    ("ix_social_feeds_original_id", "social_feeds"),
    ("ix_social_feeds_author_id", "social_feeds"),
    ("ix_base_jobs_held", "base_jobs"),
)
_PARTIAL = (
    ("social_statuses", "card_id"),
    ("social_statuses", "in_reply_to_id"),
    ("social_statuses", "quoted_id"),
    ("social_statuses", "reblog_of_id", "id"),
    ("base_jobs", "held_until"),
)


def upgrade() -> None:
    for name, table in _UNUSED:
        op.drop_index(name, table_name=table)
    for table, *columns in _PARTIAL:
        op.drop_index(f"ix_{table}_{columns[0]}", table_name=table, if_exists=True)
        _create(f"ix_{table}_{columns[0]}", table, columns, f"{columns[0]} IS NOT NULL")
    op.drop_index("uq_base_jobs_key", table_name="base_jobs")
    _create("uq_base_jobs_key", "base_jobs", ["kind", "key"], "key IS NOT NULL", unique=True)
    _create("ix_social_follows_notify", "social_follows", ["target_id"], "notify")


def _create(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    clause = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=clause, postgresql_where=clause)
