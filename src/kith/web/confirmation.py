"""/auth/confirmation: where apps and old mails lead whoever confirms an address; the page itself is elsewhere."""

from __future__ import annotations

from urllib.parse import quote

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.params import read_form
from kith.base.routing import get
from kith.web.pages import see_other


@get("/auth/confirmation")
async def show_confirmation(exchange: Exchange) -> Answer:
    key = str(read_form(exchange.query_string).get("confirmation_token", ""))[:200]
    if not key:
        raise NotFound
    return see_other(f"/confirm/{quote(key, safe='')}")


routes = [show_confirmation]
