from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from kith.base.caches import UntilWritten
from kith.base.errors import Malformed, Unauthenticated
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromQuery, MayLag, get, number
from kith.base.work import Work
from kith.social.accounts.entities import render_lines
from kith.social.accounts.viewers import Me, Viewer
from kith.social.collections.entities import find_by_address
from kith.social.guards import optional, user
from kith.social.ids import AccountId
from kith.social.pages import answer, joined
from kith.social.relationships.mute_ends import next_end_of_mute
from kith.social.search import service
from kith.social.search.service import Search
from kith.social.statuses import entities as statuses
from kith.social.tags.entities import render_tags

LIMIT, MOST = 20, 40
PEOPLE, MOST_PEOPLE = 40, 80
FURTHEST = 100_000
KINDS = ("accounts", "statuses", "hashtags")
NO_QUERY = "param is missing or the value is empty or invalid: q"
NOT_POSITIVE = "Pagination values for `offset` and `limit` must be positive"
NO_PAGES = "Search queries pagination is not supported without authentication"
NO_RESOLVING = "Search queries that resolve remote resources are not supported without authentication"
_INTEGER = re.compile(r"[+-]?\d{1,19}\Z", re.ASCII)
_encode = msgspec.json.Encoder().encode


class Sought(msgspec.Struct, kw_only=True):
    q: str = ""
    type: str = ""
    resolve: bool = False
    following: bool = False
    exclude_unreviewed: bool = False
    account_id: str = ""


class People(msgspec.Struct, kw_only=True):
    q: str = ""
    resolve: bool = False
    following: bool = False


@get("/api/v2/search", guards=[optional("read:search")], may_lag=MayLag.STRANGERS)
async def search(exchange: Exchange, work: Work, viewer: Viewer, sought: FromQuery[Sought]) -> Answer:
    if viewer is None:
        _refuse_strangers(exchange, sought)

    async def make() -> bytes:
        people, found, tags = await _search(exchange, work, viewer, sought)
        collections = _encode([] if sought.type else await find_by_address(work, viewer, sought.q))
        return _body(people, found, _encode(await render_tags(work, tags, viewer)), b',"collections":%b' % collections)

    if not sought.type or sought.resolve:
        return answer(exchange, await make())
    return answer(exchange, await _kept(exchange, work, viewer, make))


async def _kept(
    exchange: Exchange, work: Work, viewer: AccountId | None, make: Callable[[], Awaitable[bytes]]
) -> bytes:
    """While nobody writes, as long as no mute ends and the day is the same. A poll may end by itself."""
    kept = work.find(UntilWritten)
    key = ("search", viewer, exchange.query_string, await next_end_of_mute(work, viewer), work.now.date())
    version = kept.now()
    found: bytes | None = None if version is None else kept.get(version, key)
    if found is None:
        found = await make()
        if b'"poll":{' not in found:
            kept.put(version, key, found, size=len(found))
    return found


@get("/api/v1/search", guards=[user("read:search")])
async def search_as_before(exchange: Exchange, work: Work, me: Me, sought: FromQuery[Sought]) -> Answer:
    """Tags are only their names."""
    people, found, tags = await _search(exchange, work, me, sought)
    return answer(exchange, _body(people, found, _encode([tag.display for tag in tags])))


@get("/api/v1/accounts/search", guards=[user("read:accounts")])
async def search_people(exchange: Exchange, work: Work, me: Me, sought: FromQuery[People]) -> Answer:
    limit, offset = _stretch(exchange, PEOPLE, MOST_PEOPLE)
    wish = Search(
        text=_text(sought.q),
        me=me,
        limit=limit,
        offset=offset,
        resolve=sought.resolve,
        following=sought.following,
    )
    rows = await service.find_people(work, wish)
    return answer(exchange, joined(await render_lines(work, rows)))


async def _search(
    exchange: Exchange, work: Work, me: AccountId | None, sought: Sought
) -> tuple[list[bytes], list[bytes], list[Any]]:
    """Pages only where one kind is asked for: of three lists nobody could turn one page."""
    limit, offset = _stretch(exchange, LIMIT, MOST)
    wish = Search(
        text=_text(sought.q),
        me=me,
        limit=limit,
        offset=offset if sought.type else 0,
        resolve=sought.resolve,
        following=sought.following,
        exclude_unreviewed=sought.exclude_unreviewed,
        author_id=AccountId(number(sought.account_id)) if sought.account_id else None,
        max_id=_integer(exchange, "max_id") if sought.type else None,
        min_id=_integer(exchange, "min_id") if sought.type else None,
    )
    kinds = (sought.type,) if sought.type else KINDS
    people = await service.find_people(work, wish) if "accounts" in kinds else []
    found = await service.find_statuses(work, wish, is_all=bool(sought.type)) if "statuses" in kinds else []
    tags = await service.find_tags(work, wish) if "hashtags" in kinds else []
    return await render_lines(work, people), await statuses.render(work, found, me), tags


def _body(people: list[bytes], found: list[bytes], tags: bytes, rest: bytes = b"") -> bytes:
    return b'{"accounts":%b,"statuses":%b,"hashtags":%b%b}' % (joined(people), joined(found), tags, rest)


def _refuse_strangers(exchange: Exchange, sought: Sought) -> None:
    if exchange.query("offset"):
        raise Unauthenticated(NO_PAGES)
    if sought.resolve:
        raise Unauthenticated(NO_RESOLVING)


def _text(q: str) -> str:
    text = q.replace("\0", "").strip()
    if not text:
        raise Malformed(NO_QUERY)
    return text


def _stretch(exchange: Exchange, default: int, most: int) -> tuple[int, int]:
    limit, offset = _integer(exchange, "limit"), _integer(exchange, "offset")
    if (limit or 0) < 0 or (offset or 0) < 0:
        raise Malformed(NOT_POSITIVE)
    return min(limit or default, most), min(offset or 0, FURTHEST)


def _integer(exchange: Exchange, name: str) -> int | None:
    """What is no number is as if it were not there."""
    given = exchange.query(name).strip()
    return min(int(given), 2**63 - 1) if _INTEGER.match(given) else None


routes = [search, search_as_before, search_people]
