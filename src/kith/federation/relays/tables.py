from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Column, String, Table, Text

from kith.base.db import ID, METADATA, Instant

# State: asked (its answer is awaited), enabled, refused.
relays = Table(
    "federation_relays",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("inbox", Text, nullable=False, unique=True),
    Column("state", String(10), nullable=False),
    Column("follow_uri", Text, nullable=False, unique=True),
    Column("created_at", Instant, nullable=False),
    Column("answered_at", Instant),
)


class FederationRelay(msgspec.Struct):
    id: int
    inbox: str
    state: str
    follow_uri: str
    created_at: datetime
    answered_at: datetime | None = None
