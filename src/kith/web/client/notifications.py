"""/notifications: what concerns whoever reads, by groups; all of it, or mentions only."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get
from kith.web import own_api
from kith.web.client.frame import PageMember, client_page, find_member, sign_in_first
from kith.web.client.notification_rows import NotificationGroups, named, newest_of, rows_of
from kith.web.client.people import people_page, relations_of
from kith.web.client.readers import reader_of
from kith.web.page_language import language_of
from kith.web.translation import translatable, translator

__all__ = ["PAGED", "routes", "show_groups"]

PAGED = ("max_id", "min_id", "since_id")
LIMIT = 30
MENTIONS = ("mention", "quote")
_TABS = (("/notifications", translatable("All")), ("/notifications/mentions", translatable("Mentions")))
_groups = msgspec.json.Decoder(NotificationGroups)


async def show_groups(
    exchange: Exchange, member: PageMember, template: str, asked: dict[str, object], **values: Any
) -> Answer:
    """A page of groups as the API has them, with the parameters `asked`."""
    paged = {name: exchange.query(name) for name in PAGED if exchange.query(name)}
    query = own_api.pairs({**asked, "limit": LIMIT, **paged})
    answer = await own_api.call(exchange, "GET", "/api/v2/notifications", query=query)
    found = _groups.decode(answer.body)
    links = own_api.other_pages(answer, but=[name for name, _ in query if name not in PAGED])
    read = await _last_read(exchange)
    rows = rows_of(
        exchange.work, found, member.account.id, await reader_of(exchange, member, "notifications"), read=read
    )
    return await client_page(
        exchange,
        template,
        member,
        here="notifications",
        rows=rows,
        relations=await relations_of(exchange, member, _new_followers(rows)),
        named=named,
        newest=newest_of(found),
        read=read,
        is_first=not paged,
        older=links.get("next", "") if found.notification_groups else "",
        newer=links.get("prev", "") if paged else "",
        **values,
    )


def _new_followers(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Who may be followed back by a button of their own line."""
    return [row["people"][0] for row in rows if row["type"] == "follow" and not row["others"] and row["people"]]


async def _last_read(exchange: Exchange) -> int:
    markers = await own_api.ask(exchange, "/api/v1/markers", timeline=["notifications"])
    return int(markers["notifications"]["last_read_id"]) if markers else 0


async def _notifications(exchange: Exchange, empty: str, **asked: object) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    policy = await own_api.ask(exchange, "/api/v2/notifications/policy")
    return await show_groups(
        exchange,
        member,
        "client/notifications.html",
        asked,
        tabs=[(to, words, to == exchange.path) for to, words in _TABS],
        held_back=policy["summary"]["pending_requests_count"],
        is_all=not asked,
        empty=translator(language_of(exchange))(empty),
    )


@get("/notifications")
async def show_all(exchange: Exchange) -> Answer:
    empty = translatable("Nothing yet. When people follow you, answer you or like your posts, you will see it here.")
    return await _notifications(exchange, empty)


@get("/notifications/mentions")
async def show_mentions(exchange: Exchange) -> Answer:
    return await _notifications(exchange, translatable("Nobody has mentioned you yet."), types=MENTIONS)


@get("/notifications/groups/{key}")
async def show_senders(exchange: Exchange, key: FromPath[str]) -> Answer:
    """Everybody who favourited a post, where a line names only the newest of them."""
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    say = translator(language_of(exchange))
    return await people_page(
        exchange,
        member,
        f"/api/v2/notifications/{quote(key, safe='')}/accounts",
        here="notifications",
        heading=say(translatable("People in this notification")),
        empty=say(translatable("This notification is gone.")),
    )


routes = [show_all, show_mentions, show_senders]
