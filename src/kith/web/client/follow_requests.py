"""/follow_requests: who asks to follow, to be accepted or rejected."""

from __future__ import annotations

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.web import own_api
from kith.web.client.frame import client_page, find_member, sign_in_first
from kith.web.client.people import shown_people

__all__ = ["routes"]


@get("/follow_requests")
async def show_follow_requests(exchange: Exchange) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    found, links = await own_api.ask_page(
        exchange, "/api/v1/follow_requests", limit=40, max_id=exchange.query("max_id")
    )
    return await client_page(
        exchange,
        "client/follow_requests.html",
        member,
        here="notifications",
        people=shown_people(found),
        locked=member.account.locked,
        older=links.get("next", ""),
    )


routes = [show_follow_requests]
