"""/application/o/authorize/ and /oauth/authorize: where applications send people to be let in."""

from __future__ import annotations

import re

from kith.base import csrf
from kith.base.errors import NotFound, UnsupportedMedia
from kith.base.exchange import Answer, Exchange
from kith.base.keys import Keys
from kith.base.routing import get, route
from kith.identity import for_pages as identity
from kith.identity.for_pages import oauth
from kith.web.content_policy import may_lead_to
from kith.web.pages import page, see_other

_FORM = b"application/x-www-form-urlencoded"
_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")
MOST_FORM_BYTES = 1 << 20


@route(("GET", "POST"), "/application/o/authorize/")
async def enter_application(exchange: Exchange) -> Answer:
    try:
        sent = await _read(exchange)
    except oauth.Unfit as unfit:
        return _error(exchange, oauth.ErrorPage(title=unfit.title, messages=[unfit.message]))
    if exchange.method == "POST":
        return _shown(exchange, await oauth.hand_in(exchange, sent))
    return _shown(exchange, await oauth.authorize(exchange, sent, social=False))


@route(("GET", "POST", "DELETE"), "/oauth/authorize")
async def enter_app(exchange: Exchange) -> Answer:
    """Apps ask here, and the form of the page answers here: POST allows, DELETE (or a form that says so) does not."""
    try:
        sent = await _read(exchange)
    except oauth.Unfit as unfit:
        return _error(exchange, oauth.ErrorPage(title=unfit.title, messages=[unfit.message]))
    decision: oauth.Decision = ""
    if exchange.method != "GET":
        csrf.check(exchange, exchange.find(Keys).session, sent.get("csrf"))
        denies = exchange.method == "DELETE" or sent.get("_method").lower() == "delete"
        decision = "deny" if denies else "allow"
    return _shown(exchange, await oauth.authorize(exchange, sent, social=True, decision=decision))


@get("/oauth/authorize/native")
async def show_code(exchange: Exchange) -> Answer:
    """For programs that nobody can be sent back to: the code, to be copied."""
    visitor = await identity.find_visitor(exchange)
    code = exchange.query("code")
    if _CODE.fullmatch(code) is None:
        raise NotFound
    return page(exchange, "authorize/code.html", code=code, visitor=visitor)


@get("/application/o/initiate/")
async def initiate_login(exchange: Exchange) -> Answer:
    """To where a client wants sign-ins to begin that do not begin with it, with the issuer that it is to ask."""
    to = await oauth.find_login_address(exchange.work, exchange.query("client_id"))
    if to is None:
        raise NotFound
    return see_other(to, status=302)


async def _read(exchange: Exchange) -> oauth.Parameters:
    query: bytes = exchange.query_string
    body = await exchange.body(MOST_FORM_BYTES) if exchange.method != "GET" else b""
    if body and exchange.header(b"content-type").partition(b";")[0].strip().lower() != _FORM:
        raise UnsupportedMedia("Please send a form")
    return oauth.read_parameters(query, body)


def _shown(exchange: Exchange, outcome: oauth.Outcome) -> Answer:
    match outcome:
        case oauth.ErrorPage():
            return _error(exchange, outcome)
        case oauth.Local(to=to, headers=headers):
            return see_other(to, status=302, headers=headers)
        case oauth.Redirect(uri=uri):
            return see_other(uri, status=302)
        case oauth.FormPost(uri=uri, fields=fields):
            may_lead_to(exchange, f"{oauth.origin_of(uri)} https:")
            return page(exchange, "authorize/form_post.html", to=uri, fields=fields)
        case oauth.AskConsent():
            return _ask(exchange, outcome)


def _error(exchange: Exchange, error: oauth.ErrorPage) -> Answer:
    return page(
        exchange,
        "authorize/error.html",
        status=error.status,
        title=error.title,
        messages=error.messages,
        code=error.code,
        refusal=error.refusal,
        request_id=exchange.id,
    )


def _ask(exchange: Exchange, asked: oauth.AskConsent) -> Answer:
    """What follows the answer is a redirect to the app and, for one on the web, wherever it sends people then."""
    web = oauth.is_web(asked.redirect_uri)
    may_lead_to(exchange, f"'self' {oauth.origin_of(asked.redirect_uri)}{' https:' if web else ''}")
    website = asked.client.website
    return page(
        exchange,
        "authorize/consent.html",
        client=asked.client,
        user=asked.user,
        permissions=asked.permissions,
        fields=asked.fields,
        switch=asked.switch,
        website=website if website and oauth.is_web(website) else None,
        place=oauth.origin_of(asked.redirect_uri) if web else None,
    )


routes = [enter_application, enter_app, show_code, initiate_login]
