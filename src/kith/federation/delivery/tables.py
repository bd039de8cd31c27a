from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, SmallInteger, String, Table, Text, text

from kith.base.db import ID, METADATA, UID, Document, Instant

TRIED = "attempts > 0"

# An activity that is on its way, once for all who get it. `sender` is an account here, none for the server itself.
outgoing = Table(
    "federation_outgoing",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("sender", BigInteger),
    Column("activity", Text, nullable=False),  # the bytes that are sent and signed
    Column("with_previous_key", Boolean, nullable=False),
    Column("made_at", Instant, nullable=False),
)

# One row for each activity and inbox, gone when the inbox has answered or was given up. A process that sends holds
# the rows it is about; `held_until` frees them if it dies.
deliveries = Table(
    "federation_deliveries",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column(
        "outgoing_id",
        BigInteger,
        ForeignKey("federation_outgoing.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("domain", Text, nullable=False),
    Column("inbox", Text, nullable=False),
    Column("sender", BigInteger, nullable=False),  # 0 for the server itself
    # What the activity is about, as a number made of its id; 0 where nothing that follows could be about the same.
    Column("subject", BigInteger, nullable=False, server_default=text("0")),
    Column("headers", Document),  # sent and signed beside the usual ones
    Column("attempts", SmallInteger, nullable=False),
    Column("retries", SmallInteger, nullable=False),  # how many attempts may follow the first
    Column("size", Integer, nullable=False, server_default=text("0")),  # bytes that are sent
    Column("even_if_dead", Boolean, nullable=False),
    Column("next_at", Instant, nullable=False),
    Column("held_by", UID),
    Column("held_until", Instant),
    Index("ix_federation_deliveries_domain", "domain", "next_at"),
    Index("ix_federation_deliveries_tried", "inbox", sqlite_where=text(TRIED), postgresql_where=text(TRIED)),
)

# What is remembered of a host that we write to. `failures` are those in a row, `failing_days` the days that had any
# since the last success.
hosts = Table(
    "federation_hosts",
    METADATA,
    Column("domain", Text, primary_key=True),
    Column("scheme", String(16)),  # of the signatures it has accepted
    Column("failures", Integer, nullable=False),
    Column("failing_days", SmallInteger, nullable=False),
    Column("is_slow", Boolean, nullable=False),
    Column("failed_at", Instant),
    Column("error", Text),
    Column("succeeded_at", Instant),
    Column("paused_until", Instant),
    Column("unavailable_since", Instant),
)


class OutgoingActivity(msgspec.Struct, frozen=True):
    id: int
    sender: int | None
    activity: str
    with_previous_key: bool
    made_at: datetime


class DueDelivery(msgspec.Struct, frozen=True):
    """What a process that sends needs of a row it holds."""

    id: int
    outgoing_id: int
    domain: str
    inbox: str
    sender: int
    headers: Any
    attempts: int
    retries: int
    size: int = 0


class DeliveryHost(msgspec.Struct):
    domain: str
    scheme: str | None = None
    failures: int = 0
    failing_days: int = 0
    is_slow: bool = False
    failed_at: datetime | None = None
    error: str | None = None
    succeeded_at: datetime | None = None
    paused_until: datetime | None = None
    unavailable_since: datetime | None = None

    @property
    def is_troubled(self) -> bool:
        """Whether it is tried apart from the others, so that none of them waits for it."""
        return self.failures > 0 or self.is_slow or self.unavailable_since is not None
