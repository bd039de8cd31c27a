"""/source/: signing in with an account elsewhere, and linking one."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, urlencode, urlsplit

import msgspec

from kith.base.errors import Malformed
from kith.base.exchange import JSON, Answer, Exchange
from kith.base.params import read_body
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.identity.for_pages import sources
from kith.web.pages import page, see_other
from kith.web.settings.forms import password_problems, read_own_form, text_field

MOST_QUERY_BYTES = 16_384
_NO_STORE = (b"cache-control", b"no-store")


@get("/source/oauth/login/{slug}/")
async def start_oauth(exchange: Exchange, slug: FromPath[str]) -> Answer:
    """Who is signed in is asked first: a link elsewhere must not be enough to link an account."""
    source, service = await sources.find_oauth(exchange, slug)
    knows_more = service.provider_type != "mastodon"  # servers of the fediverse know one address of us
    home = identity.home_of(exchange.work, exchange.path, exchange.query_string, unless_own=knows_more)
    if home is not None:
        return see_other(home)
    query, visitor = _query(exchange), await identity.find_visitor(exchange)
    links = visitor is not None and not query.get("again")
    if links or (service.provider_type == "mastodon" and not query.get("server")):
        return ask(exchange, source, visitor if links else None, needs_server=service.provider_type == "mastodon")
    return shown(exchange, await sources.begin_oauth(exchange, slug, query))


@post("/source/oauth/login/{slug}/")
async def start_oauth_by_form(exchange: Exchange, work: Work, slug: FromPath[str]) -> Answer:
    source, service = await sources.find_oauth(exchange, slug)
    visitor, form = await read_own_form(exchange)
    query = _query(exchange)
    server = text_field(form, "server")
    if visitor is None or query.get("again"):
        more = {**query, **({"server": server} if server else {})}
        return onward(exchange, f"/source/oauth/login/{quote(source.slug, safe='')}/?{urlencode(more)}")
    needs_server = service.provider_type == "mastodon"
    if visitor.is_acting or (needs_server and not server):
        return ask(exchange, source, visitor, needs_server=needs_server)
    wrong = await password_problems(work, visitor, form)
    if wrong is not None:
        return ask(exchange, source, visitor, needs_server=needs_server, wrong=wrong, server=server)
    return shown(exchange, await sources.begin_oauth(exchange, slug, {"server": server}, link=visitor.user.id))


@get("/source/oauth/callback/{slug}/")
async def come_back_from_oauth(exchange: Exchange, slug: FromPath[str]) -> Answer:
    await identity.find_visitor(exchange)
    return shown(exchange, await sources.come_back_oauth(exchange, slug, _query(exchange)))


@get("/source/oauth/callback/{slug}/{server}/")
async def come_back_from_server(exchange: Exchange, slug: FromPath[str], server: FromPath[str]) -> Answer:
    await identity.find_visitor(exchange)
    return shown(exchange, await sources.come_back_oauth(exchange, slug, _query(exchange), server))


@post("/source/oauth/logout/{slug}/")
async def hear_of_logout(exchange: Exchange, slug: FromPath[str]) -> Answer:
    """A service says that somebody has signed out there; its signature is what counts, not a cookie."""
    form = await read_body(exchange)
    token = form.get("logout_token")
    try:
        if not isinstance(token, str):
            raise Malformed("There is no logout token")
        await sources.receive_logout(exchange, slug, token)
    except Malformed as problem:
        told = {"error": "invalid_request", "error_description": problem.message}
        return Answer(400, (*JSON, _NO_STORE), msgspec.json.encode(told))
    return Answer(200, (_NO_STORE,), b"")


def shown(exchange: Exchange, outcome: sources.SourceOutcome) -> Answer:
    match outcome:
        case sources.SourceRedirect(to=to, headers=headers) if exchange.method == "POST" and urlsplit(to).netloc:
            return onward(exchange, to)
        case sources.SourceRedirect(to=to, headers=headers):
            return see_other(to, status=302, headers=headers)
        case sources.SourceError():
            return page(
                exchange,
                "authorize/error.html",
                status=outcome.status,
                title=outcome.title,
                messages=outcome.messages,
                code="",
                refusal=outcome.refusal,
                request_id=exchange.id,
            )


def onward(exchange: Exchange, to: str) -> Answer:
    """A form may lead to our own pages only, so whoever goes elsewhere after one goes by a page in between."""
    return page(exchange, "sources/onward.html", to=to)


def ask(
    exchange: Exchange,
    source: sources.Source,
    visitor: identity.Visitor | None,
    *,
    needs_server: bool,
    wrong: list[str] | None = None,
    server: str = "",
) -> Answer:
    query = exchange.query_string.decode("latin-1")
    return page(
        exchange,
        "sources/begin.html",
        status=400 if wrong else 200,
        visitor=visitor,
        source=source,
        action=f"{exchange.path}?{query}" if query else exchange.path,
        needs_server=needs_server,
        asks_password=wrong is not None and visitor is not None and visitor.user.password is not None,
        asks_again=wrong is not None and visitor is not None and visitor.user.password is None,
        may_link=visitor is not None and not visitor.is_acting,
        server=server,
        wrong=wrong or [],
    )


def _query(exchange: Exchange) -> dict[str, str]:
    raw = exchange.query_string[:MOST_QUERY_BYTES].decode("latin-1")
    return {name: values[-1] for name, values in parse_qs(raw, keep_blank_values=True).items()}


routes = [start_oauth, start_oauth_by_form, come_back_from_oauth, come_back_from_server, hear_of_logout]
