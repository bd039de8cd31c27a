from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Column, ForeignKey, Integer, String, Table, Text

from kith.base.db import METADATA, Instant

signups = Table(
    "identity_signups",
    METADATA,
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), primary_key=True),
    Column("reason", Text, nullable=False),
    Column("locale", String(35), nullable=False),
    Column("client_ip", String(45), nullable=False),
    Column("client_name", Text, nullable=False),
    Column("created_at", Instant, nullable=False, index=True),
    Column("invited_by", Integer, ForeignKey("identity_users.id", ondelete="SET NULL"), index=True),
)


class Signup(msgspec.Struct):
    """How somebody came to have an account: what they said about themselves, and from where."""

    user_id: int
    reason: str
    locale: str
    client_ip: str
    client_name: str
    created_at: datetime
    invited_by: int | None = None
