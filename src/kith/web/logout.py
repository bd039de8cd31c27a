"""/application/o/.../end-session/: a client sends somebody here to sign out, and wants them back."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlsplit

from kith.base.errors import Malformed
from kith.base.exchange import Answer, Exchange
from kith.base.languages import first_known, suggest
from kith.base.params import BodyLimits
from kith.base.params.nesting import split_pairs
from kith.base.routing import FromPath, route
from kith.identity import for_pages as identity
from kith.web.content_policy import may_frame
from kith.web.pages import page, see_other

MOST_BYTES = 64 * 1024
_BOTH = ("GET", "POST")


@route(_BOTH, "/application/o/end-session/")
async def end_session(exchange: Exchange) -> Answer:
    return await _end(exchange, None)


@route(_BOTH, "/application/o/{slug}/end-session/")
async def end_session_of(exchange: Exchange, slug: FromPath[str]) -> Answer:
    return await _end(exchange, slug)


class SigningOutOfApplications(NamedTuple):
    """Whom to tell in the browser when its session has ended."""

    oauth: identity.oauth.Then | None
    saml: identity.saml.SigningOut
    home: str | None  # the identity provider that they came from


async def prepare(exchange: Exchange) -> SigningOutOfApplications:
    """Asked before the session ends, because it is known only until then."""
    return SigningOutOfApplications(
        await identity.oauth.front_channel(exchange),
        await identity.saml.prepare(exchange),
        await identity.sources.way_out_by_saml(exchange),
    )


async def through_applications(exchange: Exchange, leaving: SigningOutOfApplications, to: str) -> str:
    """The way to `to`, through the pages that sign people out of the applications they used."""
    to = leaving.home if leaving.home is not None and to == "/" else to
    if leaving.oauth is not None:
        to = identity.oauth.by_front_channel(exchange, leaving.oauth, to)
    if to.startswith(identity.saml.SIGNING_OUT_PATH):  # which tells them all
        return to
    return await identity.saml.begin(exchange, leaving.saml, to)


async def _end(exchange: Exchange, slug: str | None) -> Answer:
    sent = await _sent(exchange)
    language = first_known(sent.get("ui_locales", "").split()[:20])
    suggest(exchange, language)
    outcome = await identity.oauth.end_session(exchange, sent, slug)
    if isinstance(outcome, identity.oauth.Go):
        return _go(exchange, outcome)
    lang = f"&lang={language}" if language else ""
    here = f"/flows/{outcome.flow}/?next={quote(outcome.then, safe='')}{lang}"
    if not outcome.at_once:
        return see_other(here)  # a page there asks first: a mere link signs nobody out
    telling = await identity.saml.prepare(exchange)
    walk = await identity.flows.open_run(exchange, outcome.flow, {"next": outcome.then})
    result = await walk.go(may_act=True)
    to = result.to if isinstance(result, identity.flows.FlowEnded) else here
    to = await identity.saml.begin(exchange, telling, to) if walk.signed_out else to
    return see_other(to, headers=identity.flows.session_cookie(exchange, walk))


def _go(exchange: Exchange, outcome: identity.oauth.Go) -> Answer:
    if outcome.to and not outcome.frames:
        return see_other(outcome.to)
    if outcome.frames:
        may_frame(exchange, sorted({f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, outcome.frames)}))
    return page(exchange, "signed_out.html", to=outcome.to, frames=outcome.frames, left=outcome.left)


async def _sent(exchange: Exchange) -> dict[str, str]:
    """The query and, by POST, the form; what is given twice is not guessed at."""
    pairs = parse_qsl(exchange.query_string.decode("latin-1"), keep_blank_values=True)
    if exchange.method == "POST":
        body = await exchange.body(MOST_BYTES)
        pairs += split_pairs(body, BodyLimits(count=100)) if body else []
    sent: dict[str, str] = {}
    for name, value in pairs:
        if name in sent:
            raise Malformed(f"The parameter {name[:50]} is given more than once")
        sent[name] = value
    return {name: value for name, value in sent.items() if value and "\0" not in value}


routes = [end_session, end_session_of]
