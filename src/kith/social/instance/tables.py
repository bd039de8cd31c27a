from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import Column, Integer, String, Table, Text

from kith.base.db import ID, METADATA, Instant

rules = Table(
    "social_rules",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
    Column("hint", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("deleted_at", Instant),
)

# Pages the operator writes: the extended description, the privacy policy, terms with the day they begin.
pages = Table(
    "social_pages",
    METADATA,
    Column("kind", String(20), primary_key=True),
    Column("effective_date", String(10), primary_key=True),
    Column("text", Text, nullable=False),
    Column("changelog", Text, nullable=False),
    Column("updated_at", Instant, nullable=False),
)

# What happened on a day, by name: `statuses`, `registrations`; `logins` are counted by who was there.
days = Table(
    "social_days",
    METADATA,
    Column("day", String(10), primary_key=True),
    Column("name", String(20), primary_key=True),
    Column("count", Integer, nullable=False),
)
presence = Table(
    "social_presence",
    METADATA,
    Column("day", String(10), primary_key=True),
    Column("user_id", Integer, primary_key=True, autoincrement=False),
)


class Rule(msgspec.Struct):
    id: int
    text: str
    hint: str
    position: int
    deleted_at: datetime | None = None


class InstancePage(msgspec.Struct):
    """`effective_date` is empty for pages that are simply there."""

    kind: str
    effective_date: str
    text: str
    changelog: str
    updated_at: datetime
