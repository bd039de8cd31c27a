from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, String, Table

from kith.base.db import METADATA, Instant

# Addresses from which an account was used recently; tries from there have a limit of their own.
known_addresses = Table(
    "identity_known_addresses",
    METADATA,
    Column("user_id", Integer, ForeignKey("identity_users.id", ondelete="CASCADE"), primary_key=True),
    Column("address", String(64), primary_key=True),
    Column("last_at", Instant, nullable=False, index=True),
)
