"""Who quoted a status, and taking a quote back; polls and votes."""

from __future__ import annotations

import msgspec
from litestar import get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.paging import Cursor, Kind
from kith.base.params import params
from kith.base.work import Work
from kith.social.accounts.viewers import account_of, account_of_caller
from kith.social.guards import Caller, Member, user
from kith.social.pages import answer, number, page
from kith.social.statuses import entities, lists, polls
from kith.social.statuses.api.common import ANYBODY, AnyRequest, shown_as_is, visible
from kith.social.statuses.service import poll as voting
from kith.social.statuses.service import quotes


class Votes(msgspec.Struct, kw_only=True):
    choices: list[int] = []


@get("/api/v1/statuses/{id:str}/quotes", guards=[user("read:statuses")])
async def show_quotes(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    exchange = exchange_of(request)
    account = await account_of(work, me)
    status = await visible(work, number(id), account)
    cursor = Cursor.read(exchange.scope["query_string"], default=20, most=40, kind=Kind.RECORD)
    rows = await lists.quotes_of(work, status.id, account, cursor)
    shown = await entities.render(work, rows, account)
    return page(exchange, cursor, shown, [row[0] for row in rows], kind=Kind.RECORD)


@post("/api/v1/statuses/{id:str}/quotes/{quoting:str}/revoke", guards=[user("write:statuses")], status_code=200)
async def revoke_quote(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str],
    quoting: FromPath[str],
) -> ASGIResponse:  # fmt: skip
    account = await account_of(work, me)
    await quotes.revoke(work, account, number(id), number(quoting))
    return await shown_as_is(request, work, number(quoting), account)


@get("/api/v1/polls/{id:str}", guards=[ANYBODY])
async def show_poll(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    me = await account_of_caller(work, caller)
    poll = await voting.find_poll(work, number(id), me)
    return answer(exchange_of(request), (await polls.render(work, [poll.id], me))[poll.id])


@post(
    "/api/v1/polls/{id:str}/votes", guards=[user("write:statuses")], dependencies={"votes": params(Votes)},
    status_code=200,
)  # fmt: skip
async def vote(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], votes: NamedDependency[Votes],
    id: FromPath[str],
) -> ASGIResponse:  # fmt: skip
    account = await account_of(work, me)
    poll = await voting.vote(work, account, number(id), votes.choices)
    return answer(exchange_of(request), (await polls.render(work, [poll.id], account))[poll.id])


routes = [show_quotes, revoke_quote, show_poll, vote]
