"""Renaming and removing one's own second factors."""

from __future__ import annotations

from kith.base.errors import Conflict
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, post
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.pages import see_other
from kith.web.settings.forms import SECURITY_PAGE, SIGN_IN, password_problems, read_own_form, text_field
from kith.web.settings.frame import settings_page
from kith.web.settings.security import security_page
from kith.web.translation import translatable

MOST_CHARACTERS = 150
_PLACE = f"{SECURITY_PAGE}#factors"


@post(f"{SECURITY_PAGE}/factors/{{id}}/rename")
async def rename_factor(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    name = text_field(form, "name")
    if not name or len(name) > MOST_CHARACTERS:
        words = translatable("Please enter a name.") if not name else translatable("This is too long.")
        return await security_page(exchange, work, visitor, status=400, errors={f"name_{id}": [words]})
    await identity.account_settings.rename_device(work, visitor, id, name)
    return see_other(_PLACE)


@post(f"{SECURITY_PAGE}/factors/{{id}}/remove")
async def remove_factor(exchange: Exchange, work: Work, id: FromPath[str]) -> Answer:
    """Who has not proved lately who they are is asked for the password first."""
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return see_other(SIGN_IN)
    factor = await identity.account_settings.get_device(work, visitor, id)
    wrong = await password_problems(work, visitor, form)
    if wrong is not None:
        return await _ask(exchange, visitor, factor, wrong)
    try:
        await identity.account_settings.remove_device(work, visitor, id)
    except Conflict as problem:
        return await security_page(exchange, work, visitor, status=409, errors={"factors": [problem.message]})
    return see_other(_PLACE)


async def _ask(
    exchange: Exchange,
    visitor: identity.Visitor,
    factor: identity.account_settings.Factor,
    wrong: list[str] | None = None,
) -> Answer:
    return await settings_page(
        exchange,
        "settings/remove_factor.html",
        visitor,
        part="security",
        status=400 if wrong else 200,
        factor=factor,
        wrong=wrong or [],
    )


routes = [rename_factor, remove_factor]
