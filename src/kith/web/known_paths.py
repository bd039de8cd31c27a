"""Addresses at which other servers of this kind have their pages, where apps and people look for them.

Most lead on to the nearest page of ours. What the operator has written about the server is shown here.
"""

from __future__ import annotations

from typing import Any

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.social.instance import service, store
from kith.web.pages import page, see_other
from kith.web.translation import translatable

SIGN_IN = "/flows/-/default/authentication/"
SETTINGS = "/settings/security"


@get("/auth/sign_in")
async def sign_in() -> Answer:
    return see_other(SIGN_IN, status=302)


@get("/auth/sign_up")
async def sign_up() -> Answer:
    return see_other("/flows/-/default/enrollment/", status=302)


@get("/auth/sign_out")
async def sign_out() -> Answer:
    """To the page that asks: a mere link must not sign anybody out."""
    return see_other("/flows/-/default/invalidation/", status=302)


@get("/auth/password/new")
async def forgot_password(exchange: Exchange) -> Answer:
    """Where nobody can help themselves, people are led to where they sign in."""
    has_recovery = await identity.flows.find_default(exchange, "recovery") is not None
    return see_other("/flows/-/default/recovery/" if has_recovery else SIGN_IN, status=302)


@get(
    "/auth/edit",
    aliases=("/settings/profile", "/settings/preferences", "/settings", "/.well-known/change-password"),
)
async def own_settings() -> Answer:
    """Whoever is not signed in is asked to be, there."""
    return see_other(SETTINGS, status=302)


@get("/about")
async def about(exchange: Exchange, work: Work) -> Answer:
    settings = work.settings
    found = await service.find_page(work, "extended_description")
    return await _operator_page(
        exchange,
        translatable("About"),
        found.text if found else "",
        description=settings.description,
        contact=settings.contact_email,
        rules=[rule.text for rule in await store.all_rules(work.db)],
    )


@get("/privacy-policy")
async def privacy_policy(exchange: Exchange, work: Work) -> Answer:
    found = await service.find_page(work, "privacy_policy")
    return await _operator_page(exchange, translatable("Privacy policy"), found.text if found else "")


@get("/terms-of-service")
async def terms_of_service(exchange: Exchange, work: Work) -> Answer:
    try:
        text = (await service.find_terms(work)).page.text
    except NotFound:
        text = ""
    return await _operator_page(exchange, translatable("Terms of service"), text)


async def _operator_page(exchange: Exchange, heading: str, text: str, **more: Any) -> Answer:
    """`text` was made safe HTML when it was written."""
    given = {"description": "", "contact": "", "rules": [], **more}
    return page(
        exchange,
        "operator_page.html",
        visitor=await identity.find_visitor(exchange),
        heading=heading,
        text=text,
        **given,
    )


routes = [
    sign_in,
    sign_up,
    sign_out,
    forgot_password,
    own_settings,
    about,
    privacy_policy,
    terms_of_service,
]
