from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, String, Table, Text, UniqueConstraint

from kith.base.db import ID, METADATA, Instant
from kith.social.ids import AccountId

collections = Table(
    "social_collections",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("language", String(35)),
    Column("sensitive", Boolean, nullable=False),
    Column("discoverable", Boolean, nullable=False),
    Column("tag_name", Text),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
)

# Whoever was taken out by themselves stays as `revoked`, so that they are not put in again.
collection_items = Table(
    "social_collection_items",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("collection_id", BigInteger, ForeignKey("social_collections.id", ondelete="CASCADE"), nullable=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("state", String(10), nullable=False),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("collection_id", "account_id"),
)


class AccountCollection(msgspec.Struct):
    """Accounts that somebody shows together."""

    id: int
    account_id: AccountId
    name: str
    description: str
    language: str | None
    sensitive: bool
    discoverable: bool
    tag_name: str | None
    created_at: datetime
    updated_at: datetime


class CollectionItem(msgspec.Struct):
    id: int
    collection_id: int
    account_id: AccountId
    state: str
    created_at: datetime
