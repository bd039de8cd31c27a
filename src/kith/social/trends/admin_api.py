"""Trends for the team: also what is not reviewed, and what was rejected. Others see what everybody sees."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromRequest, Route, get, post, put
from kith.base.work import Work
from kith.social.accounts.viewers import Me, Viewer
from kith.social.guards import optional
from kith.social.ids import AccountId, StatusId
from kith.social.pages import answer, list_of, page
from kith.social.staff import MaybeStaff, Staff, TheStaff, staff
from kith.social.tags import store as tags
from kith.social.tags.tables import Tag
from kith.social.trends import api, reading, review, review_store, store
from kith.social.trends.entities import (
    render_authors,
    render_links_for_staff,
    render_publisher,
    render_statuses_for_staff,
    render_tags_for_staff,
)
from kith.social.trends.tables import LinkPublisher

ADMIN = "/api/v1/admin"
TRENDS = f"{ADMIN}/trends"
LIMIT, MOST = 100, 200
READ = staff(review.PERMISSION, scope="admin:read")
WRITE = staff(review.PERMISSION, scope="admin:write")
ANYBODY = optional("admin:read")
_encode = msgspec.json.Encoder().encode


def _reviews(by: Staff | None) -> bool:
    return by is not None and by.may(review.PERMISSION)


# Tags


async def _shown_tag(work: Work, tag: Tag, me: AccountId) -> dict[str, Any]:
    [told] = await render_tags_for_staff(work, [tag], me)
    return told


@get(f"{ADMIN}/tags", guards=[READ])
async def list_tags(exchange: Exchange, work: Work, me: Me) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    found = await tags.page(work.db, cursor)
    shown = [_encode(one) for one in await render_tags_for_staff(work, found, me)]
    return page(exchange, cursor, shown, [tag.id for tag in found], kind=CursorKind.RECORD3)


@get(f"{ADMIN}/tags/{{id}}", guards=[READ])
async def show_tag(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    return await _shown_tag(work, await review.find_tag(work, id), me)


@put(f"{ADMIN}/tags/{{id}}", guards=[WRITE])
async def change_tag(
    work: Work, me: Me, by: TheStaff, changes: FromRequest[review.TagChanges], id: FromPath[int]
) -> dict[str, Any]:
    return await _shown_tag(work, await review.change_tag(work, by, id, changes), me)


@get(f"{TRENDS}/tags", guards=[ANYBODY])
async def list_trending_tags(exchange: Exchange, work: Work, viewer: Viewer, by: MaybeStaff) -> Answer:
    if not _reviews(by):
        return await api.tags_page(exchange, viewer)
    cursor = api.stretch(exchange, api.LIMIT, api.MOST)
    found = await reading.read_tags(work, limit=cursor.limit, offset=cursor.offset, all_of_them=True)
    shown = [_encode(one) for one in await render_tags_for_staff(work, found, viewer)]
    return list_of(exchange, cursor, shown, [tag.id for tag in found], kind=CursorKind.OFFSET)


async def _review_tag(work: Work, by: Staff, me: AccountId, id: int, trendable: bool) -> bytes:
    return _encode(await _shown_tag(work, await review.review_tag(work, by, id, trendable=trendable), me))


# Links


@get(f"{TRENDS}/links", guards=[ANYBODY])
async def list_trending_links(exchange: Exchange, work: Work, viewer: Viewer, by: MaybeStaff) -> Answer:
    if not _reviews(by):
        return await api.links_page(exchange, viewer)
    cursor = api.stretch(exchange, api.LIMIT, api.MOST)
    ids = await reading.read_links(work, (), limit=cursor.limit, offset=cursor.offset, all_of_them=True)
    shown = [_encode(one) for one in await render_links_for_staff(work, ids)]
    return list_of(exchange, cursor, shown, ids, kind=CursorKind.OFFSET)


async def _review_link(work: Work, by: Staff, _me: AccountId, id: int, trendable: bool) -> bytes:
    [told] = await render_links_for_staff(work, [await review.review_link(work, by, id, trendable=trendable)])
    return _encode(told)


async def _publishers(work: Work, found: list[LinkPublisher]) -> list[dict[str, Any]]:
    by_default = (await store.settings(work.db)).trendable_by_default
    return [render_publisher(one, by_default=by_default) for one in found]


@get(f"{TRENDS}/links/publishers", guards=[READ])
async def list_publishers(exchange: Exchange, work: Work) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    found = await review_store.page_of_publishers(work.db, cursor)
    shown = [_encode(one) for one in await _publishers(work, found)]
    return page(exchange, cursor, shown, [one.id for one in found], kind=CursorKind.RECORD3)


async def _review_publisher(work: Work, by: Staff, _me: AccountId, id: int, trendable: bool) -> bytes:
    [told] = await _publishers(work, [await review.review_publisher(work, by, id, trendable=trendable)])
    return _encode(told)


# Posts and their authors


@get(f"{TRENDS}/statuses", guards=[ANYBODY])
async def list_trending_statuses(exchange: Exchange, work: Work, viewer: Viewer, by: MaybeStaff) -> Answer:
    if not _reviews(by):
        return await api.statuses_page(exchange, viewer)
    cursor = api.stretch(exchange, api.STATUSES, api.MOST_STATUSES)
    rows = await reading.read_statuses(work, None, (), limit=cursor.limit, offset=cursor.offset, all_of_them=True)
    ids = [row.id for row in rows]
    shown = await render_statuses_for_staff(work, ids, viewer)
    return list_of(exchange, cursor, shown, ids, kind=CursorKind.OFFSET)


async def _review_status(work: Work, by: Staff, me: AccountId, id: int, trendable: bool) -> bytes:
    status = await review.review_status(work, by, StatusId(id), trendable=trendable)
    [shown] = await render_statuses_for_staff(work, [status.id], me)
    return shown


@get(f"{TRENDS}/statuses/accounts", guards=[READ])
async def list_authors(exchange: Exchange, work: Work) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    found = await review_store.page_of_authors(work.db, cursor)
    shown = [_encode(one) for one in await render_authors(work, found)]
    return page(exchange, cursor, shown, [one.account_id for one in found], kind=CursorKind.RECORD3)


async def _review_author(work: Work, by: Staff, _me: AccountId, id: int, trendable: bool) -> bytes:
    author = await review.review_author(work, by, AccountId(id), trendable=trendable)
    [told] = await render_authors(work, [author])
    return _encode(told)


# Verdicts

Verdict = Callable[[Work, Staff, AccountId, int, bool], Awaitable[bytes]]


def _verdict(template: str, decide: Verdict, *, trendable: bool) -> Route:
    """The team says whether something may trend; the answer is how it stands then."""

    async def handler(exchange: Exchange, work: Work, me: Me, by: TheStaff, id: FromPath[int]) -> Answer:
        return answer(exchange, await decide(work, by, me, id, trendable))

    return post(template, guards=[WRITE])(handler)


_VERDICTS: tuple[tuple[str, Verdict], ...] = (
    ("tags", _review_tag),
    ("links", _review_link),
    ("links/publishers", _review_publisher),
    ("statuses", _review_status),
    ("statuses/accounts", _review_author),
)

routes = [
    list_tags,
    show_tag,
    change_tag,
    list_trending_tags,
    list_trending_links,
    list_publishers,
    list_trending_statuses,
    list_authors,
    *(
        _verdict(f"{TRENDS}/{what}/{{id}}/{word}", decide, trendable=word == "approve")
        for what, decide in _VERDICTS
        for word in ("approve", "reject")
    ),
]
