from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.paging import Cursor, Kind
from kith.base.work import Work
from kith.social.accounts.viewers import account_of, account_of_caller
from kith.social.guards import Caller, Member, optional, user
from kith.social.pages import answer, page
from kith.social.relationships.limits import not_too_many
from kith.social.tags import service, store
from kith.social.tags.entities import render_tags

AnyRequest = Request[Any, Any, Any]
LIMIT, MOST = 100, 200
_encode = msgspec.json.Encoder().encode


@get("/api/v1/tags/{name:str}", guards=[optional()])
async def show_tag(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], name: FromPath[str]
) -> ASGIResponse:
    tag = await service.find(work, name)
    [shown] = await render_tags(work, [tag], await account_of_caller(work, caller))
    return answer(exchange_of(request), _encode(shown))


@post("/api/v1/tags/{name:str}/follow", guards=[user("write:follows"), not_too_many], status_code=200)
async def follow_tag(work: NamedDependency[Work], me: NamedDependency[Member], name: FromPath[str]) -> dict[str, Any]:
    account = await account_of(work, me)
    tag = await service.follow(work, account, name)
    return (await render_tags(work, [tag], account))[0]


@post("/api/v1/tags/{name:str}/unfollow", guards=[user("write:follows")], status_code=200)
async def unfollow_tag(work: NamedDependency[Work], me: NamedDependency[Member], name: FromPath[str]) -> dict[str, Any]:
    account = await account_of(work, me)
    tag = await service.unfollow(work, account, name)
    return (await render_tags(work, [tag], account))[0]


@get("/api/v1/followed_tags", guards=[user("read:follows")])
async def show_followed(request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]) -> ASGIResponse:
    exchange = exchange_of(request)
    account = await account_of(work, me)
    cursor = Cursor.read(exchange.scope["query_string"], default=LIMIT, most=MOST, kind=Kind.RECORD)
    rows = await store.page_of_followed(work.db, account, cursor)
    known = await store.find_all(work.db, [tag_id for _, tag_id in rows])
    shown = await render_tags(work, [known[tag_id] for _, tag_id in rows], account)
    return page(exchange, cursor, [_encode(one) for one in shown], [id for id, _ in rows], kind=Kind.RECORD)


routes = [show_tag, follow_tag, unfollow_tag, show_followed]
