"""/settings/language: the form at the foot of every page."""

from __future__ import annotations

from litestar import post
from litestar.di import NamedDependency
from litestar.response.base import ASGIResponse

from kith.base.edge import exchange_of
from kith.base.errors import Invalid
from kith.base.work import Work
from kith.identity import face as identity
from kith.web.pages import see_other
from kith.web.settings.asking import AnyRequest, sent, text
from kith.web.speaking import cookie
from kith.web.words import LANGUAGES


@post("/settings/language")
async def choose_language(request: AnyRequest, work: NamedDependency[Work]) -> ASGIResponse:
    """A cookie for the browser, and with the person where there is one; other people's settings are left alone."""
    visitor, form = await sent(request)
    chosen = text(form, "language")
    if chosen not in LANGUAGES:
        raise Invalid("We do not know this language", fields={"language": ["We do not know this language."]})
    if visitor is not None and not visitor.is_acting and visitor.locale != chosen:
        await identity.choose_language(work, visitor, chosen)
    back = identity.safe_path(text(form, "next"))
    return see_other(back, headers=(cookie(exchange_of(request), chosen),))


routes = [choose_language]
