"""/settings/impersonate: owners see the server through somebody else's eyes, and everybody can tell."""

from __future__ import annotations

from litestar import get, post
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.errors import Forbidden, Invalid
from kith.identity import face as identity
from kith.web.pages import page, see_other
from kith.web.settings.asking import SIGN_IN, AnyRequest, sent, text

HERE = "/settings/impersonate"


@get(HERE)
async def show_form(request: AnyRequest) -> ASGIResponse:
    visitor = await identity.find_visitor(exchange_of(request))
    if visitor is None:
        return see_other(SIGN_IN.replace("security", "impersonate"))
    _only_owners(visitor)
    return _page(request, visitor)


@post(HERE)
async def start(request: AnyRequest) -> ASGIResponse:
    visitor, form = await sent(request)
    if visitor is None:
        return see_other(SIGN_IN.replace("security", "impersonate"))
    _only_owners(visitor)
    values = {name: text(form, name) for name in ("username", "reason")}
    try:
        headers = await identity.start_impersonation(exchange_of(request), values["username"], values["reason"])
    except Invalid as problem:
        return _page(request, visitor, status=400, errors=problem.fields, values=values)
    return see_other("/", headers=headers)


@post(f"{HERE}/end")
async def end(request: AnyRequest) -> ASGIResponse:
    await sent(request)
    return see_other("/", headers=await identity.end_impersonation(exchange_of(request)))


def _only_owners(visitor: identity.Visitor) -> None:
    if visitor.is_acting:
        raise identity.NotAsSomebodyElse
    if visitor.user.role != "owner":
        raise Forbidden("Only an owner may see this server as somebody else")


def _page(
    request: AnyRequest, visitor: identity.Visitor, *, status: int = 200, errors: dict[str, list[str]] | None = None,
    values: dict[str, str] | None = None,
) -> ASGIResponse:  # fmt: skip
    wrong = errors or {}
    return page(
        exchange_of(request), "settings/impersonate.html", status=status, visitor=visitor, here="impersonate",
        errors=wrong, focus=next(iter(wrong), None), values=values or {"username": "", "reason": ""},
    )  # fmt: skip


routes = [show_form, start, end]
