from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Column, ForeignKey, Integer, String, Table, Text

from kith.base.db import METADATA, UID, Document, Instant

refusals = Table(
    "identity_refusals",
    METADATA,
    Column("code", String(16), primary_key=True),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="SET NULL"), index=True),
    Column("username", String(150), nullable=False),
    Column("area", String(60), nullable=False),
    Column("target", UID),
    Column("message", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("details", Document, nullable=False),
    Column("client_ip", String(45), nullable=False),
    Column("request_id", String(64), nullable=False),
    Column("created_at", Instant, nullable=False, index=True),
    Column("expires_at", Instant, nullable=False, index=True),
)


class Refusal(msgspec.Struct):
    """A stored refusal: `message` is what the person was shown, the rest is for staff."""

    code: str
    user_id: int | None
    username: str
    area: str
    target: str | None
    message: str
    reason: str
    details: dict[str, Any]
    client_ip: str
    request_id: str
    created_at: datetime
    expires_at: datetime
