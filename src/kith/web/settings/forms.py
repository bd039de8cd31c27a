"""What the forms of the settings have in common."""

from __future__ import annotations

from typing import Any

from kith.base import csrf
from kith.base.exchange import Exchange
from kith.base.keys import Keys
from kith.base.params import read_body
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.translation import translatable

HERE = "/settings/security"
SIGN_IN = f"/flows/-/default/authentication/?next={HERE}"


async def sent(exchange: Exchange) -> tuple[identity.Visitor | None, dict[str, Any]]:
    """Who sends a form, and the form, which must be one of ours."""
    form = await read_body(exchange)
    csrf.check(exchange, exchange.find(Keys).session, str(form.get("csrf", "")))
    return await identity.find_visitor(exchange), form


def text(form: dict[str, Any], name: str) -> str:
    given = form.get(name, "")
    return given.replace("\0", "").strip() if isinstance(given, str) else ""


async def proof_missing(work: Work, visitor: identity.Visitor, form: dict[str, Any]) -> list[str] | None:
    """None once they have shown that it is them; else what was wrong with the password they gave, if they gave one."""
    if identity.own.is_fresh(work, visitor):
        return None
    given = form.get("password")
    if visitor.user.password is None or not isinstance(given, str):
        return []
    if given and await identity.own.is_password(work, visitor, given):
        return None
    return [translatable("Invalid password")]
