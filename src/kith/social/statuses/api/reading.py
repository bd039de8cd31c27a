"""Statuses one by one, what stands around them, and who had to do with them."""

from __future__ import annotations

import msgspec
from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import Answer, Exchange, exchange_of
from kith.base.errors import NotFound, Unprocessable
from kith.base.express import Way
from kith.base.paging import Cursor, Kind
from kith.base.params import query
from kith.base.work import Work
from kith.social.accounts import entities as account_entities
from kith.social.accounts import store as accounts
from kith.social.accounts.viewers import account_of, account_of_caller
from kith.social.guards import Caller, Member, caller_in, optional, user
from kith.social.pages import answer, as_response, joined, number, numbers, page, told
from kith.social.statuses import entities, lists, shapes, store, threads
from kith.social.statuses.api.common import ANYBODY, AnyRequest, encode, visible
from kith.social.statuses.cards.entities import render_cards
from kith.social.statuses.service import edit as editing
from kith.social.statuses.service import marks

MOST_IDS = 20


class Ids(msgspec.Struct, kw_only=True):
    id: list[str] = []


@get("/api/v1/statuses", guards=[ANYBODY], dependencies={"asked": query(Ids)})
async def show_statuses(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], asked: NamedDependency[Ids]
) -> ASGIResponse:
    if len(asked.id) > MOST_IDS:
        raise Unprocessable(f"No more than {MOST_IDS} posts can be asked for at once")
    me = await account_of_caller(work, caller)
    return answer(exchange_of(request), joined(await entities.render_ids(work, numbers(asked.id), me)))


async def _status(exchange: Exchange, id: int) -> Answer:
    work = exchange.work
    shown = await entities.render_ids(work, [id], await account_of_caller(work, caller_in(exchange)))
    if not shown:
        raise NotFound
    return told(exchange, shown[0])


@get("/api/v1/statuses/{id:str}", guards=[ANYBODY])
async def show_status(request: AnyRequest, id: FromPath[str]) -> ASGIResponse:
    return as_response(await _status(exchange_of(request), number(id)))


async def _context(exchange: Exchange, id: int) -> Answer:
    work = exchange.work
    me = await account_of_caller(work, caller_in(exchange))
    status = await visible(work, id, me)
    above, below = await threads.ancestors(work, status, me), await threads.descendants(work, status, me)
    shown = await entities.render_by_id(work, [*above, *below], me)
    body = b'{"ancestors":%b,"descendants":%b}' % (
        joined([shown[one] for one in above if one in shown]),
        joined([shown[one] for one in below if one in shown]),
    )
    return told(exchange, body)


@get("/api/v1/statuses/{id:str}/context", guards=[ANYBODY])
async def show_context(request: AnyRequest, id: FromPath[str]) -> ASGIResponse:
    return as_response(await _context(exchange_of(request), number(id)))


@get("/api/v1/statuses/{id:str}/history", guards=[ANYBODY])
async def show_history(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    """Oldest first; one that was never edited has itself alone."""
    status = await visible(work, number(id), await account_of_caller(work, caller))
    author = await accounts.find(work.db, status.account_id)
    if author is None:
        raise NotFound
    edits = await store.edits_of(work.db, status.id) or [await editing.snapshot(work, status)]
    [shown] = await account_entities.render(work, [author])
    revisions = [await shapes.revision(work, edit, author, shown) for edit in edits]
    return answer(exchange_of(request), joined(revisions))


@get("/api/v1/statuses/{id:str}/source", guards=[user("read:statuses")])
async def show_source(work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]) -> dict[str, str]:
    return shapes.source(await visible(work, number(id), await account_of(work, me)))


@get("/api/v1/statuses/{id:str}/card", guards=[ANYBODY])
async def show_card(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    status = await visible(work, number(id), await account_of_caller(work, caller))
    found = await render_cards(work, [status.card_id]) if status.card_id is not None else {}
    return answer(exchange_of(request), encode(next(iter(found.values()), {})))


@get("/api/v1/statuses/{id:str}/reblogged_by", guards=[optional("read:accounts")])
async def show_reblogged_by(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    return await _who(request, work, caller, id, lists.reblogged_by)


@get("/api/v1/statuses/{id:str}/favourited_by", guards=[optional("read:accounts")])
async def show_favourited_by(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    return await _who(request, work, caller, id, lists.favourited_by)


async def _who(request: AnyRequest, work: Work, caller: Caller, id: str, found: lists.Reader) -> ASGIResponse:
    exchange = exchange_of(request)
    me = await account_of_caller(work, caller)
    status = await marks.visible(work, me, number(id))
    cursor = Cursor.read(exchange.scope["query_string"], default=40, most=80, kind=Kind.RECORD)
    rows = await found(work, status.id, me, cursor)
    known = await accounts.find_all(work.db, [account_id for _, account_id in rows])
    shown = await account_entities.render(work, [known[account_id] for _, account_id in rows if account_id in known])
    return page(exchange, cursor, shown, [cursor_id for cursor_id, _ in rows], kind=Kind.RECORD)


routes = [
    show_statuses, show_status, show_context, show_history, show_source, show_card, show_reblogged_by,
    show_favourited_by,
]  # fmt: skip

ways = {
    "/api/v1/statuses/{id}": Way(ANYBODY.let_in, _status),
    "/api/v1/statuses/{id}/context": Way(ANYBODY.let_in, _context),
}
