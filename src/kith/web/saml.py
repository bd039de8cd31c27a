"""/application/saml/: where services send people to sign in and out, and our metadata for them."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from kith.base.errors import UnsupportedMedia
from kith.base.exchange import Answer, Exchange
from kith.base.params import BodyLimits
from kith.base.params.nesting import split_pairs
from kith.base.routing import FromPath, Route, get, route
from kith.identity import for_pages as identity
from kith.identity.for_pages import oauth, saml
from kith.web.content_policy import may_be_framed, may_frame, may_lead_to
from kith.web.pages import page, see_other

PREFIX = "/application/saml/{slug}/"
_BOTH = ("GET", "POST")
_FORM = b"application/x-www-form-urlencoded"
MOST_FORM_BYTES = 1 << 20


def _sign_on(path: str) -> Route:
    """The address of one binding; each of them takes both, as do many others."""

    async def enter(exchange: Exchange, slug: FromPath[str]) -> Answer:
        service = await saml.find_by_slug(exchange.work, slug)
        if exchange.method == "POST":
            return await _shown(exchange, await saml.by_form(exchange, service, await _form(exchange)))
        return await _shown(exchange, await saml.by_query(exchange, service))

    return route(_BOTH, f"{PREFIX}{path}")(enter)


def _start(path: str) -> Route:
    async def start(exchange: Exchange, slug: FromPath[str]) -> Answer:
        """The person opens the application from here; the service did not ask."""
        service = await saml.find_by_slug(exchange.work, slug)
        return await _shown(exchange, await saml.by_us(exchange, service))

    return get(f"{PREFIX}{path}")(start)


def _sign_out(path: str) -> Route:
    async def leave(exchange: Exchange, slug: FromPath[str]) -> Answer:
        service = await saml.find_by_slug(exchange.work, slug)
        if exchange.method == "POST":
            return await _shown(exchange, await saml.logout.by_form(exchange, service, await _form(exchange)))
        return await _shown(exchange, await saml.logout.by_query(exchange, service))

    return route(_BOTH, f"{PREFIX}{path}")(leave)


@get(f"{PREFIX}metadata/")
async def show_metadata(exchange: Exchange, slug: FromPath[str]) -> Answer:
    service = await saml.find_by_slug(exchange.work, slug)
    return saml.attachment(service, await saml.describe(exchange.work, service))


# Signing out of several services


@get("/saml/logout/")
async def sign_out_of_services(exchange: Exchange) -> Answer:
    step = await saml.go_on(exchange, exchange.query("run"))
    if isinstance(step, saml.Frames):
        may_frame(exchange, ["'self'", *sorted({_origin(url) for url in step.origins})])
        return page(exchange, "signed_out.html", to=step.to, frames=step.frames)
    return await _shown(exchange, step)


@get("/saml/logout/frame/")
async def sign_out_in_frame(exchange: Exchange) -> Answer:
    may_be_framed(exchange)
    return await _shown(exchange, await saml.show_frame(exchange, exchange.query("run")))


async def _shown(exchange: Exchange, outcome: saml.Outcome) -> Answer:
    match outcome:
        case saml.ErrorPage():
            return page(
                exchange,
                "authorize/error.html",
                status=outcome.status,
                title=outcome.title,
                messages=outcome.messages,
                code=outcome.code,
                refusal=outcome.refusal,
                request_id=exchange.id,
            )
        case saml.Local(to=to, headers=headers):
            return see_other(to, headers=headers)
        case saml.ToService(url=url):
            return see_other(url, status=302)
        case saml.PostToService(url=url, fields=fields):
            may_lead_to(exchange, f"{_origin(url)} https:")
            return page(exchange, "authorize/form_post.html", to=url, fields=fields)
        case saml.SignOutAtOnce():
            return await _end(exchange, outcome)


async def _end(exchange: Exchange, asked: saml.SignOutAtOnce) -> Answer:
    here = f"/flows/{asked.flow}/?next={quote(asked.then, safe='')}"
    if not asked.proven:
        return see_other(here)  # a page there asks first
    telling = await oauth.front_channel(exchange)
    walk = await identity.flows.open_run(exchange, asked.flow, {"next": asked.then})
    result = await walk.go(may_act=True)
    to = result.to if isinstance(result, identity.flows.FlowEnded) else here
    if telling is not None and walk.signed_out:
        to = oauth.by_front_channel(exchange, telling, to)
    return see_other(to, headers=identity.flows.session_cookie(exchange, walk))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


async def _form(exchange: Exchange) -> dict[str, str]:
    if exchange.header(b"content-type").partition(b";")[0].strip().lower() != _FORM:
        raise UnsupportedMedia("Please send a form")
    return dict(split_pairs(await exchange.body(MOST_FORM_BYTES), BodyLimits(count=20)))


routes = [
    *(_sign_on(path) for path in ("", "sso/binding/redirect/", "sso/binding/post/")),
    *(_start(path) for path in ("init/", "sso/binding/init/")),
    *(_sign_out(path) for path in ("slo/binding/redirect/", "slo/binding/post/")),
    show_metadata,
    sign_out_of_services,
    sign_out_in_frame,
]
