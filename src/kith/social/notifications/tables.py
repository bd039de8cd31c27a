from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, String, Table, Text

from kith.base.db import ID, METADATA, Instant
from kith.social.ids import AccountId, StatusId

notifications = Table(
    "social_notifications",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("from_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("type", String(30), nullable=False),
    Column("status_id", BigInteger, ForeignKey("social_statuses.id", ondelete="CASCADE"), index=True),
    Column("group_key", Text, nullable=False),
    Column("filtered", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    # The same thing is told once: by this key, which says what it is about.
    Column("once_key", Text, nullable=False, unique=True),
    # What it is about, where that is no status: a report, a warning, lost relationships, as its type says.
    Column("subject_id", BigInteger),
    Index("ix_social_notifications_account_id", "account_id", "id"),
    Index("ix_social_notifications_from_id", "from_id", "account_id"),
)


class Notification(msgspec.Struct):
    id: int
    account_id: AccountId
    from_id: AccountId
    type: str
    status_id: StatusId | None
    group_key: str
    filtered: bool
    created_at: datetime
    once_key: str
    subject_id: int | None = None
