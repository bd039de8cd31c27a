"""/lists: one's lists of people, and what each is like. Their posts are read at /lists/ID."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get
from kith.social.lists import store as lists
from kith.web import own_api
from kith.web.client.frame import PageMember, client_page, find_member, sign_in_first
from kith.web.client.people import PAGED, shown_people
from kith.web.client.timelines import Kind, timeline
from kith.web.translation import translatable

__all__ = ["routes"]

MOST_FOUND = 20
LONGEST_QUERY = 200
POLICIES = {
    "list": translatable("To people on the list"),
    "followed": translatable("To anybody I follow"),
    "none": translatable("No replies"),
}
POSTS = Kind(
    "lists",
    "",
    "",
    translatable("Posts of the people on this list appear here, from the moment they are added."),
    for_members=True,
    context="home",
)


@get("/lists")
async def show_lists(exchange: Exchange) -> Answer:
    """With `account`: on which of them somebody is."""
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    who = exchange.query("account")
    if who.isascii() and who.isdigit() and len(who) < 20:
        return await _lists_with(exchange, member, who)
    return await client_page(
        exchange,
        "client/lists.html",
        member,
        here="lists",
        lists=await own_api.ask(exchange, "/api/v1/lists"),
        policies=POLICIES,
    )


async def _lists_with(exchange: Exchange, member: PageMember, id: str) -> Answer:
    on = await own_api.ask(exchange, f"/api/v1/accounts/{id}/lists")
    return await client_page(
        exchange,
        "client/lists_with.html",
        member,
        here="lists",
        person=await own_api.ask(exchange, f"/api/v1/accounts/{id}"),
        lists=await own_api.ask(exchange, "/api/v1/lists"),
        on={one["id"] for one in on},
        policies=POLICIES,
    )


@get("/lists/{id}")
async def show_list(exchange: Exchange, id: FromPath[int]) -> Answer:
    if await find_member(exchange) is None:
        return sign_in_first(exchange)
    found = await own_api.ask(exchange, f"/api/v1/lists/{id}")
    return await timeline(
        exchange,
        msgspec.structs.replace(POSTS, stream=f"list?list={id}"),
        heading=found["title"],
        path=f"/api/v1/timelines/list/{id}",
        stream=f"list?list={id}",
        template="client/list.html",
        list_id=id,
    )


@get("/lists/{id}/edit", aliases=("/lists/{id}/members",))
async def edit_list(exchange: Exchange, id: FromPath[int]) -> Answer:
    """What it is called and does, who is on it, and whom else one could add: those one follows."""
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    asked = exchange.query("q")[:LONGEST_QUERY].strip()
    found = await own_api.ask(exchange, f"/api/v1/lists/{id}")
    paged = {name: exchange.query(name) for name in PAGED if exchange.query(name)}
    members, links = await own_api.ask_page(exchange, f"/api/v1/lists/{id}/accounts", limit=40, **paged)
    return await client_page(
        exchange,
        "client/list_edit.html",
        member,
        here="lists",
        list=found,
        policies=POLICIES,
        people=shown_people(members),
        older=links.get("next", ""),
        sought=asked,
        others=await _others(exchange, id, asked) if asked else [],
    )


async def _others(exchange: Exchange, id: int, asked: str) -> list[dict[str, Any]]:
    """Whom the words find among those one follows, and who is not on the list."""
    found = await own_api.ask(exchange, "/api/v1/accounts/search", q=asked, following=True, limit=MOST_FOUND)
    on = {str(one) for one in await lists.members_of(exchange.work.db, id)}
    return shown_people([one for one in found if one["id"] not in on])


@get("/lists/{id}/delete")
async def ask_to_delete(exchange: Exchange, id: FromPath[int]) -> Answer:
    member = await find_member(exchange)
    if member is None:
        return sign_in_first(exchange)
    found = await own_api.ask(exchange, f"/api/v1/lists/{id}")
    return await client_page(exchange, "client/list_delete.html", member, here="lists", list=found)


routes = [show_lists, show_list, edit_list, ask_to_delete]
