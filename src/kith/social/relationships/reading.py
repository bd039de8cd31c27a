"""The routes that only look: what there is between people, and lists of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from litestar import Request, get
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.paging import Cursor, Kind
from kith.base.params import query
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.entities import render_lines, render_muted
from kith.social.accounts.lines import WIDTH
from kith.social.accounts.viewers import account_of, account_of_caller
from kith.social.guards import Caller, Member, optional, user
from kith.social.pages import answer, joined, number, numbers, page
from kith.social.relationships import entities, lists
from kith.social.relationships.service.common import target

AnyRequest = Request[Any, Any, Any]
LIMIT, MOST = 40, 80
DOMAINS, MOST_DOMAINS = 100, 200
MOST_IDS = 500
MOST_FAMILIAR = 40
EVERYBODY = 1_000_000
_encode = msgspec.json.Encoder().encode


class Asked(msgspec.Struct, kw_only=True):
    id: list[str] = []
    with_suspended: bool = False


def _cursor(request: AnyRequest, limit: int = LIMIT, most: int = MOST) -> Cursor:
    return Cursor.read(request.scope["query_string"], default=limit, most=most, kind=Kind.RECORD)


async def _people(request: AnyRequest, work: Work, cursor: Cursor, rows: list[lists.Row]) -> ASGIResponse:
    shown = await render_lines(work, rows)
    return page(exchange_of(request), cursor, shown, lists.ids_of(rows), kind=Kind.RECORD)


@get("/api/v1/accounts/relationships", guards=[user("read:follows")], dependencies={"asked": query(Asked)})
async def show_relationships(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], asked: NamedDependency[Asked]
) -> ASGIResponse:
    ids = numbers(asked.id)[:MOST_IDS]
    shown = await entities.render(work, await account_of(work, me), ids, with_suspended=asked.with_suspended)
    return answer(exchange_of(request), joined(shown))


@get("/api/v1/accounts/familiar_followers", guards=[user("read:follows")], dependencies={"asked": query(Asked)})
async def show_familiar_followers(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], asked: NamedDependency[Asked]
) -> ASGIResponse:
    """Nobody where followers are not shown; those who are not there are left out."""
    ids = numbers(asked.id)[:MOST_FAMILIAR]
    known = {id: one for id, one in (await accounts.find_all(work.db, ids)).items() if one.is_listed}
    open_ones = [one.id for one in known.values() if not one.is_gone and not one.hide_collections]
    found = await lists.familiar(work, await account_of(work, me), open_ones)
    shown = dict(found_and_shown(found, await render_lines(work, [row for rows in found.values() for row in rows])))
    told = [b'{"id":"%d","accounts":%b}' % (id, joined(shown.get(id, []))) for id in ids if id in known]
    return answer(exchange_of(request), joined(told))


def found_and_shown(found: dict[int, list[lists.Row]], shown: list[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """What was rendered all at once, back under the ids it was found for."""
    place = 0
    for id, rows in found.items():
        yield id, shown[place : place + len(rows)]
        place += len(rows)


@get("/api/v1/accounts/{id:str}/followers", guards=[optional("read:accounts")])
async def show_followers(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    me, owner, cursor = await account_of_caller(work, caller), await target(work, number(id)), _cursor(request)
    return await _people(request, work, cursor, await lists.followers(work, owner, cursor, me))


@get("/api/v1/accounts/{id:str}/following", guards=[optional("read:accounts")])
async def show_following(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    me, owner, cursor = await account_of_caller(work, caller), await target(work, number(id)), _cursor(request)
    return await _people(request, work, cursor, await lists.following(work, owner, cursor, me))


@get("/api/v1/accounts/{id:str}/endorsements", guards=[optional("read:accounts")])
async def show_endorsed_by(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller], id: FromPath[str]
) -> ASGIResponse:
    me, owner, cursor = await account_of_caller(work, caller), await target(work, number(id)), _cursor(request)
    return await _people(request, work, cursor, await lists.endorsed(work, owner, cursor, me))


@get("/api/v1/endorsements", guards=[user("read:accounts")])
async def show_endorsements(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]
) -> ASGIResponse:
    """With a limit of nought, all of them."""
    owner, cursor = await target(work, await account_of(work, me)), _cursor(request)
    if request.query_params.get("limit") == "0":
        cursor = msgspec.structs.replace(cursor, limit=EVERYBODY)
    return await _people(request, work, cursor, await lists.endorsed(work, owner, cursor, owner.id))


@get("/api/v1/follow_requests", guards=[user("read:follows")])
async def show_requests(request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]) -> ASGIResponse:
    cursor = _cursor(request)
    return await _people(request, work, cursor, await lists.asking(work, await account_of(work, me), cursor))


@get("/api/v1/blocks", guards=[user("read:blocks")])
async def show_blocks(request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]) -> ASGIResponse:
    cursor = _cursor(request)
    return await _people(request, work, cursor, await lists.blocked(work, await account_of(work, me), cursor))


@get("/api/v1/mutes", guards=[user("read:mutes")])
async def show_mutes(request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]) -> ASGIResponse:
    cursor = _cursor(request)
    rows = await lists.muted(work, await account_of(work, me), cursor)
    people = await render_lines(work, rows)
    shown = [render_muted(one, row[WIDTH + 1]) for one, row in zip(people, rows, strict=True)]
    return page(exchange_of(request), cursor, shown, lists.ids_of(rows), kind=Kind.RECORD)


@get("/api/v1/domain_blocks", guards=[user("read:blocks")])
async def show_domain_blocks(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]
) -> ASGIResponse:
    cursor = _cursor(request, DOMAINS, MOST_DOMAINS)
    rows = await lists.domains(work, await account_of(work, me), cursor)
    shown = [_encode(domain) for domain, _ in rows]
    return page(exchange_of(request), cursor, shown, [id for _, id in rows], kind=Kind.RECORD)


routes = [
    show_relationships,
    show_familiar_followers,
    show_followers,
    show_following,
    show_endorsed_by,
    show_endorsements,
    show_requests,
    show_blocks,
    show_mutes,
    show_domain_blocks,
]
