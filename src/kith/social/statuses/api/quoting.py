"""Who quoted a status, and taking a quote back; polls and votes."""

from __future__ import annotations

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromRequest, get, number, post
from kith.base.work import Work
from kith.social.accounts.viewers import Me, Viewer
from kith.social.guards import user
from kith.social.ids import StatusId
from kith.social.pages import answer, page
from kith.social.statuses import entities, lists, polls
from kith.social.statuses.api.common import ANYBODY, shown_anyway, visible
from kith.social.statuses.service import poll as voting
from kith.social.statuses.service import quotes


class Votes(msgspec.Struct, kw_only=True):
    choices: list[int] = []


@get("/api/v1/statuses/{id}/quotes", guards=[user("read:statuses")])
async def show_quotes(exchange: Exchange, work: Work, me: Me, id: FromPath[StatusId]) -> Answer:
    status = await visible(work, id, me)
    cursor = Cursor.read(exchange.query_string, default=20, most=40, kind=CursorKind.RECORD)
    rows = await lists.quotes_of(work, status.id, me, cursor)
    shown = await entities.render(work, rows, me)
    return page(exchange, cursor, shown, [row.id for row in rows], kind=CursorKind.RECORD)


@post("/api/v1/statuses/{id}/quotes/{quoting}/revoke", guards=[user("write:statuses")], status=200)
async def revoke_quote(
    exchange: Exchange,
    work: Work,
    me: Me,
    id: FromPath[StatusId],
    quoting: FromPath[str],
) -> Answer:
    quoting_id = StatusId(number(quoting))
    await quotes.revoke(work, me, id, quoting_id)
    return await shown_anyway(exchange, quoting_id, me)


@get("/api/v1/polls/{id}", guards=[ANYBODY])
async def show_poll(exchange: Exchange, work: Work, viewer: Viewer, id: FromPath[int]) -> Answer:
    poll = await voting.read_poll(work, id, viewer)
    return answer(exchange, (await polls.render(work, [poll.id], viewer))[poll.id])


@post("/api/v1/polls/{id}/votes", guards=[user("write:statuses")], status=200)
async def vote(
    exchange: Exchange,
    work: Work,
    me: Me,
    votes: FromRequest[Votes],
    id: FromPath[int],
) -> Answer:
    poll = await voting.vote(work, me, id, votes.choices)
    return answer(exchange, (await polls.render(work, [poll.id], me))[poll.id])


routes = [show_quotes, revoke_quote, show_poll, vote]
