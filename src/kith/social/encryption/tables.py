from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, String, Table, Text, UniqueConstraint

from kith.base.db import ID, METADATA, Instant
from kith.social.ids import AccountId

# A device belongs to one access token (`key_hash`) and ends with it. `device_id` is the name that the app gave it.
devices = Table(
    "social_devices",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("user_id", Integer, nullable=False, index=True),
    Column("key_hash", String(64), nullable=False, unique=True),
    Column("device_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("fingerprint_key", Text, nullable=False),
    Column("identity_key", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("account_id", "device_id"),
)

one_time_keys = Table(
    "social_one_time_keys",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("device_row", BigInteger, ForeignKey("social_devices.id", ondelete="CASCADE"), nullable=False),
    Column("key_id", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("signature", Text, nullable=False),
    UniqueConstraint("device_row", "key_id"),
)

messages = Table(
    "social_encrypted_messages",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("device_row", BigInteger, ForeignKey("social_devices.id", ondelete="CASCADE"), nullable=False),
    Column("from_account_id", BigInteger, nullable=False),
    Column("from_device_id", Text, nullable=False),
    Column("type", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("message_franking", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index("ix_social_encrypted_messages_device", "device_row", "id"),
)


class Device(msgspec.Struct):
    id: int
    account_id: AccountId
    user_id: int
    key_hash: str
    device_id: str
    name: str
    fingerprint_key: str
    identity_key: str
    created_at: datetime


class OneTimeKey(msgspec.Struct):
    id: int
    device_row: int
    key_id: str
    key: str
    signature: str


class EncryptedMessage(msgspec.Struct):
    id: int
    device_row: int
    from_account_id: AccountId
    from_device_id: str
    type: int
    body: str
    digest: str
    message_franking: str
    created_at: datetime
