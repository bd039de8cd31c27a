"""Statuses that are planned for later."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromRequest, delete, get, put
from kith.base.work import Work
from kith.social.accounts.viewers import Me
from kith.social.guards import user
from kith.social.pages import page
from kith.social.statuses import lists, shapes
from kith.social.statuses.api.common import encode
from kith.social.statuses.service import schedule as scheduling


class Later(msgspec.Struct, kw_only=True):
    scheduled_at: datetime | None = None


@get("/api/v1/scheduled_statuses", guards=[user("read:statuses")])
async def show_all_scheduled(exchange: Exchange, work: Work, me: Me) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=20, most=40, kind=CursorKind.RECORD3)
    planned = await lists.scheduled_of(work, me, cursor)
    shown = [encode(one) for one in await shapes.scheduled(work, planned)]
    return page(exchange, cursor, shown, [one.id for one in planned], kind=CursorKind.RECORD3)


@get("/api/v1/scheduled_statuses/{id}", guards=[user("read:statuses")])
async def show_scheduled(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    planned = await scheduling.find_own(work, me, id)
    return (await shapes.scheduled(work, [planned]))[0]


@put("/api/v1/scheduled_statuses/{id}", guards=[user("write:statuses")])
async def reschedule(work: Work, me: Me, later: FromRequest[Later], id: FromPath[int]) -> dict[str, Any]:
    planned = await scheduling.reschedule(work, me, id, later.scheduled_at)
    return (await shapes.scheduled(work, [planned]))[0]


@delete("/api/v1/scheduled_statuses/{id}", guards=[user("write:statuses")], status=200)
async def cancel_scheduled(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    await scheduling.cancel(work, me, id)
    return {}


routes = [show_all_scheduled, show_scheduled, reschedule, cancel_scheduled]
