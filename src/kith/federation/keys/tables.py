from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Column, ForeignKey, Table, Text

from kith.base.db import ID, METADATA, Instant
from kith.social.ids import AccountId

# What our actors sign with: a key pair for each account, and one, without an account, for the server itself. A row is
# never changed: a new key pair is a new row. `previous_key` is the private key that came before it, for as long as
# others may not have heard of the new one.
keys = Table(
    "federation_keys",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), unique=True),
    Column("public_key", Text, nullable=False),
    Column("private_key", Text, nullable=False),  # sealed, as is the previous one
    Column("previous_key", Text),
    Column("made_at", Instant, nullable=False),
)


class ActorKey(msgspec.Struct, frozen=True):
    id: int
    account_id: AccountId | None
    public_key: str
    private_key: str
    previous_key: str | None
    made_at: datetime
