from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import BigInteger, Column, Index, Integer, SmallInteger, Table, Text, UniqueConstraint, text

from kith.base.db import ID, METADATA, Instant
from kith.social.ids import AccountId

NOBODY = AccountId(0)

# What becomes of a row: it is taken with others, or a job of its own fetches what it needs, or tries it again.
WAITING, FETCHING, ALONE = 0, 1, 2
IS_WAITING, PUT_OFF = "state = 0", "state > 0"

# Activities that were believed and are not done yet. A row goes with the effect of what it says, so it happens once;
# while it waits, the same activity is not kept a second time for the same inbox. The sender may be gone before its turn
# comes.
inbox = Table(
    "federation_inbox",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, nullable=False),  # who has signed it
    Column("activity_id", Text),
    Column("delivered_to", BigInteger, nullable=False),  # whose inbox it came to; nobody's is the shared one
    Column("body", Text, nullable=False),
    Column("synchronization", Text),  # the header of that name, where the sender has signed it
    Column("state", SmallInteger, nullable=False),
    Column("signed_at", Instant, nullable=False),
    Column("received_at", Instant, nullable=False),
    Column("turn", BigInteger, nullable=False, server_default=text("0")),  # of one site the lower is taken first
    Column("site", Text, nullable=False, server_default=text("''")),  # the registered domain that it came from
    Column("size", Integer, nullable=False, server_default=text("0")),  # of the body, in bytes
    UniqueConstraint("account_id", "activity_id", "delivered_to"),
    Index(
        "ix_federation_inbox_waiting",
        *("site", "turn", "id", "size"),
        sqlite_where=text(IS_WAITING),
        postgresql_where=text(IS_WAITING),
    ),
    Index("ix_federation_inbox_site", "site", "size", sqlite_where=text(PUT_OFF), postgresql_where=text(PUT_OFF)),
)


class Received(msgspec.Struct, frozen=True):
    id: int
    account_id: AccountId
    activity_id: str | None
    delivered_to: AccountId
    body: str
    synchronization: str | None
    state: int
    signed_at: datetime
    received_at: datetime
    turn: int = 0
    site: str = ""
    size: int = 0
