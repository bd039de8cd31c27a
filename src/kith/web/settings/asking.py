"""What the forms of the settings have in common."""

from __future__ import annotations

from typing import Any

from kith.base import csrf
from kith.base.exchange import Exchange
from kith.base.keys import Keys
from kith.base.params import read_body
from kith.identity import face as identity

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
