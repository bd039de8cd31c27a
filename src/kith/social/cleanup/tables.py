from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, Table, text

from kith.base.db import ID, METADATA, Instant, Long
from kith.social.ids import AccountId, StatusId

WEEK, YEAR = 604_800, 31_556_952  # seconds
MONTH = YEAR // 12
AGES = (WEEK, 2 * WEEK, MONTH, 2 * MONTH, 3 * MONTH, 6 * MONTH, YEAR, 2 * YEAR)

# Who has their own old posts deleted, and which of them stay. No row: nobody's are.
# `inspected_id` is how far their posts have been looked at, `restarts_at` from when on they are looked at anew.
cleanup_policies = Table(
    "social_cleanup_policies",
    METADATA,
    Column(
        "account_id", ID, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    Column("enabled", Boolean, nullable=False),
    Column("min_status_age", Integer, nullable=False),  # seconds
    Column("keep_direct", Boolean, nullable=False),
    Column("keep_pinned", Boolean, nullable=False),
    Column("keep_polls", Boolean, nullable=False),
    Column("keep_media", Boolean, nullable=False),
    Column("keep_self_fav", Boolean, nullable=False),
    Column("keep_self_bookmark", Boolean, nullable=False),
    Column("min_favs", Integer),
    Column("min_reblogs", Integer),
    Column("inspected_id", Long, nullable=False),
    Column("restarts_at", Instant, nullable=False),
    Column("next_at", Instant, nullable=False),
)
_on = text("enabled")
Index("ix_social_cleanup_policies_next_at", cleanup_policies.c.next_at, sqlite_where=_on, postgresql_where=_on)


class CleanupPolicy(msgspec.Struct):
    """What is older than `min_status_age` is deleted, unless one of the other rules keeps it."""

    account_id: AccountId
    enabled: bool
    min_status_age: int
    keep_direct: bool
    keep_pinned: bool
    keep_polls: bool
    keep_media: bool
    keep_self_fav: bool
    keep_self_bookmark: bool
    min_favs: int | None
    min_reblogs: int | None
    inspected_id: int
    restarts_at: datetime
    next_at: datetime


class OldPost(msgspec.Struct):
    """As much of a post as decides whether it stays."""

    id: StatusId
    visibility: int
    has_poll: bool
    media_ids: list[int]
    favourites_count: int
    reblogs_count: int
    is_pinned: bool
    is_favourited: bool
    is_bookmarked: bool
