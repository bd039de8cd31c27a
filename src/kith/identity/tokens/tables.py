from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Column, ForeignKey, Index, Integer, String, Table, Text

from kith.base.db import METADATA, UID, Instant

tokens = Table(
    "identity_tokens",
    METADATA,
    Column("token_uuid", UID, primary_key=True),
    Column("identifier", String(255), nullable=False, unique=True),
    Column("key_hash", String(64), nullable=False, unique=True),
    Column("intent", String(20), nullable=False),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), nullable=False),
    Column("scopes", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("last_used_at", Instant),
    Index("ix_identity_tokens_user_id", "user_id"),
    Index("ix_identity_tokens_expires_at", "expires_at"),
)


class ApiToken(msgspec.Struct):
    """A token or app password; only the hash of its key is stored."""

    token_uuid: str
    identifier: str
    key_hash: str
    intent: str
    user_id: int
    scopes: str
    description: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
