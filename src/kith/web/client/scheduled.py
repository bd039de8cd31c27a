"""/scheduled: posts that are planned for later. Their time can be changed, and they can be cancelled."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kith.base.errors import Invalid, Problem
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.web import own_api
from kith.web.client.drafts import moment_of
from kith.web.client.frame import PageMember, client_page, find_member, sign_in_first
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.time_zones import LOCAL_FIELD, zone_named, zone_of

__all__ = ["routes"]

PAGED = ("max_id", "min_id", "since_id")


@get("/scheduled")
async def show_planned(exchange: Exchange) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    return await _page(exchange, member)


async def _page(
    exchange: Exchange, member: PageMember, *, problem: str = "", wrong: int = 0, status: int = 200
) -> Answer:
    """`wrong` is the one whose new time was refused."""
    asked = {name: exchange.query(name) for name in PAGED if exchange.query(name)}
    planned, links = await own_api.ask_page(exchange, "/api/v1/scheduled_statuses", limit=20, **asked)
    return await client_page(
        exchange,
        "client/scheduled.html",
        member,
        here="scheduled",
        status=status,
        planned=[_planned(one, zone_of(exchange)) for one in planned],
        problem=problem,
        wrong=str(wrong),
        older=links.get("next", ""),
    )


def _planned(one: dict[str, Any], zone: str) -> dict[str, Any]:
    at = datetime.fromisoformat(one["scheduled_at"])
    return {**one, "at": at, "local": at.astimezone(zone_named(zone)).strftime(LOCAL_FIELD)}


@post("/scheduled/{id}")
async def change_time(exchange: Exchange, id: FromPath[int]) -> Answer:
    _, form = await read_own_form(exchange)
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    try:
        at = moment_of(text_field(form, "scheduled_at"), text_field(form, "zone"))
        if not at:
            raise Invalid(scheduled_at="can't be blank")
        await own_api.call(exchange, "PUT", f"/api/v1/scheduled_statuses/{id}", json={"scheduled_at": at})
    except Problem as problem:
        words = own_api.words_of(exchange, problem)
        await exchange.end_work(commit=False)
        return await _page(exchange, member, problem=words, wrong=id, status=422)
    return see_other(f"/scheduled#planned-{id}")


routes = [show_planned, change_time]
