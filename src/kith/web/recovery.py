"""The link that always lets its owner in, once they say so: an address that is opened changes nothing."""

from __future__ import annotations

from kith.base import csrf
from kith.base.exchange import Answer, Exchange
from kith.base.keys import Keys
from kith.base.params import read_body
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.pages import page, see_other

TEMPLATE = "/recovery/use-token/{key}"
_NO_REFERRER = (b"referrer-policy", b"no-referrer")


@get(TEMPLATE)
async def show_link(exchange: Exchange, work: Work, key: FromPath[str]) -> Answer:
    user = await identity.check_recovery(work, key)
    return page(exchange, "recovery.html", headers=(_NO_REFERRER,), username=user.username)


@post(TEMPLATE)
async def use_link(exchange: Exchange, key: FromPath[str]) -> Answer:
    sent = await read_body(exchange)
    csrf.check(exchange, exchange.find(Keys).session, str(sent.get("csrf", "")))
    session = await identity.use_recovery(exchange, key)
    return see_other("/settings/security", headers=(_NO_REFERRER, *session))


routes = [show_link, use_link]
