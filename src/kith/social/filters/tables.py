from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, String, Table, Text, UniqueConstraint

from kith.base.db import ID, METADATA, Instant
from kith.social.ids import AccountId, StatusId

CONTEXTS = ("home", "notifications", "public", "thread", "account")
ACTIONS = ("warn", "hide", "blur")

filters = Table(
    "social_filters",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("title", Text, nullable=False),
    Column("context", Text, nullable=False),  # words with a space between them
    Column("action", String(10), nullable=False),
    Column("expires_at", Instant),
)

keywords = Table(
    "social_filter_keywords",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("filter_id", BigInteger, ForeignKey("social_filters.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("keyword", Text, nullable=False),
    Column("whole_word", Boolean, nullable=False),
)

filtered_statuses = Table(
    "social_filter_statuses",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("filter_id", BigInteger, ForeignKey("social_filters.id", ondelete="CASCADE"), nullable=False),
    Column("status_id", BigInteger, ForeignKey("social_statuses.id", ondelete="CASCADE"), nullable=False, index=True),
    UniqueConstraint("filter_id", "status_id"),
)

# Another number whenever a filter of the account changes. Nobody without filters has a row.
versions = Table(
    "social_filter_versions",
    METADATA,
    Column(
        "account_id", ID, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    Column("version", BigInteger, nullable=False),
)


class Filter(msgspec.Struct):
    id: int
    account_id: AccountId
    title: str
    context: str
    action: str
    expires_at: datetime | None


class Keyword(msgspec.Struct):
    id: int
    filter_id: int
    keyword: str
    whole_word: bool


class FilteredStatus(msgspec.Struct):
    id: int
    filter_id: int
    status_id: StatusId
