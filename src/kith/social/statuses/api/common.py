"""What the routes of this room share."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.limits import Limiter, LimitRule
from kith.base.work import Work
from kith.social.guards import optional
from kith.social.ids import AccountId, StatusId
from kith.social.pages import answer
from kith.social.statuses import entities, store
from kith.social.statuses.tables import Status

POSTING = LimitRule("posting", most=300, seconds=10_800)
DELETING = LimitRule("deleting", most=30, seconds=1800)
ANYBODY = optional("read:statuses")
encode = msgspec.json.Encoder().encode
_NOTHING_SAID: dict[str, Any] = {
    "content": "", "spoiler_text": "", "media_attachments": [], "mentions": [], "tags": [], "emojis": [],
    "card": None, "poll": None, "quote": None, "reblog": None, "edited_at": None, "filtered": [],
}  # fmt: skip


async def shown_as_is(exchange: Exchange, status_id: StatusId, me: AccountId | None) -> Answer:
    """A status as it is now, after whatever was done to it.

    That is committed first: nobody who writes waits while it is rendered, and what was rendered can be kept.
    """
    await exchange.end_work(commit=True)
    found = await entities.render_ids(exchange.work, [status_id], me)
    if not found:
        raise NotFound
    return answer(exchange, found[0])


async def shown_anyway(exchange: Exchange, status_id: StatusId, me: AccountId) -> Answer:
    """After undoing something of one's own. Of a status that its author does not show them any more only that it is."""
    await exchange.end_work(commit=True)
    found = await entities.render_ids(exchange.work, [status_id], me)
    if found:
        return answer(exchange, found[0])
    hidden = await entities.render_own_past(exchange.work, status_id, me)
    if hidden is None:
        raise NotFound
    return answer(exchange, encode(msgspec.json.decode(hidden) | _NOTHING_SAID))


async def visible(work: Work, id: StatusId, me: AccountId | None) -> Status:
    found = await store.find_visible(work.db, id, me)
    if found is None:
        raise NotFound
    return found


def spend(exchange: Exchange, rule: LimitRule, me: AccountId) -> None:
    spent = exchange.find(Limiter).spend(rule, str(me))
    if spent is not None and (exchange.spent is None or spent.remaining < exchange.spent.remaining):
        exchange.spent = spent
