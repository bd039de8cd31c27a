"""/settings/impersonate: owners view the server as one of its members, which is written to the audit log."""

from __future__ import annotations

from kith.base.errors import Forbidden, Invalid
from kith.base.exchange import Answer, Exchange
from kith.base.routing import get, post
from kith.identity import for_pages as identity
from kith.web.pages import see_other
from kith.web.settings.forms import SIGN_IN, read_own_form, text_field
from kith.web.settings.frame import settings_page

HERE = "/settings/impersonate"


@get(HERE)
async def show_form(exchange: Exchange) -> Answer:
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return see_other(SIGN_IN.replace("security", "impersonate"))
    _only_owners(visitor)
    return await _page(exchange, visitor)


@post(HERE)
async def start(exchange: Exchange) -> Answer:
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return see_other(SIGN_IN.replace("security", "impersonate"))
    _only_owners(visitor)
    values = {name: text_field(form, name) for name in ("username", "reason")}
    try:
        headers = await identity.impersonation.start(exchange, values["username"], values["reason"])
    except Invalid as problem:
        return await _page(exchange, visitor, status=400, errors=problem.fields, values=values)
    return see_other("/", headers=headers)


@post(f"{HERE}/end")
async def end(exchange: Exchange) -> Answer:
    await read_own_form(exchange)
    return see_other("/", headers=await identity.impersonation.end(exchange))


def _only_owners(visitor: identity.Visitor) -> None:
    if visitor.is_acting:
        raise identity.impersonation.NotAsSomebodyElse
    if visitor.user.role != "owner":
        raise Forbidden("Only an owner may view this server as another person")


async def _page(
    exchange: Exchange,
    visitor: identity.Visitor,
    *,
    status: int = 200,
    errors: dict[str, list[str]] | None = None,
    values: dict[str, str] | None = None,
) -> Answer:
    wrong = errors or {}
    return await settings_page(
        exchange,
        "settings/impersonate.html",
        visitor,
        part="security",
        status=status,
        errors=wrong,
        focus=next(iter(wrong), None),
        values=values or {"username": "", "reason": ""},
    )


routes = [show_form, start, end]
