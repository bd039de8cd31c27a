from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, Table, Text

from kith.base.db import METADATA, UID, Instant

# How many notifications of a rule were sent in the current minute, and how many events wait for its end.
windows = Table(
    "identity_notification_windows",
    METADATA,
    Column("rule", UID, ForeignKey("identity_notification_rules.pbm_uuid", ondelete="CASCADE"), primary_key=True),
    Column("started_at", Instant, nullable=False),
    Column("sent", Integer, nullable=False),
    Column("held", Integer, nullable=False),
    Column("last_event", UID),
)

notifications = Table(
    "identity_notifications",
    METADATA,
    Column("uuid", UID, primary_key=True),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), nullable=False),
    Column("severity", String(20), nullable=False),
    Column("body", Text, nullable=False),
    Column("event", UID, ForeignKey("identity_events.event_uuid", ondelete="SET NULL"), index=True),
    Column("count", Integer, nullable=False),
    Column("seen", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Index("ix_identity_notifications_user", "user_id", "created_at"),
    Index("ix_identity_notifications_created_at", "created_at"),
)


class NotificationWindow(msgspec.Struct):
    """The first notifications of a minute are sent one by one, the others together at its end."""

    rule: str
    started_at: datetime
    sent: int
    held: int
    last_event: str | None
