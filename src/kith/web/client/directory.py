"""/directory: people who want to be found."""

from __future__ import annotations

from urllib.parse import urlencode

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.web import own_api
from kith.web.client.frame import client_page
from kith.web.client.people import relations_of, shown_people
from kith.web.client.profiles import looking
from kith.web.translation import translatable

__all__ = ["routes"]

LIMIT = 40
ORDERS = {"active": translatable("Recently active"), "new": translatable("New arrivals")}


@get("/directory", aliases=("/explore/directory",))
async def show_directory(exchange: Exchange) -> Answer:
    member = await looking(exchange)
    order = "new" if exchange.query("order") == "new" else "active"
    local = exchange.query("local") == "true"
    given = exchange.query("offset")
    offset = int(given) if given.isascii() and given.isdigit() and len(given) < 6 else 0
    found, is_public = [], True
    try:
        found = await own_api.ask(exchange, "/api/v1/directory", order=order, local=local, offset=offset, limit=LIMIT)
    except NotFound:
        is_public = False
    return await client_page(
        exchange,
        "client/directory.html",
        member,
        here="directory",
        status=200 if is_public else 404,
        is_public=is_public,
        tabs=[(f"?{_query(one, local)}", words, one == order) for one, words in ORDERS.items()],
        local=local,
        other_place=_query(order, not local),
        people=shown_people(found),
        relations=await relations_of(exchange, member, found),
        older=f"{_query(order, local)}&offset={offset + LIMIT}" if len(found) == LIMIT else "",
    )


def _query(order: str, local: bool) -> str:
    return urlencode([("order", order), *([("local", "true")] if local else [])])


routes = [show_directory]
