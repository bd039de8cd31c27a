from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    and_,
    text,
)

from kith.base.db import ID, METADATA, Document, Instant, Long, index_of_some, index_of_url
from kith.social.ids import AccountId, StatusId

PUBLIC, UNLISTED, PRIVATE, DIRECT, LIMITED = range(5)
VISIBILITIES = ("public", "unlisted", "private", "direct", "limited")
NOT_KNOWN = 0  # in place of the post, and of its author, that one from elsewhere answers and nobody here knows

# `version` grows with whatever is shown of the status (see `versions`).
statuses = Table(
    "social_statuses",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("version", Long, nullable=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("local", Boolean, nullable=False),
    Column("uri", Text, nullable=False, unique=True),
    Column("url", Text),
    Column("visibility", SmallInteger, nullable=False),
    Column("in_reply_to_id", BigInteger),
    Column("in_reply_to_account_id", BigInteger),
    Column("reblog_of_id", BigInteger, ForeignKey("social_statuses.id", ondelete="CASCADE")),
    Column("conversation_id", BigInteger, nullable=False),
    Column("text", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("spoiler_text", Text, nullable=False),
    Column("sensitive", Boolean, nullable=False),
    Column("language", String(35)),
    Column("media_ids", Document, nullable=False),
    Column("tag_names", Document, nullable=False),
    Column("poll_id", BigInteger),
    Column("card_id", BigInteger, ForeignKey("social_cards.id", ondelete="SET NULL")),
    Column("quoted_id", BigInteger),
    Column("quote_state", String(10)),
    Column("quote_policy", String(10), nullable=False),
    Column("application", Document),
    Column("replies_count", Integer, nullable=False),
    Column("reblogs_count", Integer, nullable=False),
    Column("favourites_count", Integer, nullable=False),
    Column("quotes_count", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("edited_at", Instant),
    Column("deleted_at", Instant),
    Column("fetched_at", Instant),
    Index("ix_social_statuses_account_id", "account_id", "id"),
    Index("ix_social_statuses_conversation_id", "conversation_id", "id"),
    index_of_url("social_statuses"),
    index_of_some("social_statuses", "card_id"),
    index_of_some("social_statuses", "in_reply_to_id", "id"),
    index_of_some("social_statuses", "quoted_id"),
    index_of_some("social_statuses", "reblog_of_id", "id"),
)
_is_boost = statuses.c.reblog_of_id.is_not(None)
# Of two boosts of the same status by the same account, one is there.
Index(
    "uq_social_statuses_boosts",
    statuses.c.account_id,
    statuses.c.reblog_of_id,
    unique=True,
    sqlite_where=and_(_is_boost, statuses.c.deleted_at.is_(None)),
    postgresql_where=and_(_is_boost, statuses.c.deleted_at.is_(None)),
)
# What public timelines are read from; they say it in the same words (`access.is_no_boost`).
_on_sqlite = "visibility = 0 AND coalesce(reblog_of_id, 0) = 0 AND deleted_at IS NULL"
_on_postgresql = "visibility = 0 AND reblog_of_id IS NULL AND deleted_at IS NULL"
for _name, _more in (("public", ""), ("local", " AND local")):
    Index(
        f"ix_social_statuses_{_name}",
        statuses.c.id,
        sqlite_where=text(_on_sqlite + _more),
        postgresql_where=text(_on_postgresql + _more),
    )
# What somebody says below a post, however many others answer it.
_is_answer = text("in_reply_to_id IS NOT NULL")
Index(
    "ix_social_statuses_answers_by_account",
    statuses.c.in_reply_to_id,
    statuses.c.account_id,
    statuses.c.id,
    sqlite_where=_is_answer,
    postgresql_where=_is_answer,
)
_ended = text("deleted_at IS NOT NULL")
Index("ix_social_statuses_deleted_at", statuses.c.deleted_at, sqlite_where=_ended, postgresql_where=_ended)

mentions = Table(
    "social_mentions",
    METADATA,
    Column("status_id", BigInteger, ForeignKey("social_statuses.id", ondelete="CASCADE"), primary_key=True),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True),
    Column("silent", Boolean, nullable=False),
    Index("ix_social_mentions_account_id", "account_id", "status_id"),
)

edits = Table(
    "social_status_edits",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("status_id", BigInteger, ForeignKey("social_statuses.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("text", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("spoiler_text", Text, nullable=False),
    Column("sensitive", Boolean, nullable=False),
    Column("media", Document, nullable=False),
    Column("poll_options", Document),
    Column("quoted_id", BigInteger),
    Column("created_at", Instant, nullable=False),
)


def _mark(name: str) -> Table:
    """Something an account does to a status, at most once."""
    return Table(
        name,
        METADATA,
        Column("id", ID, primary_key=True, autoincrement=False),
        Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
        Column("status_id", BigInteger, ForeignKey("social_statuses.id", ondelete="CASCADE"), nullable=False),
        Column("created_at", Instant, nullable=False),
        UniqueConstraint("account_id", "status_id"),
        Index(f"ix_{name}_account_id", "account_id", "id"),
        Index(f"ix_{name}_status_id", "status_id", "id"),
    )


favourites = _mark("social_favourites")
bookmarks = _mark("social_bookmarks")
pins = _mark("social_pins")

conversation_mutes = Table(
    "social_conversation_mutes",
    METADATA,
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True),
    Column("conversation_id", BigInteger, primary_key=True),
)

cards = Table(
    "social_cards",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("url_hash", String(64), nullable=False, unique=True),
    Column("url", Text, nullable=False),
    Column("data", Document, nullable=False),
    Column("creator_id", BigInteger, index=True),
    Column("fetched_at", Instant, nullable=False),
    Column("image_source", Text, nullable=False, server_default=""),
    Column("image_bytes", BigInteger, nullable=False, server_default="0"),
    Column("looked_at", Instant),
    index_of_some("social_cards", "looked_at", "image_bytes"),
)

scheduled = Table(
    "social_scheduled_statuses",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("scheduled_at", Instant, nullable=False, index=True),
    Column("params", Document, nullable=False),
    Column("media_ids", Document, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index("ix_social_scheduled_statuses_account_id", "account_id", "id"),
)

# What an `Idempotency-Key` led to, so that a repeated request is answered with it.
idempotency = Table(
    "social_idempotency",
    METADATA,
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("status_id", BigInteger),
    Column("scheduled_id", BigInteger),
    Column("created_at", Instant, nullable=False, index=True),
)

polls = Table(
    "social_polls",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("status_id", BigInteger, ForeignKey("social_statuses.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("options", Document, nullable=False),
    Column("tallies", Document, nullable=False),
    Column("voters_count", Integer),
    Column("multiple", Boolean, nullable=False),
    Column("hide_totals", Boolean, nullable=False),
    Column("expires_at", Instant),
    Column("ended_at", Instant),
    Column("fetched_at", Instant),
    Index("ix_social_polls_expires_at", "expires_at"),
)

votes = Table(
    "social_poll_votes",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("poll_id", BigInteger, ForeignKey("social_polls.id", ondelete="CASCADE"), nullable=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("choice", SmallInteger, nullable=False),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("poll_id", "account_id", "choice"),
)

# Posts that came from an archive of another server: what they were known by there, so that none comes twice.
imported = Table(
    "social_imported_statuses",
    METADATA,
    Column(
        "status_id", ID, ForeignKey("social_statuses.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    Column("account_id", BigInteger, nullable=False),
    Column("original_uri", Text, nullable=False),
    Column("imported_at", Instant, nullable=False),
    UniqueConstraint("account_id", "original_uri"),
)


class Status(msgspec.Struct):
    id: StatusId
    version: int
    account_id: AccountId
    local: bool
    uri: str
    url: str | None
    visibility: int
    in_reply_to_id: StatusId | None
    in_reply_to_account_id: AccountId | None
    reblog_of_id: StatusId | None
    conversation_id: int
    text: str
    content: str
    spoiler_text: str
    sensitive: bool
    language: str | None
    media_ids: list[int]
    tag_names: list[str]
    poll_id: int | None
    card_id: int | None
    quoted_id: StatusId | None
    quote_state: str | None
    quote_policy: str
    application: dict[str, Any] | None
    replies_count: int
    reblogs_count: int
    favourites_count: int
    quotes_count: int
    created_at: datetime
    edited_at: datetime | None
    deleted_at: datetime | None
    fetched_at: datetime | None


class Edit(msgspec.Struct):
    id: int
    status_id: StatusId
    text: str
    content: str
    spoiler_text: str
    sensitive: bool
    media: list[dict[str, Any]]
    poll_options: list[str] | None
    quoted_id: StatusId | None
    created_at: datetime


class Scheduled(msgspec.Struct):
    id: int
    account_id: AccountId
    scheduled_at: datetime
    params: dict[str, Any]
    media_ids: list[int]
    created_at: datetime


class Poll(msgspec.Struct):
    """`ended_at` is set when everybody who takes part has been told that it is over."""

    id: int
    status_id: StatusId
    account_id: AccountId
    options: list[str]
    tallies: list[int]
    voters_count: int | None
    multiple: bool
    hide_totals: bool
    expires_at: datetime | None
    ended_at: datetime | None
    fetched_at: datetime | None
