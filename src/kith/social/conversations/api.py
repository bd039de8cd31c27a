from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, delete, get, post
from kith.base.work import Work
from kith.social.accounts.viewers import Me
from kith.social.conversations import service, store
from kith.social.conversations.entities import render_conversations
from kith.social.conversations.tables import Conversation
from kith.social.guards import user
from kith.social.ids import AccountId
from kith.social.pages import answer, fill, page, shortened

LIMIT, MOST = 20, 40
AT_ONCE = 10
WRITE = user("write:conversations")


@get("/api/v1/conversations", guards=[user("read:statuses")])
async def show_conversations(exchange: Exchange, work: Work, me: Me) -> Answer:
    """Those with the newest post first."""
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    found = await store.page(work.db, me, cursor)

    async def render(some: Sequence[Conversation]) -> list[bytes]:
        return await render_conversations(work, some, me)

    there, shown = await fill(found, render, at_once=AT_ONCE, from_the_end=cursor.is_ascending)
    if len(there) < len(found):
        cursor = shortened(cursor, len(there))
    return page(exchange, cursor, shown, [one.last_status_id for one in there], kind=CursorKind.RECORD3)


@delete("/api/v1/conversations/{id}", guards=[WRITE])
async def delete_conversation(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    """Take it out of one's inbox."""
    await service.remove(work, me, id)
    return {}


@post("/api/v1/conversations/{id}/read", guards=[WRITE])
async def mark_read(exchange: Exchange, work: Work, me: Me, id: FromPath[int]) -> Answer:
    return await _marked(exchange, work, me, id, unread=False)


@post("/api/v1/conversations/{id}/unread", guards=[WRITE])
async def mark_unread(exchange: Exchange, work: Work, me: Me, id: FromPath[int]) -> Answer:
    return await _marked(exchange, work, me, id, unread=True)


async def _marked(exchange: Exchange, work: Work, me: AccountId, id: int, *, unread: bool) -> Answer:
    [shown] = await render_conversations(work, [await service.mark(work, me, id, unread=unread)], me)
    return answer(exchange, shown)


routes = [show_conversations, delete_conversation, mark_read, mark_unread]
