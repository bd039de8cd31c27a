from __future__ import annotations

from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.social.accounts.viewers import Me, Viewer
from kith.social.guards import optional, user
from kith.social.pages import answer, page
from kith.social.relationships.limits import not_too_many
from kith.social.tags import service, store
from kith.social.tags.entities import render_tags

LIMIT, MOST = 100, 200
_encode = msgspec.json.Encoder().encode


@get("/api/v1/tags/{name}", guards=[optional()])
async def show_tag(exchange: Exchange, work: Work, viewer: Viewer, name: FromPath[str]) -> Answer:
    tag = await service.find_open(work, name, viewer)
    [shown] = await render_tags(work, [tag], viewer)
    return answer(exchange, _encode(shown))


@post("/api/v1/tags/{name}/follow", guards=[user("write:follows"), not_too_many], status=200)
async def follow_tag(work: Work, me: Me, name: FromPath[str]) -> dict[str, Any]:
    tag = await service.follow(work, me, name)
    return (await render_tags(work, [tag], me))[0]


@post("/api/v1/tags/{name}/unfollow", guards=[user("write:follows")], status=200)
async def unfollow_tag(work: Work, me: Me, name: FromPath[str]) -> dict[str, Any]:
    tag = await service.unfollow(work, me, name)
    return (await render_tags(work, [tag], me))[0]


@get("/api/v1/followed_tags", guards=[user("read:follows")])
async def show_followed(exchange: Exchange, work: Work, me: Me) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    rows = await store.page_of_followed(work.db, me, cursor)
    known = await store.find_all(work.db, [tag_id for _, tag_id in rows])
    shown = await render_tags(work, [known[tag_id] for _, tag_id in rows], me)
    return page(exchange, cursor, [_encode(one) for one in shown], [id for id, _ in rows], kind=CursorKind.RECORD)


routes = [show_tag, follow_tag, unfollow_tag, show_followed]
