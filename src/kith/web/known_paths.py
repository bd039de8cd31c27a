"""Addresses at which other servers of this kind have their pages, where apps and people look for them.

Most lead on to the nearest page of ours. What the operator has written about the server is shown here.
"""

from __future__ import annotations

from typing import Any

from litestar import Request, get
from litestar.di import NamedDependency
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.errors import NotFound
from kith.base.work import Work
from kith.identity import face as identity
from kith.social.instance import service, store
from kith.web.pages import page, see_other
from kith.web.words import later

AnyRequest = Request[Any, Any, Any]
SIGN_IN = "/flows/-/default/authentication/"
SETTINGS = "/settings/security"


@get("/auth/sign_in")
async def sign_in() -> ASGIResponse:
    return see_other(SIGN_IN, status=302)


@get("/auth/sign_up")
async def sign_up() -> ASGIResponse:
    return see_other("/flows/-/default/enrollment/", status=302)


@get("/auth/sign_out")
async def sign_out() -> ASGIResponse:
    """To the page that asks: a mere link must not sign anybody out."""
    return see_other("/flows/-/default/invalidation/", status=302)


@get("/auth/password/new")
async def forgot_password(request: AnyRequest) -> ASGIResponse:
    """Where nobody can help themselves, people are led to where they sign in."""
    has_recovery = await identity.find_default(exchange_of(request), "recovery") is not None
    return see_other("/flows/-/default/recovery/" if has_recovery else SIGN_IN, status=302)


@get(["/auth/edit", "/settings/profile", "/settings/preferences", "/settings", "/.well-known/change-password"])
async def own_settings() -> ASGIResponse:
    """Whoever is not signed in is asked to be, there."""
    return see_other(SETTINGS, status=302)


@get("/about")
async def about(request: AnyRequest, work: NamedDependency[Work]) -> ASGIResponse:
    settings = work.settings
    found = await service.find_page(work, "extended_description")
    return await _written(
        request, later("About"), found.text if found else "", description=settings.description,
        contact=settings.contact_email, rules=[rule.text for rule in await store.all_rules(work.db)],
    )  # fmt: skip


@get("/privacy-policy")
async def privacy_policy(request: AnyRequest, work: NamedDependency[Work]) -> ASGIResponse:
    found = await service.find_page(work, "privacy_policy")
    return await _written(request, later("Privacy policy"), found.text if found else "")


@get("/terms-of-service")
async def terms_of_service(request: AnyRequest, work: NamedDependency[Work]) -> ASGIResponse:
    try:
        text = (await service.find_terms(work)).page.text
    except NotFound:
        text = ""
    return await _written(request, later("Terms of service"), text)


async def _written(request: AnyRequest, heading: str, text: str, **more: Any) -> ASGIResponse:
    """`text` was made safe HTML when it was written."""
    exchange = exchange_of(request)
    given = {"description": "", "contact": "", "rules": [], **more}
    return page(
        exchange, "written.html", visitor=await identity.find_visitor(exchange), heading=heading, text=text, **given
    )


routes = [
    sign_in, sign_up, sign_out, forgot_password, own_settings, about, privacy_policy, terms_of_service,
]  # fmt: skip
