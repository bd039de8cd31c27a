"""/source/saml/: signing in with an account at a SAML identity provider."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from kith.base.errors import UnsupportedMedia
from kith.base.exchange import Answer, Exchange, whole
from kith.base.params import BodyLimits
from kith.base.params.nesting import split_pairs
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.identity.for_pages import sources
from kith.web.content_policy import may_lead_to
from kith.web.pages import page, see_other
from kith.web.settings.forms import password_problems, read_own_form
from kith.web.sources import ask, onward, shown

_FORM = b"application/x-www-form-urlencoded"
MOST_FORM_BYTES = 1 << 20
MOST_QUERY_BYTES = 16_384


@get("/source/saml/{slug}/")
async def start_saml(exchange: Exchange, slug: FromPath[str]) -> Answer:
    """Who is signed in is asked first: a link elsewhere must not be enough to link an account."""
    idp = await sources.find_saml(exchange.work, slug)
    home = identity.home_of(exchange.work, exchange.path, exchange.query_string)
    if home is not None:
        return see_other(home)  # the identity provider sends people to one address of us
    query, visitor = _query(exchange), await identity.find_visitor(exchange)
    if visitor is not None and not (query.get("again") or query.get("passed")):
        return ask(exchange, idp.source, visitor, needs_server=False)
    return _sent(exchange, await sources.begin_saml(exchange, slug, query))


@post("/source/saml/{slug}/")
async def start_saml_by_form(exchange: Exchange, work: Work, slug: FromPath[str]) -> Answer:
    idp = await sources.find_saml(work, slug)
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return onward(exchange, idp.path)
    if visitor.is_acting:
        return ask(exchange, idp.source, visitor, needs_server=False)
    wrong = await password_problems(work, visitor, form)
    if wrong is not None:
        return ask(exchange, idp.source, visitor, needs_server=False, wrong=wrong)
    return _sent(exchange, await sources.begin_saml(exchange, slug, {}, link=visitor.user.id))


@post("/source/saml/{slug}/acs/")
async def take_answer(exchange: Exchange, slug: FromPath[str]) -> Answer:
    """Posted by the identity provider: its signature is what counts, not a cookie."""
    return shown(exchange, await sources.receive_saml(exchange, slug, await _form(exchange)))


@get("/source/saml/{slug}/acs/")
async def come_back_from_saml(exchange: Exchange, slug: FromPath[str]) -> Answer:
    await identity.find_visitor(exchange)
    return shown(exchange, await sources.come_back_saml(exchange, slug, exchange.query("arrival")))


@get("/source/saml/{slug}/metadata/")
async def show_source_metadata(exchange: Exchange, slug: FromPath[str]) -> Answer:
    idp = await sources.find_saml(exchange.work, slug)
    return whole((await sources.describe_saml(exchange.work, idp)).encode(), "application/xml")


@get("/source/saml/{slug}/slo/")
async def hear_of_saml_logout(exchange: Exchange, slug: FromPath[str]) -> Answer:
    return _sent(exchange, await sources.receive_saml_logout(exchange, slug, None))


@post("/source/saml/{slug}/slo/")
async def hear_of_saml_logout_by_form(exchange: Exchange, slug: FromPath[str]) -> Answer:
    return _sent(exchange, await sources.receive_saml_logout(exchange, slug, await _form(exchange)))


def _sent(exchange: Exchange, outcome: sources.SourceOutcome | sources.IdentityProviderForm) -> Answer:
    if not isinstance(outcome, sources.IdentityProviderForm):
        return shown(exchange, outcome)
    parts = urlsplit(outcome.url)
    may_lead_to(exchange, f"{parts.scheme}://{parts.netloc} https:")
    return page(
        exchange,
        "sources/form.html" if outcome.waits else "authorize/form_post.html",
        headers=outcome.headers,
        to=outcome.url,
        fields=outcome.fields,
    )


def _query(exchange: Exchange) -> dict[str, str]:
    raw = exchange.query_string[:MOST_QUERY_BYTES].decode("latin-1")
    return {name: values[-1] for name, values in parse_qs(raw, keep_blank_values=True).items()}


async def _form(exchange: Exchange) -> dict[str, str]:
    if exchange.header(b"content-type").partition(b";")[0].strip().lower() != _FORM:
        raise UnsupportedMedia("Please send a form")
    return dict(split_pairs(await exchange.body(MOST_FORM_BYTES), BodyLimits(count=20)))


routes = [
    start_saml,
    start_saml_by_form,
    take_answer,
    come_back_from_saml,
    show_source_metadata,
    hear_of_saml_logout,
    hear_of_saml_logout_by_form,
]
