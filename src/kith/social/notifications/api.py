from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromQuery, FromRequest, get, number, post
from kith.base.work import Work
from kith.social.accounts.viewers import Me
from kith.social.errors import missing
from kith.social.guards import user
from kith.social.ids import AccountId
from kith.social.notifications import entities, reading, service, store
from kith.social.pages import answer, page_of
from kith.social.timelines import markers

LIMIT, MOST = 40, 80
COUNTED, MOST_COUNTED = 100, 1000
READ, WRITE = user("read:notifications"), user("write:notifications")


class NotificationQuery(msgspec.Struct, kw_only=True):
    types: list[str] = []
    exclude_types: list[str] = []
    account_id: str = ""
    include_filtered: bool = False
    supported_types: list[str] = []

    @property
    def from_id(self) -> AccountId | None:
        """Somebody who cannot be has sent nothing."""
        if not self.account_id:
            return None
        try:
            return AccountId(number(self.account_id))
        except NotFound:
            return AccountId(0)


class NamedNotification(msgspec.Struct, kw_only=True):
    id: str = ""


class CountQuery(NotificationQuery, kw_only=True):
    limit: int = COUNTED


@get("/api/v1/notifications", guards=[READ])
async def show_notifications(exchange: Exchange, work: Work, me: Me, asked: FromQuery[NotificationQuery]) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    types = service.wanted_types(asked.types, asked.exclude_types)
    rows = await reading.page_of(
        work,
        me,
        cursor,
        types=None if types == list(service.TYPES) else types,
        from_id=asked.from_id,
        filtered=asked.include_filtered,
    )
    body, ids = await entities.render_page(
        work, rows, me, supported=asked.supported_types, is_ascending=cursor.is_ascending
    )
    return page_of(exchange, cursor, body, ids, kind=CursorKind.RECORD3, is_timeline=True)


@get("/api/v1/notifications/unread_count", guards=[READ])
async def count_unread(work: Work, me: Me, asked: FromQuery[CountQuery]) -> dict[str, int]:
    types = service.wanted_types(asked.types, asked.exclude_types)
    read = await markers.last_read(work, me, "notifications")
    most = min(abs(asked.limit) or COUNTED, MOST_COUNTED)
    return {"count": await store.count_since(work.db, me, read, types=types, from_id=asked.from_id, most=most)}


@get("/api/v1/notifications/{id}", guards=[READ])
async def show_notification(
    exchange: Exchange, work: Work, me: Me, asked: FromQuery[NotificationQuery],
    id: FromPath[int],
) -> Answer:  # fmt: skip
    row = await reading.find(work.db, me, id)
    shown = [] if row is None else await entities.render(work, [row], me, supported=asked.supported_types)
    if not shown:
        raise NotFound
    return answer(exchange, shown[0])


@post("/api/v1/notifications/clear", guards=[WRITE], status=200)
async def clear(work: Work, me: Me) -> dict[str, Any]:
    await service.clear(work, me)
    return {}


@post("/api/v1/notifications/{id}/dismiss", guards=[WRITE], status=200)
async def dismiss(work: Work, me: Me, id: FromPath[int]) -> dict[str, Any]:
    await service.dismiss(work, me, id)
    return {}


@post("/api/v1/notifications/dismiss", guards=[WRITE], status=200)
async def dismiss_named(work: Work, me: Me, named: FromRequest[NamedNotification]) -> dict[str, Any]:
    """The older way."""
    if not named.id:
        raise missing("id")
    await service.dismiss(work, me, number(named.id))
    return {}


routes = [show_notifications, count_unread, show_notification, clear, dismiss, dismiss_named]
