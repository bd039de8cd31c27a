"""Archives of all that somebody posted, made when they ask."""

from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Column, ForeignKey, String, Table, Text

from kith.base.db import ID, METADATA, Instant
from kith.social.ids import AccountId

# `state`: making, ready. The file goes when `expires_at` has come, and the row with it.
archives = Table(
    "social_archives",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="SET NULL"), index=True),
    Column("state", String(10), nullable=False),
    Column("file", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False, index=True),
)


class Archive(msgspec.Struct):
    id: int
    account_id: AccountId | None
    state: str
    file: str
    bytes: int
    created_at: datetime
    expires_at: datetime
