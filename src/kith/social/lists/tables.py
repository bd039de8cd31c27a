from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, String, Table, Text, UniqueConstraint

from kith.base.db import ID, METADATA, Instant
from kith.social.ids import AccountId

lists = Table(
    "social_lists",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("title", Text, nullable=False),
    Column("replies_policy", String(10), nullable=False),
    Column("exclusive", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
)

members = Table(
    "social_list_members",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("list_id", BigInteger, ForeignKey("social_lists.id", ondelete="CASCADE"), nullable=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    UniqueConstraint("list_id", "account_id"),
    Index("ix_social_list_members_account_id", "account_id", "list_id"),
)


class List(msgspec.Struct):
    id: int
    account_id: AccountId
    title: str
    replies_policy: str
    exclusive: bool
    created_at: datetime
