"""/application/o/authorize/ and /oauth/authorize: where applications send people to be let in."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from litestar import HttpMethod, Request, get, route
from litestar.response.base import ASGIResponse

from kith.base import csrf
from kith.base.edge import Exchange, exchange_of
from kith.base.errors import NotFound, UnsupportedMedia
from kith.base.keys import Keys
from kith.identity import face as identity
from kith.identity.face import oauth
from kith.web.pages import page, see_other

AnyRequest = Request[Any, Any, Any]
_FORM = b"application/x-www-form-urlencoded"
_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")


@route("/application/o/authorize/", http_method=[HttpMethod.GET, HttpMethod.POST])
async def enter_application(request: AnyRequest) -> ASGIResponse:
    exchange = exchange_of(request)
    try:
        sent = await _read(request, exchange)
    except oauth.Unfit as unfit:
        return _error(exchange, oauth.ErrorPage(title=unfit.title, messages=[unfit.message]))
    if exchange.scope["method"] == "POST":
        return _shown(exchange, await oauth.hand_in(exchange, sent))
    return _shown(exchange, await oauth.authorize(exchange, sent, social=False))


@route("/oauth/authorize", http_method=[HttpMethod.GET, HttpMethod.POST, HttpMethod.DELETE])
async def enter_app(request: AnyRequest) -> ASGIResponse:
    """Apps ask here, and the form of the page answers here: POST allows, DELETE (or a form that says so) does not."""
    exchange = exchange_of(request)
    try:
        sent = await _read(request, exchange)
    except oauth.Unfit as unfit:
        return _error(exchange, oauth.ErrorPage(title=unfit.title, messages=[unfit.message]))
    decision: oauth.Decision = ""
    if exchange.scope["method"] != "GET":
        csrf.check(exchange, exchange.find(Keys).session, sent.get("csrf"))
        denies = exchange.scope["method"] == "DELETE" or sent.get("_method").lower() == "delete"
        decision = "deny" if denies else "allow"
    return _shown(exchange, await oauth.authorize(exchange, sent, social=True, decision=decision))


@get("/oauth/authorize/native")
async def show_code(request: AnyRequest) -> ASGIResponse:
    """For programs that nobody can be sent back to: the code, to be copied."""
    exchange = exchange_of(request)
    visitor = await identity.find_visitor(exchange)
    code = request.query_params.get("code", "")
    if _CODE.fullmatch(code) is None:
        raise NotFound
    return page(exchange, "authorize/code.html", code=code, visitor=visitor)


async def _read(request: AnyRequest, exchange: Exchange) -> oauth.Parameters:
    query: bytes = exchange.scope["query_string"]
    body = await request.body() if exchange.scope["method"] != "GET" else b""
    if body and exchange.header(b"content-type").partition(b";")[0].strip().lower() != _FORM:
        raise UnsupportedMedia("Please send a form")
    return oauth.read_parameters(query, body)


def _shown(exchange: Exchange, outcome: oauth.Outcome) -> ASGIResponse:
    match outcome:
        case oauth.ErrorPage():
            return _error(exchange, outcome)
        case oauth.Local(to=to, headers=headers):
            return see_other(to, status=302, headers=headers)
        case oauth.Redirect(uri=uri):
            return see_other(uri, status=302)
        case oauth.FormPost(uri=uri, fields=fields):
            _may_lead_to(exchange, f"{oauth.origin_of(uri)} https:")
            return page(exchange, "authorize/form_post.html", to=uri, fields=fields)
        case oauth.AskConsent():
            return _ask(exchange, outcome)


def _error(exchange: Exchange, error: oauth.ErrorPage) -> ASGIResponse:
    return page(
        exchange, "authorize/error.html", status=error.status, title=error.title, messages=error.messages,
        code=error.code, refusal=error.refusal, request_id=exchange.id,
    )  # fmt: skip


def _ask(exchange: Exchange, asked: oauth.AskConsent) -> ASGIResponse:
    """What follows the answer is a redirect to the app and, for one on the web, wherever it sends people then."""
    web = oauth.is_web(asked.redirect_uri)
    _may_lead_to(exchange, f"'self' {oauth.origin_of(asked.redirect_uri)}{' https:' if web else ''}")
    website = asked.client.website
    return page(
        exchange, "authorize/consent.html", client=asked.client, user=asked.user, permissions=asked.permissions,
        fields=asked.fields, switch=asked.switch, website=website if website and oauth.is_web(website) else None,
        place=oauth.origin_of(asked.redirect_uri) if web else None,
    )  # fmt: skip


_ORIGIN = re.compile(r"('self' )?[A-Za-z][A-Za-z0-9+.-]*:(//[A-Za-z0-9.:-]+)?( https:)?")


def _may_lead_to(exchange: Exchange, place: str) -> None:
    """Browsers hold the forms of a page, and the redirects after them, to the page's own policy."""
    if _ORIGIN.fullmatch(place) is None:
        return
    face = exchange.face
    own = b"form-action 'self'"
    headers = tuple((name, value.replace(own, f"form-action {place}".encode())) for name, value in face.headers)
    exchange.face = msgspec.structs.replace(face, headers=headers)


routes = [enter_application, enter_app, show_code]
