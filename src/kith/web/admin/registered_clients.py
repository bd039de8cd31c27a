"""On the page of an application: the clients that registered themselves with it, their end, and who vouches for one."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Forbidden, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.frame import admin_page, enter
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["clients_of", "routes"]

API = "/api/v2/providers/clients/"
MOST = 200
_PROVE = translatable("Please enter your password, to show that it is you.")
_WRONG = translatable("This is not your password.")
_NEW_TOKEN = translatable("The new registration access token. Copy it now: it is not shown again.")


async def clients_of(exchange: Exchange, provider: int | None) -> list[dict[str, Any]]:
    """Those that registered themselves, newest first; of others than oneself only for whoever may see them."""
    if provider is None:
        return []
    found = await own_api.ask(exchange, API, provider=provider, limit=MOST)
    clients: list[dict[str, Any]] = found["results"]
    return clients


@post("/admin/applications/{slug}/clients/{id}/end")
async def end_client(exchange: Exchange, slug: FromPath[str], id: FromPath[str]) -> Answer:
    await read_own_form(exchange)
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "application.html", None)
    await own_api.call(exchange, "DELETE", f"{API}{_known(id)}/")
    return see_other(f"/admin/applications/{slug}#clients")


@post("/admin/applications/{slug}/clients/{id}/take-over")
async def take_over(exchange: Exchange, slug: FromPath[str], id: FromPath[str]) -> Answer:
    """The answer is the one place where the token is ever shown, so it is the page itself."""
    _, form = await read_own_form(exchange)
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "application.html", None)
    password = text_field(form, "current_password")
    client = await own_api.ask(exchange, f"{API}{_known(id)}/")
    try:
        sent = {"current_password": password} if password else {}
        answer = await own_api.call(exchange, "POST", f"{API}{_known(id)}/take_over/", json=sent)
    except Invalid:
        return await _asked(exchange, visitor, slug, client, _WRONG)
    except Forbidden as problem:
        if problem.code != "confirmation_needed":
            raise
        return await _asked(exchange, visitor, slug, client, _PROVE)
    return admin_page(
        exchange,
        "revealed.html",
        visitor,
        heading=translatable("Registered clients"),
        name=client["name"],
        list_at=f"/admin/applications/{slug}",
        words=_NEW_TOKEN,
        secret=msgspec.json.decode(answer.body)["registration_access_token"],
    )


async def _asked(
    exchange: Exchange, visitor: identity.Visitor, slug: str, client: dict[str, Any], words: str
) -> Answer:
    """Ask for the password before somebody vouches for a client."""
    await exchange.end_work(commit=False)
    return admin_page(
        exchange,
        "take_over.html",
        visitor,
        status=400,
        heading=translatable("Registered clients"),
        at=f"/admin/applications/{slug}",
        client=client,
        errors=[words],
    )


def _known(id: str) -> str:
    known = identity.read_uuid(id)
    if known is None:
        raise NotFound
    return known


routes = [end_client, take_over]
