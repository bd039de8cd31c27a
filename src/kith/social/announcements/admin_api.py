"""Announcements for the team: all of them, also what is not published."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromRequest, delete, get, post, put
from kith.base.work import Work
from kith.social.announcements import mailing, publishing, service, store
from kith.social.announcements.entities import render_for_staff
from kith.social.announcements.tables import Announcement
from kith.social.pages import page
from kith.social.staff import TheStaff, staff

READ = staff("manage_announcements", scope="admin:read")
WRITE = staff("manage_announcements", scope="admin:write")
LIMIT, MOST = 100, 200
_encode = msgspec.json.Encoder().encode


async def _shown(work: Work, one: Announcement) -> dict[str, Any]:
    [told] = await render_for_staff(work, [one])
    return told


@get("/api/v1/admin/announcements", guards=[READ])
async def list_announcements(exchange: Exchange, work: Work) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD)
    found = await store.page(work.db, cursor)
    told = [_encode(one) for one in await render_for_staff(work, found)]
    return page(exchange, cursor, told, [one.id for one in found], kind=CursorKind.RECORD)


@get("/api/v1/admin/announcements/{id}", guards=[READ])
async def show_announcement(work: Work, id: FromPath[int]) -> dict[str, Any]:
    return await _shown(work, await service.find(work, id))


@post("/api/v1/admin/announcements", guards=[WRITE])
async def create_announcement(
    work: Work, by: TheStaff, draft: FromRequest[publishing.AnnouncementDraft]
) -> dict[str, Any]:
    return await _shown(work, await publishing.create(work, by, draft))


@put("/api/v1/admin/announcements/{id}", guards=[WRITE])
async def change_announcement(
    work: Work, by: TheStaff, draft: FromRequest[publishing.AnnouncementDraft], id: FromPath[int]
) -> dict[str, Any]:
    return await _shown(work, await publishing.change(work, by, id, draft))


@delete("/api/v1/admin/announcements/{id}", guards=[WRITE])
async def delete_announcement(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    await publishing.remove(work, by, id)
    return {}


@post("/api/v1/admin/announcements/{id}/publish", guards=[WRITE])
async def publish_announcement(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    return await _shown(work, await publishing.publish(work, by, id))


@post("/api/v1/admin/announcements/{id}/unpublish", guards=[WRITE])
async def unpublish_announcement(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    return await _shown(work, await publishing.unpublish(work, by, id))


@post("/api/v1/admin/announcements/{id}/distribution", guards=[WRITE])
async def mail_announcement(work: Work, by: TheStaff, id: FromPath[int]) -> dict[str, Any]:
    """Sent to everybody by mail, once."""
    return await _shown(work, await mailing.send(work, by, id))


routes = [
    list_announcements,
    show_announcement,
    create_announcement,
    change_announcement,
    delete_announcement,
    publish_announcement,
    unpublish_announcement,
    mail_announcement,
]
