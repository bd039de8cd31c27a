"""/settings/language: the form at the foot of every page."""

from __future__ import annotations

from kith.base.errors import Invalid
from kith.base.exchange import Answer, Exchange
from kith.base.languages import LANGUAGES
from kith.base.routing import post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.page_language import cookie
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field


@post("/settings/language")
async def choose_language(exchange: Exchange, work: Work) -> Answer:
    """Remembered in a cookie and, for members, in their account; not in that of a member an owner views as."""
    visitor, form = await read_own_form(exchange)
    chosen = text_field(form, "language")
    if chosen not in LANGUAGES:
        raise Invalid("This language is not available", fields={"language": ["This language is not available."]})
    if visitor is not None and not visitor.is_acting and visitor.locale != chosen:
        await identity.account_settings.choose(work, visitor, locale=chosen)
    back = identity.safe_path(text_field(form, "next"))
    return see_other(back, headers=(cookie(exchange, chosen),))


routes = [choose_language]
