"""Routes of grouped notifications."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Malformed, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.paging import Cursor, CursorKind
from kith.base.routing import FromPath, FromQuery, get, post
from kith.base.work import Work
from kith.social.accounts.entities import render_versions
from kith.social.accounts.viewers import Me
from kith.social.guards import user
from kith.social.notifications import group_entities, groups, service
from kith.social.notifications.api import COUNTED, LIMIT, MOST, MOST_COUNTED, NotificationQuery
from kith.social.notifications.groups import NotificationSelection
from kith.social.pages import answer, list_of, page_of
from kith.social.timelines import markers

READ, WRITE = user("read:notifications"), user("write:notifications")
FULL, PARTIAL = "full", "partial_avatars"


class GroupQuery(NotificationQuery, kw_only=True):
    grouped_types: list[str] | None = None
    expand_accounts: str = FULL

    @property
    def asked(self) -> NotificationSelection:
        types = service.wanted_types(self.types, self.exclude_types)
        grouped = service.GROUPED if self.grouped_types is None else service.GROUPED & set(self.grouped_types)
        return NotificationSelection(
            types=None if types == list(service.TYPES) else tuple(types),
            grouped=tuple(sorted(grouped)),
            groups_all=grouped == service.GROUPED,
            from_id=self.from_id,
            filtered=self.include_filtered,
        )

    @property
    def is_partial(self) -> bool:
        if self.expand_accounts not in (FULL, PARTIAL):
            raise Malformed(
                f"Invalid value for 'expand_accounts': '{self.expand_accounts}', "
                "allowed values are 'full' and 'partial_avatars'"
            )
        return self.expand_accounts == PARTIAL


class GroupCountQuery(GroupQuery, kw_only=True):
    limit: int = COUNTED


class SupportedTypes(msgspec.Struct, kw_only=True):
    supported_types: list[str] = []


@get("/api/v2/notifications", guards=[READ])
async def show_groups(exchange: Exchange, work: Work, me: Me, query: FromQuery[GroupQuery]) -> Answer:
    partial = query.is_partial
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    rows = await groups.page_of(work, me, cursor, query.asked)
    body, ids = await group_entities.render_page(
        work, rows, me, partial=partial, supported=query.supported_types, is_ascending=cursor.is_ascending
    )
    return page_of(exchange, cursor, body, ids, kind=CursorKind.RECORD3, is_timeline=True)


@get("/api/v2/notifications/unread_count", guards=[READ])
async def count_unread_groups(work: Work, me: Me, query: FromQuery[GroupCountQuery]) -> dict[str, int]:
    read = await markers.last_read(work, me, "notifications")
    most = min(abs(query.limit) or COUNTED, MOST_COUNTED)
    return {"count": await groups.count_since(work.db, me, read, query.asked, most=most)}


@get("/api/v2/notifications/{group_key}", guards=[READ])
async def show_group(
    exchange: Exchange, work: Work, me: Me, query: FromQuery[SupportedTypes],
    group_key: FromPath[str],
) -> Answer:  # fmt: skip
    body = await group_entities.render_one(work, group_key, me, supported=query.supported_types)
    if body is None:
        raise NotFound
    return answer(exchange, body)


@get("/api/v2/notifications/{group_key}/accounts", guards=[READ])
async def show_group_accounts(exchange: Exchange, work: Work, me: Me, group_key: FromPath[str]) -> Answer:
    cursor = Cursor.read(exchange.query_string, default=LIMIT, most=MOST, kind=CursorKind.RECORD3)
    found = await groups.senders(work.db, me, group_key, cursor)
    people = await render_versions(work, {one.from_id: one.from_version for one in found})
    shown = [people[one.from_id] for one in found if one.from_id in people]
    return list_of(exchange, cursor, shown, [one.id for one in found], kind=CursorKind.RECORD3)


@post("/api/v2/notifications/clear", guards=[WRITE], status=200)
async def clear_groups(work: Work, me: Me) -> dict[str, Any]:
    await service.clear(work, me)
    return {}


@post("/api/v2/notifications/{group_key}/dismiss", guards=[WRITE], status=200)
async def dismiss_group(work: Work, me: Me, group_key: FromPath[str]) -> dict[str, Any]:
    await groups.dismiss(work.db, me, group_key)
    return {}


routes = [
    show_groups, count_unread_groups, show_group, show_group_accounts, clear_groups, dismiss_group,
]  # fmt: skip
