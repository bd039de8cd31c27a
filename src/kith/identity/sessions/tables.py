from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, Table, Text, UniqueConstraint

from kith.base.db import METADATA, UID, Instant

sessions = Table(
    "identity_sessions",
    METADATA,
    Column("session_uuid", UID, primary_key=True),
    Column("key_hash", String(64), nullable=False, unique=True),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE")),
    Column("auth_method", String(40), nullable=False),
    Column("keeps", Boolean, nullable=False),
    Column("last_ip", String(45), nullable=False),
    Column("last_user_agent", String(300), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("last_used_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    Column("network_binding", String(40)),
    Column("geoip_binding", String(40)),
    Index("ix_identity_sessions_user_id", "user_id"),
    Index("ix_identity_sessions_expires_at", "expires_at"),
)

# One run of one flow; what it knows may hold secrets (a new password), so it is kept sealed.
runs = Table(
    "identity_flow_runs",
    METADATA,
    Column("run_uuid", UID, primary_key=True),
    Column("session_uuid", UID, ForeignKey("identity_sessions.session_uuid", ondelete="CASCADE"), nullable=False),
    Column("flow_uuid", UID, ForeignKey("identity_flows.flow_uuid", ondelete="CASCADE"), nullable=False, index=True),
    Column("plan", Text, nullable=False),
    Column("updated_at", Instant, nullable=False, index=True),
    UniqueConstraint("session_uuid", "flow_uuid"),
)

# Impersonations: the session is the other person's, except for this row.
impersonations = Table(
    "identity_impersonations",
    METADATA,
    Column("session_uuid", UID, ForeignKey("identity_sessions.session_uuid", ondelete="CASCADE"), primary_key=True),
    Column("by_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("reason", Text, nullable=False),
    Column("started_at", Instant, nullable=False),
)


class LoginSession(msgspec.Struct):
    """A browser's session; signed in if `user_id` is set.

    In an impersonation `by_id` is who is behind it. `is_open` is False if that person may not impersonate any more.
    """

    session_uuid: str
    key_hash: str
    user_id: int | None
    auth_method: str
    keeps: bool
    last_ip: str
    last_user_agent: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    network_binding: str | None = None
    geoip_binding: str | None = None
    by_id: int | None = None
    by_name: str | None = None
    username: str | None = None
    is_open: bool = True
    user_expires: datetime | None = None
