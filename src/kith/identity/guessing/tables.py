from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, String, Table

from kith.base.db import METADATA, Instant

# From where an account was entered lately: whoever tries to enter it from there has an allowance of their own.
known_addresses = Table(
    "identity_known_addresses",
    METADATA,
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), primary_key=True),
    Column("address", String(64), primary_key=True),
    Column("last_at", Instant, nullable=False, index=True),
)
