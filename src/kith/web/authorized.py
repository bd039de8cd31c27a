"""/oauth/authorized_applications: what one has let in, each to be taken back."""

from __future__ import annotations

from typing import Any

from litestar import HttpMethod, Request, get, route
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from kith.base import csrf
from kith.base.edge import exchange_of
from kith.base.errors import NotFound
from kith.base.keys import Keys
from kith.base.params import read_body
from kith.base.work import Work
from kith.identity import face as identity
from kith.identity.face import oauth
from kith.web.pages import page, see_other

AnyRequest = Request[Any, Any, Any]
HERE = "/oauth/authorized_applications"
SIGN_IN = f"/flows/-/default/authentication/?next={HERE}"


@get(HERE)
async def list_applications(request: AnyRequest, work: NamedDependency[Work]) -> ASGIResponse:
    exchange = exchange_of(request)
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    granted = await oauth.list_granted(work, visitor.user)
    return page(exchange, "authorize/authorized.html", visitor=visitor, granted=granted, here="applications")


@route(f"{HERE}/{{id:str}}", http_method=[HttpMethod.POST, HttpMethod.DELETE])
async def revoke_application(request: AnyRequest, work: NamedDependency[Work], id: FromPath[str]) -> ASGIResponse:
    exchange = exchange_of(request)
    sent = await read_body(request)
    csrf.check(exchange, exchange.find(Keys).session, str(sent.get("csrf", "")))
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    if not await oauth.take_back(work, visitor.user, id):
        raise NotFound
    return see_other(HERE)


routes = [list_applications, revoke_application]
