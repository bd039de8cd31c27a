from __future__ import annotations

from datetime import datetime, timedelta

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, String, Table, Text, UniqueConstraint

from kith.base.db import ID, METADATA, Instant

announcements = Table(
    "social_announcements",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    Column("all_day", Boolean, nullable=False),
    Column("starts_at", Instant),
    Column("ends_at", Instant),
    Column("scheduled_at", Instant),
    Column("published", Boolean, nullable=False),
    Column("published_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("mailed_at", Instant),
)

# Who has read which announcement.
reads = Table(
    "social_announcement_reads",
    METADATA,
    Column("announcement_id", BigInteger, ForeignKey("social_announcements.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True),
    Index("ix_social_announcement_reads_account_id", "account_id"),
)

reactions = Table(
    "social_announcement_reactions",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("announcement_id", BigInteger, ForeignKey("social_announcements.id", ondelete="CASCADE"), nullable=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("name", String(100), nullable=False),
    UniqueConstraint("announcement_id", "name", "account_id"),
    Index("ix_social_announcement_reactions_account_id", "account_id"),
)


class Announcement(msgspec.Struct):
    id: int
    text: str
    all_day: bool
    starts_at: datetime | None
    ends_at: datetime | None
    scheduled_at: datetime | None
    published: bool
    published_at: datetime | None
    created_at: datetime
    updated_at: datetime
    mailed_at: datetime | None = None  # when it began to be sent to everybody by mail

    @property
    def over_at(self) -> datetime | None:
        """From when on it is no longer shown. Where only the dates matter, the last day counts whole (in UTC)."""
        if self.ends_at is None or not self.all_day:
            return self.ends_at
        return self.ends_at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)

    def is_over(self, now: datetime) -> bool:
        return self.over_at is not None and self.over_at <= now

    def is_shown(self, now: datetime) -> bool:
        return self.published and not self.is_over(now)


class ReactionCount(msgspec.Struct):
    """How many people reacted with the same emoji, and whether one of them asks."""

    announcement_id: int
    name: str
    count: int
    mine: int
