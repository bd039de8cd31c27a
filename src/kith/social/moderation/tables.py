from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, String, Table, Text

from kith.base.db import ID, METADATA, Document, Instant
from kith.social.ids import AccountId


def _account(name: str, *, nullable: bool = False) -> Column[int]:
    rule = "SET NULL" if nullable else "CASCADE"
    return Column(name, BigInteger, ForeignKey("social_accounts.id", ondelete=rule), nullable=nullable)


reports = Table(
    "social_reports",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    _account("account_id"),
    _account("target_id"),
    Column("category", String(10), nullable=False),
    Column("comment", Text, nullable=False),
    Column("status_ids", Document, nullable=False),
    Column("rule_ids", Document, nullable=False),
    Column("collection_ids", Document, nullable=False),
    Column("forwarded", Boolean, nullable=False),
    Column("forward_to_domains", Document, nullable=False),
    Column("thread_id", BigInteger, nullable=False),  # the report with which the mails about this one began
    _account("assigned_id", nullable=True),
    Column("action_taken_at", Instant),
    _account("action_taken_by_id", nullable=True),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Index("ix_social_reports_account_id", "account_id", "id"),
    Index("ix_social_reports_target_id", "target_id", "id"),
    Index("ix_social_reports_assigned_id", "assigned_id"),
    Index("ix_social_reports_action_taken_by_id", "action_taken_by_id"),
)

notes = Table(
    "social_report_notes",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("report_id", BigInteger, ForeignKey("social_reports.id", ondelete="CASCADE"), nullable=False),
    _account("account_id"),
    Column("content", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index("ix_social_report_notes_report_id", "report_id", "id"),
    Index("ix_social_report_notes_account_id", "account_id"),
)

presets = Table(
    "social_warning_presets",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("title", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
)

# What the team has done to somebody, as they are told of it.
strikes = Table(
    "social_strikes",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    _account("target_id"),
    _account("account_id", nullable=True),
    Column("action", String(30), nullable=False),
    Column("text", Text, nullable=False),
    Column("status_ids", Document, nullable=False),
    Column("report_id", BigInteger, ForeignKey("social_reports.id", ondelete="SET NULL"), index=True),
    Column("overruled_at", Instant),
    Column("created_at", Instant, nullable=False),
    Index("ix_social_strikes_target_id", "target_id", "id"),
    Index("ix_social_strikes_account_id", "account_id"),
)

appeals = Table(
    "social_appeals",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("strike_id", BigInteger, ForeignKey("social_strikes.id", ondelete="CASCADE"), nullable=False, unique=True),
    _account("account_id"),
    Column("text", Text, nullable=False),
    Column("state", String(10), nullable=False),
    _account("decided_by_id", nullable=True),
    Column("decided_at", Instant),
    Column("created_at", Instant, nullable=False),
    Index("ix_social_appeals_account_id", "account_id"),
    Index("ix_social_appeals_state", "state", "id"),
    Index("ix_social_appeals_decided_by_id", "decided_by_id"),
)

# Suspended accounts whose data is deleted when the time is over.
deletions = Table(
    "social_deletions",
    METADATA,
    Column(
        "account_id", ID, ForeignKey("social_accounts.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    Column("due_at", Instant, nullable=False, index=True),
    Column("was_active", Boolean, nullable=False),  # whether they may come in again when it is lifted
)

# Follows that somebody lost by what the team did to others, or by blocking a domain.
severances = Table(
    "social_severances",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    _account("account_id"),
    Column("type", String(20), nullable=False),
    Column("target_name", Text, nullable=False),
    Column("followers_count", Integer, nullable=False),
    Column("following_count", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index("ix_social_severances_account_id", "account_id"),
)

# The follows that were lost with one of these, for whoever wants to find them again.
severed_follows = Table(
    "social_severed_follows",
    METADATA,
    Column("severance_id", BigInteger, ForeignKey("social_severances.id", ondelete="CASCADE"), primary_key=True),
    Column("following", Boolean, primary_key=True),  # or else followed by
    Column("acct", Text, primary_key=True),
    Column("reblogs", Boolean, nullable=False),
    Column("notify", Boolean, nullable=False),
    Column("languages", Document),
)


class Report(msgspec.Struct):
    id: int
    account_id: AccountId
    target_id: AccountId
    category: str
    comment: str
    status_ids: list[str]
    rule_ids: list[str]
    collection_ids: list[str]
    forwarded: bool
    forward_to_domains: list[str]
    thread_id: int
    assigned_id: AccountId | None
    action_taken_at: datetime | None
    action_taken_by_id: AccountId | None
    created_at: datetime
    updated_at: datetime


class Note(msgspec.Struct):
    id: int
    report_id: int
    account_id: AccountId
    content: str
    created_at: datetime


class Preset(msgspec.Struct):
    id: int
    title: str
    text: str
    created_at: datetime


class Strike(msgspec.Struct):
    id: int
    target_id: AccountId
    account_id: AccountId | None
    action: str
    text: str
    status_ids: list[str]
    report_id: int | None
    overruled_at: datetime | None
    created_at: datetime


class Appeal(msgspec.Struct):
    id: int
    strike_id: int
    account_id: AccountId
    text: str
    state: str
    decided_by_id: AccountId | None
    decided_at: datetime | None
    created_at: datetime


class SeveredFollow(msgspec.Struct):
    """`acct` is the other one's handle: their account may be gone by the time it is read."""

    severance_id: int
    following: bool
    acct: str
    reblogs: bool = True
    notify: bool = False
    languages: list[str] | None = None


class Severance(msgspec.Struct):
    id: int
    account_id: AccountId
    type: str
    target_name: str
    followers_count: int
    following_count: int
    created_at: datetime
