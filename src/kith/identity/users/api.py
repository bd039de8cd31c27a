from __future__ import annotations

import msgspec
from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath

from kith.base.edge import JSON, Answer, Exchange
from kith.base.errors import NotFound
from kith.base.memo import Memo
from kith.base.paging import Page, envelope, public_url
from kith.base.work import Work
from kith.identity.users import store
from kith.identity.users.entities import UserRecord, render_users

_encode = msgspec.json.Encoder().encode


async def list_users(exchange: Exchange) -> Answer:
    query, version, memo = exchange.scope["query_string"], exchange.version, exchange.find(Memo)
    kept: Answer | None = memo.get(version, ("users", query))
    if kept is None:
        kept = Answer(200, JSON, await _page(exchange.work, exchange.path, query))
        memo.put(version, ("users", query), kept, size=len(kept.body))
    return kept


async def _page(work: Work, path: str, query: bytes) -> bytes:
    page = Page.read(query)
    count, lines = await store.page(work.db, limit=page.limit, offset=page.offset)
    url = public_url(work.settings.base_url, path)
    return _encode(envelope(url, page, count, await render_users(work, lines)))


@get("/api/v2/core/users/{id:str}/")
async def read_user(work: NamedDependency[Work], id: FromPath[str]) -> UserRecord:
    if not id.isdecimal() or len(id) > 9:
        raise NotFound
    [record] = await render_users(work, [await store.get_line(work.db, int(id))])
    return record


routes = [read_user]
