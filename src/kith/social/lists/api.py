from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from kith.base.caches import UntilWritten
from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.exchange import JSON, Answer, Exchange
from kith.base.limits import Limiter, LimitRule
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromRequest, delete, get, post, put
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.entities import render_lines
from kith.social.accounts.viewers import Me
from kith.social.guards import user
from kith.social.ids import AccountId
from kith.social.lists import service, store
from kith.social.lists.entities import render_list
from kith.social.pages import answer, fill, joined, numbers, page, shortened

LIMIT, MOST = 40, 80
EVERYBODY = 10_000  # more than most may follow; how many of them are shown is a matter of their size
AT_ONCE = 100
MOST_NAMED = 200  # in one request: each who joins or leaves is a statement and some jobs
# Each of these has feeds filled anew, with whatever all who are on the list have said.
CHANGES = LimitRule("lists", most=300, seconds=3600)
NAMED = LimitRule("list-members", most=10_000, seconds=3600)
_encode = msgspec.json.Encoder().encode
READ, WRITE = user("read:lists"), user("write:lists")


class NamedMembers(msgspec.Struct, kw_only=True):
    account_ids: list[str]


@get("/api/v1/lists", guards=[READ])
async def show_lists(work: Work, me: Me) -> Answer:
    async def make() -> bytes:
        return _encode([render_list(one) for one in await store.all_of(work.db, me)])

    return Answer(200, JSON, await work.find(UntilWritten).keep(("lists", me), make))


@post("/api/v1/lists", guards=[WRITE], status=200)
async def create_list(work: Work, me: Me, draft: FromRequest[service.ListDraft]) -> dict[str, Any]:
    return render_list(await service.create(work, me, draft))


@get("/api/v1/lists/{id}", guards=[READ])
async def show_list(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    return render_list(await service.find(work, me, id))


@put("/api/v1/lists/{id}", guards=[WRITE])
async def change_list(work: Work, me: Me, draft: FromRequest[service.ListDraft], id: FromPath[int]) -> dict[str, Any]:
    work.find(Limiter).spend(CHANGES, str(me))
    return render_list(await service.change(work, me, id, draft))


@delete("/api/v1/lists/{id}", guards=[WRITE], status=200)
async def delete_list(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    work.find(Limiter).spend(CHANGES, str(me))
    await service.remove(work, me, id)
    return {}


@get("/api/v1/lists/{id}/accounts", guards=[READ])
async def show_members(exchange: Exchange, work: Work, me: Me, id: FromPath[int]) -> Answer:
    """With a limit of nought, everybody, and no pages, as long as there is room."""
    found = await service.find(work, me, id)
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD)
    has_pages = exchange.query("limit") != "0"
    if not has_pages:
        cursor = msgspec.structs.replace(cursor, limit=EVERYBODY)
    statement, values = store.people().form(cursor)
    rows = await work.db.all(statement, list=found.id, **values)
    there, shown = await fill(rows, partial(render_lines, work), at_once=AT_ONCE)
    if not has_pages and len(there) == len(rows) < EVERYBODY:
        return answer(exchange, joined(shown))
    if len(there) < len(rows):
        cursor = shortened(cursor, len(there))
    return page(exchange, cursor, shown, [row.id for row in there], kind=CursorKind.RECORD)


def _account_ids(named: NamedMembers) -> list[AccountId]:
    if len(named.account_ids) > MOST_NAMED:
        words = f"has too many elements (maximum is {MOST_NAMED})"
        raise Invalid(fields={"account_ids": [Complaint(words, "too_many")]})
    return [AccountId(id) for id in numbers(named.account_ids)]


@post("/api/v1/lists/{id}/accounts", guards=[WRITE], status=200)
async def add_members(work: Work, me: Me, named: FromRequest[NamedMembers], id: FromPath[int]) -> dict[str, Any]:
    ids = _account_ids(named)
    if len(ids) < len(set(named.account_ids)):
        raise NotFound
    work.find(Limiter).spend(NAMED, str(me), len(ids))
    await service.add(work, me, id, ids)
    return {}


@delete("/api/v1/lists/{id}/accounts", guards=[WRITE], status=200)
async def drop_members(work: Work, me: Me, named: FromRequest[NamedMembers], id: FromPath[int]) -> dict[str, Any]:
    ids = _account_ids(named)
    work.find(Limiter).spend(NAMED, str(me), len(ids))
    await service.drop(work, me, id, ids)
    return {}


@get("/api/v1/accounts/{id}/lists", guards=[READ])
async def show_lists_with(work: Work, me: Me, id: FromPath[AccountId]) -> list[dict[str, Any]]:
    """Those of one's own lists that somebody is on."""
    other = await accounts.find(work.db, id)
    if other is None or not other.is_listed:
        raise NotFound
    return [render_list(one) for one in await store.with_member(work.db, me, other.id)]


routes = [
    show_lists,
    create_list,
    show_list,
    change_list,
    delete_list,
    show_members,
    add_members,
    drop_members,
    show_lists_with,
]
