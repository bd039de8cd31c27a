from __future__ import annotations

import msgspec
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Table, Text, UniqueConstraint

from kith.base.db import ID, METADATA
from kith.social.ids import AccountId, StatusId

# One for each member, thread and set of other participants. `participants` are their ids, sorted, between commas
# (",3,17,"), so that one can be found among them.
conversations = Table(
    "social_conversations",
    METADATA,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, ForeignKey("social_accounts.id", ondelete="CASCADE"), nullable=False),
    Column("thread_id", BigInteger, nullable=False),
    Column("participants", Text, nullable=False),
    Column("last_status_id", BigInteger, nullable=False),
    Column("unread", Boolean, nullable=False),
    UniqueConstraint("account_id", "thread_id", "participants"),
    Index("ix_social_conversations_newest", "account_id", "last_status_id"),
)

conversation_statuses = Table(
    "social_conversation_statuses",
    METADATA,
    Column("conversation_id", BigInteger, ForeignKey("social_conversations.id", ondelete="CASCADE"), primary_key=True),
    Column("status_id", BigInteger, ForeignKey("social_statuses.id", ondelete="CASCADE"), primary_key=True, index=True),
)


class Conversation(msgspec.Struct):
    id: int
    account_id: AccountId
    thread_id: int
    participants: str
    last_status_id: StatusId
    unread: bool

    @property
    def participant_ids(self) -> list[AccountId]:
        return [AccountId(int(id)) for id in self.participants.split(",") if id]


def participants_of(ids: set[AccountId]) -> str:
    return "".join(f",{id}" for id in sorted(ids)) + "," if ids else ""
