from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, String, Table

from kith.base.db import METADATA, Instant
from kith.social.ids import AccountId

markers = Table(
    "social_markers",
    METADATA,
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True),
    Column("timeline", String(20), primary_key=True),
    Column("last_read_id", BigInteger, nullable=False),
    Column("version", Integer, nullable=False),
    Column("updated_at", Instant, nullable=False),
)


class Marker(msgspec.Struct):
    account_id: AccountId
    timeline: str
    last_read_id: int
    version: int
    updated_at: datetime
