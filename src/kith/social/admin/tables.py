from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Boolean, Column, Table, Text

from kith.base.db import ID, METADATA, Document, Instant

webhooks = Table(
    "social_webhooks",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("url", Text, nullable=False, unique=True),
    Column("events", Document, nullable=False),
    Column("secret", Text, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("set_up_by", ID),  # who last said what it is told; 0 is the operator
)


class Webhook(msgspec.Struct):
    id: int
    url: str
    events: list[str]
    secret: str
    enabled: bool
    created_at: datetime
    updated_at: datetime
    set_up_by: int | None = None
