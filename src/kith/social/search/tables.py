"""What can be found, as plain words: each text once, made ready for the index (docs in `words.py`).

SQLite reads them through an FTS5 index kept by triggers, PostgreSQL through an index of its own; both are made by
a migration and asked by `index_queries.py`.
"""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Table, Text

from kith.base.db import ID, METADATA

status_words = Table(
    "social_status_words",
    METADATA,
    Column(
        "status_id",
        ID,
        ForeignKey("social_statuses.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("words", Text, nullable=False),
)

account_words = Table(
    "social_account_words",
    METADATA,
    Column(
        "account_id",
        ID,
        ForeignKey("social_accounts.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("words", Text, nullable=False),
)
