from __future__ import annotations

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromQuery, MayLag, get
from kith.base.work import Work
from kith.social.accounts.viewers import Viewer
from kith.social.guards import optional
from kith.social.ids import AccountId
from kith.social.pages import list_of, page_of
from kith.social.statuses import entities as status_entities
from kith.social.statuses import pages
from kith.social.statuses.cards.service import find_by_url
from kith.social.tags.entities import render_tags
from kith.social.timelines import reading as timelines
from kith.social.trends import reading
from kith.social.trends.entities import render_links

LIMIT, MOST = 10, 20  # of tags and links
STATUSES, MOST_STATUSES = 20, 40
FARTHEST = 10_000
LANGUAGE = ((b"vary", b"Accept-Language"),)  # its languages come first
_encode = msgspec.json.Encoder().encode


class WhichLink(msgspec.Struct, kw_only=True):
    url: str = ""


def stretch(exchange: Exchange, default: int, most: int) -> Cursor:
    found = Cursor.read(exchange.query_string, default=default, most=most, kind=CursorKind.OFFSET)
    return msgspec.structs.replace(found, offset=min(found.offset, FARTHEST))


def accepted(exchange: Exchange) -> str:
    return exchange.header(b"accept-language").decode("latin-1")


@get("/api/v1/trends/tags", aliases=("/api/v1/trends",), guards=[optional()], may_lag=MayLag.STRANGERS)
async def show_tags(exchange: Exchange, viewer: Viewer) -> Answer:
    return await tags_page(exchange, viewer)


async def tags_page(exchange: Exchange, viewer: AccountId | None) -> Answer:
    work = exchange.work
    cursor = stretch(exchange, LIMIT, MOST)
    found = await reading.read_tags(work, limit=cursor.limit, offset=cursor.offset)
    shown = [_encode(one) for one in await render_tags(work, found, viewer)]
    return list_of(exchange, cursor, shown, [tag.id for tag in found], kind=CursorKind.OFFSET)


@get("/api/v1/trends/links", guards=[optional()], may_lag=MayLag.STRANGERS)
async def show_links(exchange: Exchange, viewer: Viewer) -> Answer:
    return await links_page(exchange, viewer)


async def links_page(exchange: Exchange, viewer: AccountId | None) -> Answer:
    work = exchange.work
    cursor = stretch(exchange, LIMIT, MOST)
    languages = await reading.languages_of(work, viewer, accepted(exchange))
    ids = await reading.read_links(work, languages, limit=cursor.limit, offset=cursor.offset)
    shown = [_encode(one) for one in await render_links(work, ids)]
    return list_of(exchange, cursor, shown, ids, kind=CursorKind.OFFSET, headers=LANGUAGE)


@get("/api/v1/trends/statuses", guards=[optional()], may_lag=MayLag.STRANGERS)
async def show_statuses(exchange: Exchange, viewer: Viewer) -> Answer:
    return await statuses_page(exchange, viewer)


async def statuses_page(exchange: Exchange, viewer: AccountId | None) -> Answer:
    work = exchange.work
    cursor = stretch(exchange, STATUSES, MOST_STATUSES)
    languages = await reading.languages_of(work, viewer, accepted(exchange))
    rows = await reading.read_statuses(work, viewer, languages, limit=cursor.limit, offset=cursor.offset)
    shown = await status_entities.render(work, rows, viewer)
    return list_of(exchange, cursor, shown, [row.id for row in rows], kind=CursorKind.OFFSET, headers=LANGUAGE)


@get("/api/v1/timelines/link", guards=[optional("read:statuses")])
async def show_link(exchange: Exchange, work: Work, viewer: Viewer, which: FromQuery[WhichLink]) -> Answer:
    """What is said about a link, while it is a trend."""
    card = await find_by_url(work, which.url) if which.url else None
    if card is None or not await reading.is_trending_link(work, card.id):
        raise NotFound
    cursor = Cursor.read(exchange.query_string, default=STATUSES, most=MOST_STATUSES)
    rows = await timelines.linking(work, viewer, cursor, card.id)
    body, ids, _ = await pages.render(work, rows, viewer, is_ascending=cursor.is_ascending)
    return page_of(exchange, cursor, body, ids, kind=CursorKind.STATUS, is_timeline=True)


routes = [show_tags, show_links, show_statuses, show_link]
