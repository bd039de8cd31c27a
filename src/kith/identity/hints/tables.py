from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, String, Table

from kith.base.db import METADATA, Instant

# When a person last got a mail that others can cause, so that they get it only once a day.
hints = Table(
    "identity_hints",
    METADATA,
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), primary_key=True),
    Column("kind", String(40), primary_key=True),
    Column("sent_at", Instant, nullable=False),
)
