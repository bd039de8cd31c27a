from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, SmallInteger, String, Table, UniqueConstraint

from kith.base.db import ID, METADATA, Document, Instant
from kith.social.ids import AccountId

# What somebody's year was like. While it is counted there are no figures yet (`data`).
annual_reports = Table(
    "social_annual_reports",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("year", Integer, nullable=False),
    Column("schema_version", SmallInteger, nullable=False),
    Column("data", Document),
    Column("share_key", String(32), nullable=False),
    Column("asked_at", Instant, nullable=False),
    Column("made_at", Instant),
    Column("read_at", Instant),
    UniqueConstraint("account_id", "year"),
)


class AnnualReport(msgspec.Struct):
    id: int
    account_id: AccountId
    year: int
    schema_version: int
    data: dict[str, Any] | None
    share_key: str
    asked_at: datetime
    made_at: datetime | None = None
    read_at: datetime | None = None
