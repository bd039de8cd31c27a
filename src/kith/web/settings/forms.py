"""Reading the forms of the settings, and asking for the password before a dangerous change."""

from __future__ import annotations

from typing import Any

from kith.base import csrf
from kith.base.exchange import Exchange
from kith.base.keys import Keys
from kith.base.params import BodyLimits, read_body
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.translation import translatable

SECURITY_PAGE = "/settings/security"
SIGN_IN = f"/flows/-/default/authentication/?next={SECURITY_PAGE}"


async def read_own_form(exchange: Exchange) -> tuple[identity.Visitor | None, dict[str, Any]]:
    """Who sends a form, and the form itself. One without the token of our own pages is refused."""
    form = await read_body(exchange)
    check_own_form(exchange, form)
    return await identity.find_visitor(exchange), form


async def read_own_files(exchange: Exchange, limits: BodyLimits) -> dict[str, Any]:
    """The same of a form with files, which are kept for whoever is signed in: who that is, is found out first."""
    await identity.find_visitor(exchange)
    form = await read_body(exchange, limits)
    check_own_form(exchange, form)
    return form


def check_own_form(exchange: Exchange, form: dict[str, Any]) -> None:
    csrf.check(exchange, exchange.find(Keys).session, str(form.get("csrf", "")))


def text_field(form: dict[str, Any], name: str) -> str:
    given = form.get(name, "")
    return given.replace("\0", "").strip() if isinstance(given, str) else ""


async def password_problems(work: Work, visitor: identity.Visitor, form: dict[str, Any]) -> list[str] | None:
    """None if they have proved lately who they are or gave the right password; else the errors to show beside it."""
    if identity.account_settings.is_fresh(work, visitor):
        return None
    given = form.get("password")
    if visitor.user.password is None or not isinstance(given, str):
        return []
    if given and await identity.account_settings.is_password(work, visitor, given):
        return None
    return [translatable("Invalid password")]
