from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base.edge import Answer, Exchange, exchange_of
from kith.base.errors import NotFound
from kith.base.express import Way
from kith.base.paging import Cursor, Kind
from kith.base.params import params, query
from kith.base.work import Work
from kith.social.accounts.lines import WIDTH
from kith.social.accounts.viewers import account_of
from kith.social.guards import Member, member_in, user
from kith.social.notifications import entities, service, store
from kith.social.pages import answer, as_response, list_of, number
from kith.social.timelines import markers

AnyRequest = Request[Any, Any, Any]
LIMIT, MOST = 40, 80
COUNTED, MOST_COUNTED = 100, 1000
READ, WRITE = user("read:notifications"), user("write:notifications")


class Asked(msgspec.Struct, kw_only=True):
    types: list[str] = []
    exclude_types: list[str] = []
    account_id: str = ""
    include_filtered: bool = False
    supported_types: list[str] = []

    @property
    def from_id(self) -> int | None:
        """Somebody who cannot be has sent nothing."""
        if not self.account_id:
            return None
        try:
            return number(self.account_id)
        except NotFound:
            return 0


EVERYTHING = Asked()


class Named(msgspec.Struct, kw_only=True):
    id: str


class Counted(Asked, kw_only=True):
    limit: int = COUNTED


async def _notifications(exchange: Exchange, _id: int = 0, asked: Asked = EVERYTHING) -> Answer:
    work = exchange.work
    account = await account_of(work, member_in(exchange))
    cursor = Cursor.read(exchange.scope["query_string"], default=LIMIT, most=MOST, kind=Kind.RECORD3)
    types = service.wanted_types(asked.types, asked.exclude_types)
    rows = await store.page_of(
        work.db, account, cursor, types=types, from_id=asked.from_id, filtered=asked.include_filtered
    )
    shown = await entities.render(work, rows, account, supported=asked.supported_types)
    return list_of(exchange, cursor, shown, [row[WIDTH] for row in rows], kind=Kind.RECORD3, is_timeline=True)


@get("/api/v1/notifications", guards=[READ], dependencies={"asked": query(Asked)})
async def show_notifications(request: AnyRequest, asked: NamedDependency[Asked]) -> ASGIResponse:
    return as_response(await _notifications(exchange_of(request), asked=asked))


@get("/api/v1/notifications/unread_count", guards=[READ], dependencies={"asked": query(Counted)})
async def count_unread(
    work: NamedDependency[Work], me: NamedDependency[Member], asked: NamedDependency[Counted]
) -> dict[str, int]:
    account = await account_of(work, me)
    types = service.wanted_types(asked.types, asked.exclude_types)
    read = await markers.last_read(work, account, "notifications")
    most = min(abs(asked.limit) or COUNTED, MOST_COUNTED)
    return {"count": await store.count_since(work.db, account, read, types=types, from_id=asked.from_id, most=most)}


@get("/api/v1/notifications/{id:str}", guards=[READ], dependencies={"asked": query(Asked)})
async def show_notification(
    request: AnyRequest, work: NamedDependency[Work], me: NamedDependency[Member], asked: NamedDependency[Asked],
    id: FromPath[str],
) -> ASGIResponse:  # fmt: skip
    account = await account_of(work, me)
    row = await store.find(work.db, account, number(id))
    shown = [] if row is None else await entities.render(work, [row], account, supported=asked.supported_types)
    if not shown:
        raise NotFound
    return answer(exchange_of(request), shown[0])


@post("/api/v1/notifications/clear", guards=[WRITE], status_code=200)
async def clear(work: NamedDependency[Work], me: NamedDependency[Member]) -> dict[str, Any]:
    await service.clear(work, await account_of(work, me))
    return {}


@post("/api/v1/notifications/{id:str}/dismiss", guards=[WRITE], status_code=200)
async def dismiss(work: NamedDependency[Work], me: NamedDependency[Member], id: FromPath[str]) -> dict[str, Any]:
    await service.dismiss(work, await account_of(work, me), number(id))
    return {}


@post("/api/v1/notifications/dismiss", guards=[WRITE], dependencies={"named": params(Named)}, status_code=200)
async def dismiss_named(
    work: NamedDependency[Work], me: NamedDependency[Member], named: NamedDependency[Named]
) -> dict[str, Any]:
    """The older way."""
    await service.dismiss(work, await account_of(work, me), number(named.id))
    return {}


routes = [show_notifications, count_unread, show_notification, clear, dismiss, dismiss_named]

ways = {"/api/v1/notifications": Way(READ.let_in, _notifications)}
