"""The link that always lets its owner in."""

from __future__ import annotations

from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get
from kith.identity import for_pages as identity
from kith.web.pages import see_other


@get("/recovery/use-token/{key}")
async def use_link(exchange: Exchange, key: FromPath[str]) -> Answer:
    session = await identity.use_recovery(exchange, key)
    return see_other("/settings/security", headers=((b"referrer-policy", b"no-referrer"), *session))


routes = [use_link]
