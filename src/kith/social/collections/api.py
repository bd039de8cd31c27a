from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Forbidden, NotFound, Unprocessable
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromRequest, Route, delete, get, patch, post
from kith.base.work import Work
from kith.social.accounts import lines
from kith.social.accounts import store as accounts
from kith.social.accounts.entities import render_lines
from kith.social.accounts.viewers import Me, Viewer
from kith.social.collections import service, store
from kith.social.collections.entities import render_collections, render_item
from kith.social.collections.tables import AccountCollection
from kith.social.guards import optional, user
from kith.social.ids import AccountId
from kith.social.pages import answer, joined, numbers, page_of
from kith.social.relationships import store as relationships

LIMIT, MOST, MOST_WITH = 40, 100, 80
FARTHEST = 10_000
DEPRECATED = (b"deprecation", b"@1781049600")  # 2026-06-10
READ, WRITE, MINE = optional("read:collections"), user("write:collections"), user("read:collections")
_encode = msgspec.json.Encoder().encode


class NewCollection(service.CollectionDraft, kw_only=True):
    account_ids: list[str] = msgspec.field(default_factory=list)


class NewCollectionItem(msgspec.Struct, kw_only=True):
    account_id: str | None = None


def _cursor(exchange: Exchange, most: int) -> Cursor:
    found = Cursor.read(exchange.query_string, default=LIMIT, most=most, kind=CursorKind.OFFSET)
    return msgspec.structs.replace(found, offset=min(found.offset, FARTHEST))


async def _page(
    exchange: Exchange, work: Work, found: list[AccountCollection], viewer: AccountId | None, cursor: Cursor
) -> Answer:
    body = _encode({"collections": await render_collections(work, found, viewer)})
    return page_of(exchange, cursor, body, [one.id for one in found], kind=CursorKind.OFFSET)


async def _one(work: Work, found: AccountCollection, me: AccountId | None) -> dict[str, Any]:
    [shown] = await render_collections(work, [found], me)
    return {"collection": shown}


@post("/api/v1/collections", guards=[WRITE])
async def create_collection(work: Work, me: Me, sent: FromRequest[NewCollection]) -> dict[str, Any]:
    draft = service.CollectionDraft(**{name: getattr(sent, name) for name in service.CollectionDraft.__struct_fields__})
    ids = [AccountId(id) for id in numbers(sent.account_ids)]
    return await _one(work, await service.create(work, me, draft, ids), me)


@get("/api/v1/collections/{id}", guards=[READ])
async def show_collection(exchange: Exchange, work: Work, viewer: Viewer, id: FromPath[int]) -> Answer:
    found = await service.find(work, viewer, id)
    [shown] = await render_collections(work, [found], viewer)
    ids = dict.fromkeys([found.account_id, *(AccountId(int(item["account_id"])) for item in shown["items"])])
    rows = {row.id: row for row in await work.db.all(lines.by_ids, ids=list(ids))}
    people = await render_lines(work, [rows[id] for id in ids if id in rows])
    return answer(exchange, b'{"collection":%b,"accounts":%b}' % (_encode(shown), joined(people)))


@patch("/api/v1/collections/{id}", guards=[WRITE])
async def change_collection(
    work: Work, me: Me, sent: FromRequest[service.CollectionDraft], id: FromPath[int]
) -> dict[str, Any]:
    return await _one(work, await service.change(work, me, id, sent), me)


@delete("/api/v1/collections/{id}", guards=[WRITE])
async def delete_collection(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    await service.remove(work, me, id)
    return {}


@post("/api/v1/collections/{collection_id}/items", guards=[WRITE])
async def add_item(
    work: Work, me: Me, sent: FromRequest[NewCollectionItem], collection_id: FromPath[int]
) -> dict[str, Any]:
    if not sent.account_id:
        raise Unprocessable("`account_id` parameter is missing")
    ids = numbers([sent.account_id])
    if not ids:
        raise NotFound
    return {"collection_item": render_item(await service.add(work, me, collection_id, AccountId(ids[0])))}


@delete("/api/v1/collections/{collection_id}/items/{id}", guards=[WRITE])
async def drop_item(work: Work, me: Me, collection_id: FromPath[int], id: FromPath[int]) -> dict[str, Any]:
    await service.drop(work, me, collection_id, id)
    return {}


@post("/api/v1/collections/{collection_id}/items/{id}/revoke", guards=[WRITE])
async def revoke_item(work: Work, me: Me, collection_id: FromPath[int], id: FromPath[int]) -> dict[str, Any]:
    await service.revoke(work, me, collection_id, id)
    return {}


@get("/api/v1/accounts/{account_id}/collections", guards=[READ])
async def show_collections_of(
    exchange: Exchange, work: Work, viewer: Viewer, account_id: FromPath[AccountId]
) -> Answer:
    """Others see what their owner lets everybody find, and nothing where they are blocked."""
    owner = await accounts.find(work.db, account_id)
    if owner is None or not owner.is_listed:
        raise NotFound
    is_blocked = viewer is not None and await relationships.blocked_among(work.db, owner.id, [viewer])
    if owner.is_gone or is_blocked:
        return answer(exchange, b'{"collections":[]}')
    cursor = _cursor(exchange, MOST)
    found = await store.of_account(
        work.db, owner.id, all_of_them=viewer == owner.id, limit=cursor.limit, offset=cursor.offset
    )
    return await _page(exchange, work, found, viewer, cursor)


@get("/api/v1/accounts/{account_id}/in_collections", guards=[MINE])
async def show_collections_with(exchange: Exchange, work: Work, me: Me, account_id: FromPath[AccountId]) -> Answer:
    if account_id != me:
        raise Forbidden
    cursor = _cursor(exchange, MOST_WITH)
    found = await store.with_account(work.db, me, limit=cursor.limit, offset=cursor.offset)
    return await _page(exchange, work, found, me, cursor)


_routes = [
    create_collection,
    show_collection,
    change_collection,
    delete_collection,
    add_item,
    drop_item,
    revoke_item,
    show_collections_of,
    show_collections_with,
]


async def _is_deprecated(exchange: Exchange) -> None:
    dialect = exchange.dialect
    exchange.dialect = msgspec.structs.replace(dialect, headers=(*dialect.headers, DEPRECATED))


def _early(one: Route) -> Route:
    """Older clients know it by the name it had at first."""
    template = one.template.replace("/api/v1/", "/api/v1_alpha/", 1)
    return msgspec.structs.replace(one, template=template, guards=(*one.guards, _is_deprecated))


routes = [*_routes, *(_early(one) for one in _routes)]
