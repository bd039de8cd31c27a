"""/oauth/authorized_applications: what one has let in, each to be taken back."""

from __future__ import annotations

from kith.base import csrf
from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.keys import Keys
from kith.base.params import read_body
from kith.base.routing import FromPath, get, route
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.identity.for_pages import oauth
from kith.web.pages import see_other
from kith.web.settings.frame import settings_page

HERE = "/oauth/authorized_applications"
SIGN_IN = f"/flows/-/default/authentication/?next={HERE}"


@get(HERE, aliases=("/settings/applications",))
async def list_applications(exchange: Exchange, work: Work) -> Answer:
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    granted = await oauth.list_granted(work, visitor.user)
    return await settings_page(exchange, "authorize/authorized.html", visitor, part="applications", granted=granted)


@route(("POST", "DELETE"), f"{HERE}/{{id}}")
async def revoke_application(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    sent = await read_body(exchange)
    csrf.check(exchange, exchange.find(Keys).session, str(sent.get("csrf", "")))
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    if not await oauth.take_back(work, visitor.user, id):
        raise NotFound
    return see_other(HERE)


routes = [list_applications, revoke_application]
