from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, delete, get, patch, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.errors import NotFound
from kith.base.paging import Cursor, Kind
from kith.base.params import params
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.entities import render_lines
from kith.social.accounts.viewers import account_of
from kith.social.guards import Member, user
from kith.social.lists import service, store
from kith.social.lists.entities import render_list
from kith.social.pages import answer, joined, number, numbers, page

AnyRequest = Request[Any, Any, Any]
LIMIT, MOST = 40, 80
EVERYBODY = 1_000_000
READ, WRITE = user("read:lists"), user("write:lists")


class Named(msgspec.Struct, kw_only=True):
    account_ids: list[str]


@get("/api/v1/lists", guards=[READ])
async def show_lists(work: NamedDependency[Work], me: NamedDependency[Member]) -> list[dict[str, Any]]:
    return [render_list(one) for one in await store.all_of(work.db, await account_of(work, me))]


@post("/api/v1/lists", guards=[WRITE], dependencies={"draft": params(service.Draft)}, status_code=200)
async def create_list(
    work: NamedDependency[Work], me: NamedDependency[Member], draft: NamedDependency[service.Draft]
) -> dict[str, Any]:
    return render_list(await service.create(work, await account_of(work, me), draft))


@get("/api/v1/lists/{id:str}", guards=[READ])
async def show_list(work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]) -> dict[str, Any]:
    return render_list(await service.find(work, await account_of(work, me), number(id)))


async def _change(work: Work, me: Member, id: str, draft: service.Draft) -> dict[str, Any]:
    return render_list(await service.change(work, await account_of(work, me), number(id), draft))


@put("/api/v1/lists/{id:str}", guards=[WRITE], dependencies={"draft": params(service.Draft)})
async def change_list(
    work: NamedDependency[Work], me: NamedDependency[Member], draft: NamedDependency[service.Draft], id: FromPath[str]
) -> dict[str, Any]:
    return await _change(work, me, id, draft)


@patch("/api/v1/lists/{id:str}", guards=[WRITE], dependencies={"draft": params(service.Draft)})
async def patch_list(
    work: NamedDependency[Work], me: NamedDependency[Member], draft: NamedDependency[service.Draft], id: FromPath[str]
) -> dict[str, Any]:
    return await _change(work, me, id, draft)


@delete("/api/v1/lists/{id:str}", guards=[WRITE], status_code=200)
async def delete_list(work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]) -> dict[str, Any]:
    await service.remove(work, await account_of(work, me), number(id))
    return {}


@get("/api/v1/lists/{id:str}/accounts", guards=[READ])
async def show_members(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    """With a limit of nought, everybody, and no pages."""
    found = await service.find(work, await account_of(work, me), number(id))
    exchange = exchange_of(request)
    cursor = Cursor.read(exchange.scope["query_string"], default=LIMIT, most=MOST, kind=Kind.RECORD)
    has_pages = request.query_params.get("limit") != "0"
    if not has_pages:
        cursor = Cursor(limit=EVERYBODY)
    statement, values = store.people().form(cursor)
    rows = await work.db.all(statement, list=found.id, **values)
    shown = await render_lines(work, rows)
    if not has_pages:
        return answer(exchange, joined(shown))
    return page(exchange, cursor, shown, [row[0] for row in rows], kind=Kind.RECORD)


@post("/api/v1/lists/{id:str}/accounts", guards=[WRITE], dependencies={"named": params(Named)}, status_code=200)
async def add_members(
    work: NamedDependency[Work], me: NamedDependency[Member], named: NamedDependency[Named], id: FromPath[str]
) -> dict[str, Any]:
    ids = numbers(named.account_ids)
    if len(ids) < len(set(named.account_ids)):
        raise NotFound
    await service.add(work, await account_of(work, me), number(id), ids)
    return {}


@delete("/api/v1/lists/{id:str}/accounts", guards=[WRITE], dependencies={"named": params(Named)}, status_code=200)
async def drop_members(
    work: NamedDependency[Work], me: NamedDependency[Member], named: NamedDependency[Named], id: FromPath[str]
) -> dict[str, Any]:
    await service.drop(work, await account_of(work, me), number(id), numbers(named.account_ids))
    return {}


@get("/api/v1/accounts/{id:str}/lists", guards=[READ])
async def show_lists_with(
    work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> list[dict[str, Any]]:
    """Those of one's own lists that somebody is on."""
    other = await accounts.find(work.db, number(id))
    if other is None or not other.is_listed:
        raise NotFound
    return [render_list(one) for one in await store.with_member(work.db, await account_of(work, me), other.id)]


routes = [
    show_lists,
    create_list,
    show_list,
    change_list,
    patch_list,
    delete_list,
    show_members,
    add_members,
    drop_members,
    show_lists_with,
]
