"""/auth/confirmation: where apps and old mails lead whoever confirms an address.

A link in a mail only shows a page: programs that look into mails open links, but press no buttons.
"""

from __future__ import annotations

from typing import Any

from litestar import Request, get, post
from litestar.di import NamedDependency
from litestar.response.base import ASGIResponse

from kith.base import csrf
from kith.base.edge import exchange_of
from kith.base.keys import Keys
from kith.base.params import read_body, read_form
from kith.base.work import Work
from kith.identity import face as identity
from kith.web.pages import page

AnyRequest = Request[Any, Any, Any]
PATH = "/auth/confirmation"


@get(PATH)
async def show_confirmation(request: AnyRequest, work: NamedDependency[Work]) -> ASGIResponse:
    user, address = await identity.find_address(work, _key(request))
    return page(exchange_of(request), "confirm.html", username=user.username, address=address, done=False)


@post(PATH, status_code=200)
async def use_confirmation(request: AnyRequest, work: NamedDependency[Work]) -> ASGIResponse:
    exchange = exchange_of(request)
    sent = await read_body(request)
    csrf.check(exchange, exchange.find(Keys).session, str(sent.get("csrf", "")))
    user = await identity.confirm_address(work, _key(request))
    return page(
        exchange, "confirm.html", username=user.username, address=user.email, done=True,
        waits=user.approved_at is None, visitor=await identity.find_visitor(exchange),
    )  # fmt: skip


def _key(request: AnyRequest) -> str:
    return str(read_form(request.scope["query_string"]).get("confirmation_token", ""))[:200]


routes = [show_confirmation, use_confirmation]
