"""Trends for the team: also what is not reviewed, and what was rejected. Others see what everybody sees."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromRequest, get, post, put
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


@post(f"{TRENDS}/tags/{{id}}/approve", guards=[WRITE])
async def approve_tag(work: Work, me: Me, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    return await _shown_tag(work, await review.review_tag(work, by, id, trendable=True), me)


@post(f"{TRENDS}/tags/{{id}}/reject", guards=[WRITE])
async def reject_tag(work: Work, me: Me, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    return await _shown_tag(work, await review.review_tag(work, by, id, trendable=False), me)


# Links


@get(f"{TRENDS}/links", guards=[ANYBODY])
async def list_trending_links(exchange: Exchange, work: Work, viewer: Viewer, by: MaybeStaff) -> Answer:
    if not _reviews(by):
        return await api.links_page(exchange, viewer)
    cursor = api.stretch(exchange, api.LIMIT, api.MOST)
    ids = await reading.read_links(work, (), limit=cursor.limit, offset=cursor.offset, all_of_them=True)
    shown = [_encode(one) for one in await render_links_for_staff(work, ids)]
    return list_of(exchange, cursor, shown, ids, kind=CursorKind.OFFSET)


async def _review_link(work: Work, by: Staff, id: int, *, trendable: bool) -> dict[str, Any]:
    [told] = await render_links_for_staff(work, [await review.review_link(work, by, id, trendable=trendable)])
    return told


@post(f"{TRENDS}/links/{{id}}/approve", guards=[WRITE])
async def approve_link(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    return await _review_link(work, by, id, trendable=True)


@post(f"{TRENDS}/links/{{id}}/reject", guards=[WRITE])
async def reject_link(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    return await _review_link(work, by, id, trendable=False)


async def _publishers(work: Work, found: list[LinkPublisher]) -> list[dict[str, Any]]:
    by_default = (await store.settings(work.db)).trendable_by_default
    return [render_publisher(one, by_default=by_default) for one in found]


@get(f"{TRENDS}/links/publishers", guards=[READ])
async def list_publishers(exchange: Exchange, work: Work) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    found = await review_store.page_of_publishers(work.db, cursor)
    shown = [_encode(one) for one in await _publishers(work, found)]
    return page(exchange, cursor, shown, [one.id for one in found], kind=CursorKind.RECORD3)


@post(f"{TRENDS}/links/publishers/{{id}}/approve", guards=[WRITE])
async def approve_publisher(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    return (await _publishers(work, [await review.review_publisher(work, by, id, trendable=True)]))[0]


@post(f"{TRENDS}/links/publishers/{{id}}/reject", guards=[WRITE])
async def reject_publisher(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    return (await _publishers(work, [await review.review_publisher(work, by, id, trendable=False)]))[0]


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


async def _review_status(exchange: Exchange, by: Staff, me: AccountId, id: StatusId, *, trendable: bool) -> Answer:
    work = exchange.work
    status = await review.review_status(work, by, id, trendable=trendable)
    [shown] = await render_statuses_for_staff(work, [status.id], me)
    return answer(exchange, shown)


@post(f"{TRENDS}/statuses/{{id}}/approve", guards=[WRITE])
async def approve_status(exchange: Exchange, by: TheStaff, me: Me, id: FromPath[StatusId]) -> Answer:
    return await _review_status(exchange, by, me, id, trendable=True)


@post(f"{TRENDS}/statuses/{{id}}/reject", guards=[WRITE])
async def reject_status(exchange: Exchange, by: TheStaff, me: Me, id: FromPath[StatusId]) -> Answer:
    return await _review_status(exchange, by, me, id, trendable=False)


@get(f"{TRENDS}/statuses/accounts", guards=[READ])
async def list_authors(exchange: Exchange, work: Work) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    found = await review_store.page_of_authors(work.db, cursor)
    shown = [_encode(one) for one in await render_authors(work, found)]
    return page(exchange, cursor, shown, [one.account_id for one in found], kind=CursorKind.RECORD3)


@post(f"{TRENDS}/statuses/accounts/{{id}}/approve", guards=[WRITE])
async def approve_author(work: Work, by: TheStaff, id: FromPath[AccountId]) -> dict[str, Any]:
    return (await render_authors(work, [await review.review_author(work, by, id, trendable=True)]))[0]


@post(f"{TRENDS}/statuses/accounts/{{id}}/reject", guards=[WRITE])
async def reject_author(work: Work, by: TheStaff, id: FromPath[AccountId]) -> dict[str, Any]:
    return (await render_authors(work, [await review.review_author(work, by, id, trendable=False)]))[0]


routes = [
    list_tags, show_tag, change_tag, list_trending_tags, approve_tag, reject_tag, list_trending_links, approve_link,
    reject_link, list_publishers, approve_publisher, reject_publisher, list_trending_statuses, approve_status,
    reject_status, list_authors, approve_author, reject_author,
]  # fmt: skip
