from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from kith.base.db import ID, METADATA, Instant
from kith.social.ids import AccountId

# `name` is how tags are compared, `display` how the first one who used it wrote it.
tags = Table(
    "social_tags",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False, unique=True),
    Column("display", Text, nullable=False),
    Column("usable", Boolean, nullable=False),
    Column("listable", Boolean, nullable=False),
    Column("trendable", Boolean),
    Column("last_status_at", Instant),  # None while only posts that are not for everybody have used it
    Column("created_at", Instant, nullable=False),
    # When the team looked at it, and when it was asked to.
    Column("reviewed_at", Instant),
    Column("requested_review_at", Instant),
)

status_tags = Table(
    "social_status_tags",
    METADATA,
    Column("tag_id", BigInteger, ForeignKey("social_tags.id", ondelete="CASCADE"), primary_key=True),
    Column("status_id", BigInteger, ForeignKey("social_statuses.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", BigInteger, nullable=False),
    Index("ix_social_status_tags_status_id", "status_id"),
    Index("ix_social_status_tags_account_id", "account_id", "tag_id", "status_id"),
)

tag_follows = Table(
    "social_tag_follows",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("tag_id", BigInteger, ForeignKey("social_tags.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("account_id", "tag_id"),
)

featured_tags = Table(
    "social_featured_tags",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("tag_id", BigInteger, ForeignKey("social_tags.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("display", Text, nullable=False),
    Column("statuses_count", Integer, nullable=False),
    Column("last_status_at", Instant),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("account_id", "tag_id"),
)

# Who used a tag on which day: the seven days that are shown, and what trends are reckoned from.
tag_days = Table(
    "social_tag_days",
    METADATA,
    Column("tag_id", BigInteger, ForeignKey("social_tags.id", ondelete="CASCADE"), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("account_id", BigInteger, primary_key=True),
    Column("uses", Integer, nullable=False),
    Index("ix_social_tag_days_day", "day"),
    Index("ix_social_tag_days_account_id", "account_id", "day"),
)


class Tag(msgspec.Struct):
    id: int
    name: str
    display: str
    usable: bool
    listable: bool
    trendable: bool | None
    last_status_at: datetime | None
    created_at: datetime
    reviewed_at: datetime | None = None
    requested_review_at: datetime | None = None


class FeaturedTag(msgspec.Struct):
    id: int
    account_id: AccountId
    tag_id: int
    display: str
    statuses_count: int
    last_status_at: datetime | None
    created_at: datetime
