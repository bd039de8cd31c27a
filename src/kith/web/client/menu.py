"""/menu: all ways through the client on one page, for screens that have no room for them."""

from __future__ import annotations

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.web.client.frame import client_page, find_member

__all__ = ["routes"]


@get("/menu")
async def show_menu(exchange: Exchange) -> Answer:
    return await client_page(exchange, "client/menu.html", await find_member(exchange), here="menu")


routes = [show_menu]
