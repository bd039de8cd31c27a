"""Statuses that are planned for later."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from litestar import delete, get, put
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.paging import Cursor, Kind
from kith.base.params import params
from kith.base.work import Work
from kith.social.accounts.viewers import account_of
from kith.social.guards import Member, user
from kith.social.pages import number, page
from kith.social.statuses import lists, shapes
from kith.social.statuses.api.common import AnyRequest, encode
from kith.social.statuses.service import schedule as scheduling


class Later(msgspec.Struct, kw_only=True):
    scheduled_at: datetime | None = None


@get("/api/v1/scheduled_statuses", guards=[user("read:statuses")])
async def show_all_scheduled(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member]
) -> ASGIResponse:
    exchange = exchange_of(request)
    cursor = Cursor.read(exchange.scope["query_string"], default=20, most=40, kind=Kind.RECORD3)
    planned = await lists.scheduled_of(work, await account_of(work, me), cursor)
    shown = [encode(one) for one in await shapes.scheduled(work, planned)]
    return page(exchange, cursor, shown, [one.id for one in planned], kind=Kind.RECORD3)


@get("/api/v1/scheduled_statuses/{id:str}", guards=[user("read:statuses")])
async def show_scheduled(work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]) -> dict[str, Any]:
    planned = await scheduling.find_own(work, await account_of(work, me), number(id))
    return (await shapes.scheduled(work, [planned]))[0]


@put("/api/v1/scheduled_statuses/{id:str}", guards=[user("write:statuses")], dependencies={"later": params(Later)})
async def reschedule(
    work: NamedDependency[Work], me: NamedDependency[Member], later: NamedDependency[Later], id: FromPath[str]
) -> dict[str, Any]:
    planned = await scheduling.reschedule(work, await account_of(work, me), number(id), later.scheduled_at)
    return (await shapes.scheduled(work, [planned]))[0]


@delete("/api/v1/scheduled_statuses/{id:str}", guards=[user("write:statuses")], status_code=200)
async def cancel_scheduled(
    work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]
) -> dict[str, Any]:
    await scheduling.cancel(work, await account_of(work, me), number(id))
    return {}


routes = [show_all_scheduled, show_scheduled, reschedule, cancel_scheduled]
