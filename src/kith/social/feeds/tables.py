from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, String, Table

from kith.base.db import ID, METADATA, Instant
from kith.social.ids import AccountId

# Home feeds and list feeds: `owner` is an account or a list, whose ids never meet. A feed is short, so what is looked
# for in one is found by reading it; an index by author or original would be one more page to write for every entry.
feeds = Table(
    "social_feeds",
    METADATA,
    Column("owner", BigInteger, primary_key=True, autoincrement=False),
    Column("status_id", BigInteger, primary_key=True, autoincrement=False),
    Column("original_id", BigInteger, nullable=False),
    Column("author_id", BigInteger, nullable=False),
    Column("by_tag", Boolean, nullable=False),
    Index("ix_social_feeds_status_id", "status_id"),
    sqlite_with_rowid=False,
)

# `building` while a feed is put together again; `active_at` is when its owner was last here.
feed_states = Table(
    "social_feed_states",
    METADATA,
    Column(
        "account_id",
        ID,
        ForeignKey("social_accounts.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("state", String(10), nullable=False),
    Column("active_at", Instant, nullable=False, index=True),
    Column("changed_at", Instant, nullable=False),
)


class FeedState(msgspec.Struct):
    account_id: AccountId
    state: str
    active_at: datetime
    changed_at: datetime
