"""What becomes of notifications from people one has little to do with: the rules, and who waits to be let through."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get
from kith.web import own_api
from kith.web.client.frame import client_page, find_member, sign_in_first
from kith.web.client.notifications import PAGED, show_groups
from kith.web.client.people import shown_people
from kith.web.translation import translatable

__all__ = ["routes"]

# Each rule, and whom it is about.
_RULES = (
    (
        "for_not_following",
        translatable("People you do not follow"),
        translatable("Until you follow them or let them through."),
    ),
    (
        "for_not_followers",
        translatable("People who do not follow you"),
        translatable("Also those who follow you for less than three days."),
    ),
    ("for_new_accounts", translatable("New accounts"), translatable("Made within the last 30 days.")),
    (
        "for_private_mentions",
        translatable("Private mentions you did not ask for"),
        translatable("Unless they answer you, or you follow the sender."),
    ),
    ("for_limited_accounts", translatable("Accounts that the moderators have limited"), ""),
    ("for_bots", translatable("Automated accounts"), ""),
)
_CHOICES = (
    ("accept", translatable("Show them")),
    ("filter", translatable("Hold them back")),
    ("drop", translatable("Ignore them")),
)


@get("/notifications/policy")
async def show_policy(exchange: Exchange) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    policy = await own_api.ask(exchange, "/api/v2/notifications/policy")
    return await client_page(
        exchange,
        "client/notification_policy.html",
        member,
        here="notifications",
        rules=[(name, words, more, policy[name]) for name, words, more in _RULES],
        choices=_CHOICES,
        held_back=policy["summary"]["pending_requests_count"],
    )


@get("/notifications/requests")
async def show_requests(exchange: Exchange) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    paged = {name: exchange.query(name) for name in PAGED if exchange.query(name)}
    found, links = await own_api.ask_page(exchange, "/api/v1/notifications/requests", limit=40, **paged)
    state = await own_api.ask(exchange, "/api/v1/notifications/requests/merged")
    return await client_page(
        exchange,
        "client/notification_requests.html",
        member,
        here="notifications",
        requests=[_request(one) for one in found],
        is_merging=not state["merged"],
        older=links.get("next", ""),
    )


@get("/notifications/requests/{id}")
async def show_request(exchange: Exchange, id: FromPath[int]) -> Answer:
    """What somebody has sent that was held back."""
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    found = await own_api.ask(exchange, f"/api/v1/notifications/requests/{id}")
    asked: dict[str, object] = {"account_id": found["account"]["id"], "include_filtered": True}
    return await show_groups(exchange, member, "client/notification_request.html", asked, request=_request(found))


def _request(one: dict[str, Any]) -> dict[str, Any]:
    [person] = shown_people([one["account"]])
    return {
        **one,
        "person": person,
        "count": int(one["notifications_count"]),
        "at": datetime.fromisoformat(one["updated_at"]),
    }


routes = [show_policy, show_requests, show_request]
