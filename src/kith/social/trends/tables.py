from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, Float, ForeignKey, Integer, String, Table, Text

from kith.base.db import ID, METADATA, Instant
from kith.social.ids import AccountId

# One row, once the team has changed something: whether there are trends, and whether what nobody has reviewed is shown.
trend_settings = Table(
    "social_trend_settings",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("enabled", Boolean, nullable=False),
    Column("trendable_by_default", Boolean, nullable=False),
    Column("updated_at", Instant, nullable=False),
)


def _of(name: str, table: str) -> Column[Any]:
    return Column(name, ID, ForeignKey(f"{table}.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)


def _scores() -> tuple[Column[Any], ...]:
    """The score as it was last reckoned, and the greatest of the last two days, from which it falls."""
    return (
        Column("score", Float, nullable=False, index=True),
        Column("max_score", Float, nullable=False),
        Column("max_score_at", Instant),
    )


tag_trends = Table("social_tag_trends", METADATA, _of("tag_id", "social_tags"), *_scores())

# Sites, by their domain. What the team says of one holds for all its pages of which it says nothing.
link_publishers = Table(
    "social_link_publishers",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("domain", Text, nullable=False, unique=True),
    Column("trendable", Boolean),
    Column("reviewed_at", Instant),
    Column("requested_review_at", Instant),
    Column("created_at", Instant, nullable=False),
)

link_trends = Table(
    "social_link_trends",
    METADATA,
    _of("card_id", "social_cards"),
    Column("publisher_id", BigInteger, ForeignKey("social_link_publishers.id", ondelete="SET NULL"), index=True),
    Column("language", String(35)),
    Column("trendable", Boolean),
    *_scores(),
)

# How many people shared a link on a day, and how often, as the last seven days are shown.
link_days = Table(
    "social_link_days",
    METADATA,
    Column("card_id", BigInteger, ForeignKey("social_cards.id", ondelete="CASCADE"), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("accounts", Integer, nullable=False),
    Column("uses", Integer, nullable=False),
)

status_trends = Table(
    "social_status_trends",
    METADATA,
    _of("status_id", "social_statuses"),
    Column("trendable", Boolean),
    Column("score", Float, nullable=False, index=True),
)

# Whose posts may trend, as far as the team says nothing of a post.
trend_authors = Table(
    "social_trend_authors",
    METADATA,
    _of("account_id", "social_accounts"),
    Column("trendable", Boolean),
    Column("reviewed_at", Instant),
    Column("requested_review_at", Instant),
)


class TrendSettings(msgspec.Struct):
    enabled: bool = True
    trendable_by_default: bool = False


class LinkPublisher(msgspec.Struct):
    id: int
    domain: str
    trendable: bool | None
    reviewed_at: datetime | None
    requested_review_at: datetime | None
    created_at: datetime


class TrendAuthor(msgspec.Struct):
    account_id: AccountId
    trendable: bool | None = None
    reviewed_at: datetime | None = None
    requested_review_at: datetime | None = None
