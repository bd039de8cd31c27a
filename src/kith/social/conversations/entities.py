from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.entities import render
from kith.social.conversations.tables import Conversation
from kith.social.ids import AccountId
from kith.social.statuses.entities import render_by_id

MOST_PEOPLE = 20  # of one conversation, as whole accounts
_encode = msgspec.json.Encoder().encode


class ConversationEntity(msgspec.Struct):
    id: str
    unread: bool
    accounts: list[Any]
    last_status: Any


async def render_conversations(work: Work, found: Sequence[Conversation], me: AccountId) -> list[bytes]:
    """Conversations as JSON, with the first participants of each. A person who talks to themselves is shown alone."""
    members = {one.id: one.participant_ids[:MOST_PEOPLE] or [me] for one in found}
    people = {id: None for ids in members.values() for id in ids}
    rows = await accounts.find_all(work.db, list(people))
    shown = dict(zip(rows, await render(work, list(rows.values())), strict=True))
    last = await render_by_id(work, [one.last_status_id for one in found], me)
    return [
        _encode(
            ConversationEntity(
                id=str(one.id),
                unread=one.unread,
                accounts=[msgspec.Raw(shown[id]) for id in members[one.id] if id in shown],
                last_status=msgspec.Raw(last[one.last_status_id]) if one.last_status_id in last else None,
            )
        )
        for one in found
    ]
