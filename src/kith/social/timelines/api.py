from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from kith.base.caches import UntilWritten
from kith.base.errors import NotFound
from kith.base.exchange import JSON, Answer, Exchange, Headers
from kith.base.paging import Cursor, CursorKind
from kith.base.params import Loose
from kith.base.routing import FromPath, FromQuery, FromRequest, MayLag, get, post
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.viewers import Me, Viewer
from kith.social.guards import optional, user
from kith.social.ids import AccountId
from kith.social.lists import store as lists
from kith.social.pages import list_of, page_of
from kith.social.statuses import entities, pages
from kith.social.statuses.lines import MarkedRow
from kith.social.tags import store as tags
from kith.social.text.parts import normal_tag, written_tag
from kith.social.timelines import home_feed, markers, reading

LIMIT, MOST = 20, 40
MOST_TAGS = 4
HOME = "home"  # the context of filters
_encode = msgspec.json.Encoder().encode
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


class Read(Loose, kw_only=True):
    last_read_id: int


class Reads(msgspec.Struct, kw_only=True):
    home: Read | None = None
    notifications: Read | None = None


class MarkerQuery(msgspec.Struct, kw_only=True):
    timeline: list[str] = []


def _cursor(exchange: Exchange, kind: CursorKind = CursorKind.STATUS) -> Cursor:
    return Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=kind)


async def _timeline(
    exchange: Exchange,
    rows: str | None,
    me: AccountId | None,
    cursor: Cursor,
    *,
    is_timeline: bool = True,
    status: int = 200,
    headers: Headers = (),
    context: str = "",
) -> Answer:
    """What filters hide in this context is left out."""
    body, ids, is_cut = await pages.render(exchange.work, rows, me, is_ascending=cursor.is_ascending, context=context)
    is_timeline = is_timeline or is_cut
    return page_of(
        exchange, cursor, body, ids, kind=CursorKind.STATUS, is_timeline=is_timeline, status=status, headers=headers
    )


@get("/api/v1/timelines/home", guards=[_reader])
async def show_home(exchange: Exchange, work: Work, me: Me) -> Answer:
    """While the feed is built anew: what there is of it, with 206."""
    cursor = _cursor(exchange)
    found = await reading.home(work, me, cursor, work.now - home_feed.NOTED_EVERY)
    if found.is_kept or await home_feed.is_ready(work, me):
        return await _timeline(exchange, found.rows, me, cursor, context=HOME)
    refresh = f'id="home:{me}", retry=5'.encode()
    return await _timeline(exchange, found.rows, me, cursor, status=206, headers=((REFRESH, refresh),), context=HOME)


@get("/api/v1/timelines/public", guards=[_anybody], may_lag=MayLag.STRANGERS)
async def show_public(exchange: Exchange, work: Work, viewer: Viewer, narrow: FromQuery[Narrow]) -> Answer:
    cursor = _cursor(exchange)
    rows = await reading.public(
        work, viewer, cursor, local=narrow.local, remote=narrow.remote, only_media=narrow.only_media
    )
    return await _timeline(exchange, rows, viewer, cursor)


def _tag(given: str) -> str:
    return normal_tag(written_tag(given))


@get("/api/v1/timelines/tag/{name}", guards=[_anybody], may_lag=MayLag.STRANGERS)
async def show_tag(
    exchange: Exchange, work: Work, viewer: Viewer,
    narrow: FromQuery[Tags], name: FromPath[str],
) -> Answer:  # fmt: skip
    """Names that nobody has used are as if they were not there; where it is the tag itself, there is nothing."""
    cursor = _cursor(exchange)
    wanted = [_tag(one) for one in (name, *narrow.any[:MOST_TAGS])]
    needed = [_tag(one) for one in narrow.all[:MOST_TAGS]]
    unwanted = [_tag(one) for one in narrow.none[:MOST_TAGS]]
    known = await tags.find_named(work.db, [*wanted, *needed, *unwanted])
    found = [known[one].id for one in wanted if one in known]
    rows = None
    if wanted[0] in known:
        rows = await reading.tagged(
            work, viewer, cursor, any_of_these=found, all_of_these=[known[one].id for one in needed if one in known],
            none_of_these=[known[one].id for one in unwanted if one in known], local=narrow.local,
            remote=narrow.remote, only_media=narrow.only_media,
        )  # fmt: skip
    return await _timeline(exchange, rows, viewer, cursor)


@get("/api/v1/timelines/list/{id}", guards=[user("read:lists")])
async def show_list(exchange: Exchange, work: Work, me: Me, id: FromPath[int]) -> Answer:
    found = await lists.find(work.db, me, id)
    if found is None:
        raise NotFound
    await home_feed.is_ready(work, me)
    cursor = _cursor(exchange)
    rows = await reading.feed(work, found.id, me, cursor)
    return await _timeline(exchange, rows, me, cursor, context=HOME)


@get("/api/v1/timelines/direct", guards=[_reader])
async def show_direct(exchange: Exchange, work: Work, me: Me) -> Answer:
    cursor = _cursor(exchange)
    rows = await reading.direct(work, me, cursor)
    return await _timeline(exchange, rows, me, cursor)


@get("/api/v1/favourites", guards=[user("read:favourites")])
async def show_favourites(exchange: Exchange, work: Work, me: Me) -> Answer:
    cursor = _cursor(exchange, CursorKind.RECORD3)
    rows = await reading.favourited(work, me, cursor)
    return await _marked(exchange, rows, me, cursor)


@get("/api/v1/bookmarks", guards=[user("read:bookmarks")])
async def show_bookmarks(exchange: Exchange, work: Work, me: Me) -> Answer:
    cursor = _cursor(exchange, CursorKind.RECORD3)
    rows = await reading.bookmarked(work, me, cursor)
    return await _marked(exchange, rows, me, cursor)


async def _marked(exchange: Exchange, rows: Sequence[MarkedRow], me: AccountId | None, cursor: Cursor) -> Answer:
    """Walked by when they were marked, not by when they were posted."""
    shown = await entities.render(exchange.work, rows, me)
    return list_of(exchange, cursor, shown, [row.cursor for row in rows], kind=CursorKind.RECORD3)


@get("/api/v1/accounts/{id}/statuses", guards=[_anybody])
async def show_of_account(
    exchange: Exchange, work: Work, viewer: Viewer, narrow: FromQuery[OfAccount], id: FromPath[AccountId]
) -> Answer:
    """Nothing for whom the author blocks; whoever is suspended has nothing to show."""
    author = await accounts.find(work.db, id)
    if author is None or not author.is_listed:
        raise NotFound
    cursor = _cursor(exchange)
    if narrow.pinned:
        pinned = await reading.pinned(work, viewer, author.id, cursor)
        return await _marked(exchange, pinned, viewer, cursor)
    tag = (await tags.find_named(work.db, [_tag(narrow.tagged)])) if narrow.tagged else {}
    rows = None
    if tag or not narrow.tagged:
        rows = await reading.of_account(
            work, viewer, author.id, cursor, only_media=narrow.only_media, no_replies=narrow.exclude_replies,
            no_boosts=narrow.exclude_reblogs, no_direct=narrow.exclude_direct,
            tag_id=next(iter(tag.values())).id if tag else None,
        )  # fmt: skip
    return await _timeline(exchange, rows, viewer, cursor, is_timeline=False)


@get("/api/v1/markers", guards=[_reader])
async def show_markers(work: Work, me: Me, asked: FromQuery[MarkerQuery]) -> Answer:
    names = tuple(name for name in markers.NAMES if name in asked.timeline)

    async def make() -> bytes:
        return _encode(await markers.of(work, me, names))

    return Answer(200, JSON, await work.find(UntilWritten).keep(("markers", me, names), make))


@post("/api/v1/markers", guards=[user("write:statuses")], status=200)
async def move_markers(work: Work, me: Me, reads: FromRequest[Reads]) -> dict[str, Any]:
    given = {name: read.last_read_id for name in markers.NAMES if (read := getattr(reads, name)) is not None}
    return await markers.move(work, me, given)


routes = [
    show_home,
    show_public,
    show_tag,
    show_list,
    show_direct,
    show_favourites,
    show_bookmarks,
    show_of_account,
    show_markers,
    move_markers,
]
