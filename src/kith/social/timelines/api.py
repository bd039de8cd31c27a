from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import Answer, Exchange, Headers, exchange_of
from kith.base.errors import NotFound
from kith.base.express import Way
from kith.base.paging import Cursor, Kind
from kith.base.params import Loose, params, query
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.viewers import account_of, account_of_caller
from kith.social.guards import Caller, Member, caller_in, member_in, optional, user
from kith.social.lists import store as lists
from kith.social.pages import as_response, list_of, number
from kith.social.statuses import entities
from kith.social.tags import store as tags
from kith.social.text.parts import normal_tag
from kith.social.timelines import home, markers, reading

AnyRequest = Request[Any, Any, Any]
LIMIT, MOST = 20, 40
MOST_TAGS = 4
REFRESH = b"mastodon-async-refresh"
_reader, _anybody = user("read:statuses"), optional("read:statuses")


class Narrow(msgspec.Struct, kw_only=True):
    local: bool = False
    remote: bool = False
    only_media: bool = False


class Tags(Narrow, kw_only=True):
    any: list[str] = []
    all: list[str] = []
    none: list[str] = []


class OfAccount(msgspec.Struct, kw_only=True):
    only_media: bool = False
    exclude_replies: bool = False
    exclude_reblogs: bool = False
    exclude_direct: bool = False
    pinned: bool = False
    tagged: str = ""


ALL, ALL_OF_ACCOUNT = Narrow(), OfAccount()


class Read(Loose, kw_only=True):
    last_read_id: int


class Reads(msgspec.Struct, kw_only=True):
    home: Read | None = None
    notifications: Read | None = None


class Asked(msgspec.Struct, kw_only=True):
    timeline: list[str] = []


def _cursor(exchange: Exchange, kind: Kind = Kind.STATUS) -> Cursor:
    return Cursor.read(exchange.scope["query_string"], default=LIMIT, most=MOST, kind=kind)


async def _timeline(
    exchange: Exchange, rows: reading.Rows, me: int | None, cursor: Cursor, *, status: int = 200, headers: Headers = ()
) -> Answer:
    shown = await entities.render(exchange.work, rows, me)
    ids = [row[0] for row in rows]
    return list_of(exchange, cursor, shown, ids, kind=Kind.STATUS, is_timeline=True, status=status, headers=headers)


async def _home(exchange: Exchange, _id: int = 0) -> Answer:
    """While the feed is built anew: what there is of it, with 206."""
    work = exchange.work
    account = await account_of(work, member_in(exchange))
    cursor = _cursor(exchange)
    rows, is_kept = await reading.home(work, account, cursor, work.now - home.NOTED_EVERY)
    if is_kept or await home.is_ready(work, account):
        return await _timeline(exchange, rows, account, cursor)
    refresh = f'id="home:{account}", retry=5'.encode()
    return await _timeline(exchange, rows, account, cursor, status=206, headers=((REFRESH, refresh),))


@get("/api/v1/timelines/home", guards=[_reader])
async def show_home(request: AnyRequest) -> ASGIResponse:
    return as_response(await _home(exchange_of(request)))


async def _public(exchange: Exchange, _id: int = 0, narrow: Narrow = ALL) -> Answer:
    work = exchange.work
    me = await account_of_caller(work, caller_in(exchange))
    cursor = _cursor(exchange)
    rows = await reading.public(
        work, me, cursor, local=narrow.local, remote=narrow.remote, only_media=narrow.only_media
    )
    return await _timeline(exchange, rows, me, cursor)


@get("/api/v1/timelines/public", guards=[_anybody], dependencies={"narrow": query(Narrow)})
async def show_public(request: AnyRequest, narrow: NamedDependency[Narrow]) -> ASGIResponse:
    return as_response(await _public(exchange_of(request), narrow=narrow))


@get("/api/v1/timelines/tag/{name:str}", guards=[_anybody], dependencies={"narrow": query(Tags)})
async def show_tag(
    request: AnyRequest, work: NamedDependency[Work], caller: NamedDependency[Caller],
    narrow: NamedDependency[Tags], name: FromPath[str],
) -> ASGIResponse:  # fmt: skip
    """Names that nobody has used are as if they were not there; where it is the tag itself, there is nothing."""
    me = await account_of_caller(work, caller)
    cursor = _cursor(exchange_of(request))
    wanted = [normal_tag(one) for one in (name, *narrow.any[:MOST_TAGS])]
    needed = [normal_tag(one) for one in narrow.all[:MOST_TAGS]]
    unwanted = [normal_tag(one) for one in narrow.none[:MOST_TAGS]]
    known = await tags.find_named(work.db, [*wanted, *needed, *unwanted])
    found = [known[one].id for one in wanted if one in known]
    rows: reading.Rows = []
    if wanted[0] in known:
        rows = await reading.tagged(
            work, me, cursor, any_of_these=found, all_of_these=[known[one].id for one in needed if one in known],
            none_of_these=[known[one].id for one in unwanted if one in known], local=narrow.local,
            remote=narrow.remote, only_media=narrow.only_media,
        )  # fmt: skip
    return as_response(await _timeline(exchange_of(request), rows, me, cursor))


@get("/api/v1/timelines/list/{id:str}", guards=[user("read:lists")])
async def show_list(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> ASGIResponse:
    account = await account_of(work, me)
    found = await lists.find(work.db, account, number(id))
    if found is None:
        raise NotFound
    await home.is_ready(work, account)
    cursor = _cursor(exchange_of(request))
    rows = await reading.feed(work, found.id, account, cursor)
    return as_response(await _timeline(exchange_of(request), rows, account, cursor))


@get("/api/v1/timelines/link", guards=[_anybody])
async def show_link() -> None:
    """Links have a timeline while they are a trend. No trends are reckoned here, so that none has."""
    raise NotFound


@get("/api/v1/timelines/direct", guards=[_reader])
async def show_direct(request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]) -> ASGIResponse:
    account = await account_of(work, me)
    cursor = _cursor(exchange_of(request))
    rows = await reading.direct(work, account, cursor)
    return as_response(await _timeline(exchange_of(request), rows, account, cursor))


@get("/api/v1/favourites", guards=[user("read:favourites")])
async def show_favourites(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]
) -> ASGIResponse:
    account = await account_of(work, me)
    cursor = _cursor(exchange_of(request), Kind.RECORD3)
    rows = await reading.favourited(work, account, cursor)
    return as_response(await _marked(exchange_of(request), rows, account, cursor))


@get("/api/v1/bookmarks", guards=[user("read:bookmarks")])
async def show_bookmarks(request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]) -> ASGIResponse:
    account = await account_of(work, me)
    cursor = _cursor(exchange_of(request), Kind.RECORD3)
    rows = await reading.bookmarked(work, account, cursor)
    return as_response(await _marked(exchange_of(request), rows, account, cursor))


async def _marked(exchange: Exchange, rows: reading.Rows, me: int | None, cursor: Cursor) -> Answer:
    """Walked by when they were marked, not by when they were posted."""
    shown = await entities.render(exchange.work, rows, me)
    return list_of(exchange, cursor, shown, [row[-1] for row in rows], kind=Kind.RECORD3)


async def _of_account(exchange: Exchange, id: int, narrow: OfAccount = ALL_OF_ACCOUNT) -> Answer:
    """Nothing for whom the author blocks; whoever is suspended has nothing to show."""
    work = exchange.work
    me = await account_of_caller(work, caller_in(exchange))
    author = await accounts.find(work.db, id)
    if author is None or not author.is_listed:
        raise NotFound
    cursor = _cursor(exchange)
    if narrow.pinned:
        rows = await reading.pinned(work, me, author.id, cursor)
        return await _marked(exchange, rows, me, cursor)
    tag = (await tags.find_named(work.db, [normal_tag(narrow.tagged)])) if narrow.tagged else {}
    rows = []
    if tag or not narrow.tagged:
        rows = await reading.of_account(
            work, me, author.id, cursor, only_media=narrow.only_media, no_replies=narrow.exclude_replies,
            no_boosts=narrow.exclude_reblogs, no_direct=narrow.exclude_direct,
            tag_id=next(iter(tag.values())).id if tag else None,
        )  # fmt: skip
    shown = await entities.render(work, rows, me)
    return list_of(exchange, cursor, shown, [row[0] for row in rows], kind=Kind.STATUS)


@get("/api/v1/accounts/{id:str}/statuses", guards=[_anybody], dependencies={"narrow": query(OfAccount)})
async def show_of_account(request: AnyRequest, narrow: NamedDependency[OfAccount], id: FromPath[str]) -> ASGIResponse:
    return as_response(await _of_account(exchange_of(request), number(id), narrow))


@get("/api/v1/markers", guards=[_reader], dependencies={"asked": query(Asked)})
async def show_markers(
    work: NamedDependency[Work], me: NamedDependency[Member], asked: NamedDependency[Asked]
) -> dict[str, Any]:
    return await markers.of(work, await account_of(work, me), asked.timeline)


@post("/api/v1/markers", guards=[user("write:statuses")], dependencies={"reads": params(Reads)}, status_code=200)
async def move_markers(
    work: NamedDependency[Work], me: NamedDependency[Member], reads: NamedDependency[Reads]
) -> dict[str, Any]:
    given = {name: read.last_read_id for name in markers.NAMES if (read := getattr(reads, name)) is not None}
    return await markers.move(work, await account_of(work, me), given)


routes = [
    show_home,
    show_public,
    show_tag,
    show_list,
    show_link,
    show_direct,
    show_favourites,
    show_bookmarks,
    show_of_account,
    show_markers,
    move_markers,
]

ways = {
    "/api/v1/timelines/home": Way(_reader.let_in, _home),
    "/api/v1/timelines/public": Way(_anybody.let_in, _public),
    "/api/v1/accounts/{id}/statuses": Way(_anybody.let_in, _of_account),
}
