from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Column, ForeignKey, Index, Integer, String, Table, text

from kith.base.db import METADATA, UID, Document, Instant

# Sign-ins have an index of their own, for policies that look at where somebody was before.
LOGINS = text("action = 'login'")
# Through which programs sign people in, from their own addresses.
BY_PROGRAMS = ("providers.ldap", "providers.radius")

events = Table(
    "identity_events",
    METADATA,
    Column("event_uuid", UID, primary_key=True),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="SET NULL")),
    Column("username", String(150), nullable=False),
    Column("action", String(60), nullable=False),
    Column("app", String(100), nullable=False),
    Column("context", Document, nullable=False),
    Column("client_ip", String(45)),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Index("ix_identity_events_created_at", "created_at", "event_uuid"),
    Index("ix_identity_events_user", "user_id", "created_at"),
    Index("ix_identity_events_action", "action", "created_at"),
    Index("ix_identity_events_expires_at", "expires_at"),
    Index("ix_identity_events_logins", "user_id", "created_at", sqlite_where=LOGINS, postgresql_where=LOGINS),
)


class Event(msgspec.Struct):
    """Something that was done, by whom, from where. Written once, never changed."""

    event_uuid: str
    user_id: int | None
    username: str
    action: str
    app: str
    context: dict[str, Any]
    client_ip: str | None
    created_at: datetime
    expires_at: datetime
