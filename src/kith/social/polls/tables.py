from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, SmallInteger, Table, UniqueConstraint

from kith.base.db import METADATA, Document, Instant

polls = Table(
    "social_polls",
    METADATA,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
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
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("poll_id", BigInteger, ForeignKey("social_polls.id", ondelete="CASCADE"), nullable=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("choice", SmallInteger, nullable=False),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("poll_id", "account_id", "choice"),
)


class Poll(msgspec.Struct):
    """`ended_at` is set when everybody who takes part has been told that it is over."""

    id: int
    status_id: int
    account_id: int
    options: list[str]
    tallies: list[int]
    voters_count: int | None
    multiple: bool
    hide_totals: bool
    expires_at: datetime | None
    ended_at: datetime | None
    fetched_at: datetime | None
