from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Column, ForeignKey, Table, Text

from kith.base.db import ID, METADATA, Instant
from kith.social.ids import AccountId

# What an account of another server has beside what is shown of it: where it is written to, and where its lists are.
actors = Table(
    "federation_actors",
    METADATA,
    Column(
        "account_id",
        ID,
        ForeignKey("social_accounts.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("inbox", Text, nullable=False),
    Column("shared_inbox", Text),
    Column("outbox", Text),
    Column("followers", Text),
    Column("following", Text),
    Column("featured", Text),
    Column("featured_tags", Text),
    Column("devices", Text),
    Column("filled_at", Instant),  # when its pinned and newest posts were fetched
    Column("moved_at", Instant),  # when its last Move was followed
    Column("suspended_at", Instant),  # when its own server suspended it: the account has the same moment then
)

# What actors elsewhere sign with, by the name of the key: the public key as PEM text, whatever form it came in.
actor_keys = Table(
    "federation_actor_keys",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("public_key", Text, nullable=False),
    Column("fetched_at", Instant, nullable=False),
)


class RemoteActor(msgspec.Struct):
    account_id: AccountId
    inbox: str
    shared_inbox: str | None = None
    outbox: str | None = None
    followers: str | None = None
    following: str | None = None
    featured: str | None = None
    featured_tags: str | None = None
    devices: str | None = None
    filled_at: datetime | None = None
    moved_at: datetime | None = None
    suspended_at: datetime | None = None


class RemoteActorKey(msgspec.Struct):
    id: str
    account_id: AccountId
    public_key: str
    fetched_at: datetime
