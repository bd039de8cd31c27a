from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, SmallInteger, String, Table, Text

from kith.base.db import METADATA, Instant

messages = Table(
    "identity_messages",
    METADATA,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), nullable=False),
    Column("level", SmallInteger, nullable=False),
    Column("message", Text, nullable=False),
    Column("extra_tags", String(200), nullable=False),
    Column("created_at", Instant, nullable=False),
    Index("ix_identity_messages_user_id", "user_id", "id"),
)


class UserMessage(msgspec.Struct):
    id: int
    user_id: int
    level: int
    message: str
    extra_tags: str
    created_at: datetime
