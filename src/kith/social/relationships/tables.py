from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Table, Text, UniqueConstraint, text

from kith.base.db import ID, METADATA, Document, Instant
from kith.social.ids import AccountId


def _pair(name: str, *columns: Column[Any]) -> Table:
    """Something one account has towards another, at most once."""
    return Table(
        name,
        METADATA,
        Column("id", ID, primary_key=True, autoincrement=False),
        Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
        Column("target_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
        *columns,
        Column("created_at", Instant, nullable=False),
        UniqueConstraint("account_id", "target_id"),
        Index(f"ix_{name}_account_id", "account_id", "id"),
        Index(f"ix_{name}_target_id", "target_id", "id"),
    )


def _following() -> tuple[Column[Any], ...]:
    return (
        Column("reblogs", Boolean, nullable=False),
        Column("notify", Boolean, nullable=False),
        Column("languages", Document),
        Column("uri", Text),
    )


follows = _pair("social_follows", *_following())
_wants = text("notify")
Index("ix_social_follows_notify", follows.c.target_id, sqlite_where=_wants, postgresql_where=_wants)
follow_requests = _pair("social_follow_requests", *_following())
blocks = _pair("social_blocks", Column("uri", Text))
mutes = _pair(
    "social_mutes",
    Column("hide_notifications", Boolean, nullable=False),
    Column("expires_at", Instant, index=True),
)
endorsements = _pair("social_endorsements")

domain_blocks = Table(
    "social_domain_blocks",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("domain", Text, nullable=False, index=True),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("account_id", "domain"),
)
account_notes = Table(
    "social_account_notes",
    METADATA,
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True),
    Column("target_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True, index=True),
    Column("comment", Text, nullable=False),
)


class Follow(msgspec.Struct):
    """A follow, or the wish for one: both are kept alike."""

    id: int
    account_id: AccountId
    target_id: AccountId
    reblogs: bool
    notify: bool
    languages: list[str] | None
    uri: str | None
    created_at: datetime


class Block(msgspec.Struct):
    id: int
    account_id: AccountId
    target_id: AccountId
    uri: str | None
    created_at: datetime


class Mute(msgspec.Struct):
    id: int
    account_id: AccountId
    target_id: AccountId
    hide_notifications: bool
    expires_at: datetime | None
    created_at: datetime
