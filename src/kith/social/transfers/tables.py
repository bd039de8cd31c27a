"""What people bring along from elsewhere, row by row."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, String, Table, Text, text

from kith.base.db import ID, METADATA, Document, Instant
from kith.social.ids import AccountId

# One file that somebody brought. `state`: clearing (what it does not name is taken away), running, finished.
imports = Table(
    "social_imports",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("kind", String(20), nullable=False),
    Column("overwrite", Boolean, nullable=False),
    Column("filename", Text, nullable=False),
    Column("state", String(10), nullable=False),
    Column("total", Integer, nullable=False),
    Column("done", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("created_at", Instant, nullable=False, index=True),
    Column("finished_at", Instant),
)

# Its rows. One that was done is deleted; one that failed stays, for its owner to see.
import_rows = Table(
    "social_import_rows",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("import_id", BigInteger, ForeignKey("social_imports.id", ondelete="CASCADE"), nullable=False),
    Column("data", Document, nullable=False),
    Column("has_failed", Boolean, nullable=False),
    Index("ix_social_import_rows_import_id", "import_id", "id"),
)
_waits = text("NOT has_failed")
Index(
    "ix_social_import_rows_waiting",
    import_rows.c.import_id,
    import_rows.c.id,
    sqlite_where=_waits,
    postgresql_where=_waits,
)


class Import(msgspec.Struct):
    id: int
    account_id: AccountId
    kind: str
    overwrite: bool
    filename: str
    state: str
    total: int
    done: int
    failed: int
    created_at: datetime
    finished_at: datetime | None


class ImportRow(msgspec.Struct):
    id: int
    data: dict[str, Any]
