"""What is said about the server: who runs it, by which rules, and what the operator has written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import msgspec

from kith import __version__
from kith.base.caches import UntilWritten
from kith.base.errors import NotFound, Unauthenticated
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.social.accounts.entities import render
from kith.social.instance import service, store
from kith.social.pages import joined
from kith.web import own_api
from kith.web.client.frame import client_page, find_visible_member
from kith.web.client.people import shown_people
from kith.web.client.profiles import looking
from kith.web.translation import translatable

__all__ = ["routes"]

MOST_TEAM = 50


@get("/about")
async def show_about(exchange: Exchange, work: Work) -> Answer:
    told = await own_api.ask(exchange, "/api/v2/instance")
    extended = await service.find_page(work, "extended_description")
    contact = told["contact"]["account"]
    return await client_page(
        exchange,
        "client/about.html",
        await find_visible_member(exchange),
        here="about",
        told=told,
        members=await identity.count_members(work),
        text=extended.text if extended else "",
        contact=shown_people([contact])[0] if contact else None,
        team=[one for one in shown_people(await _team(work)) if one["roles"]],
        blocks=await _published_blocks(exchange),
        version=__version__,
    )


async def _team(work: Work) -> list[dict[str, Any]]:
    """With their roles, where these are to be seen."""

    async def make() -> bytes:
        return joined(await render(work, await store.find_team(work.db, MOST_TEAM)))

    found: list[dict[str, Any]] = msgspec.json.decode(await work.find(UntilWritten).keep(("team",), make))
    return found


async def _published_blocks(exchange: Exchange) -> Sequence[dict[str, Any]] | None:
    """None where the operator does not show them to whoever looks."""
    try:
        answer = await own_api.call(exchange, "GET", "/api/v1/instance/domain_blocks")
    except Unauthenticated:
        return None
    return msgspec.json.decode(answer.body) if answer.status == 200 else None


@get("/privacy-policy")
async def show_privacy_policy(exchange: Exchange, work: Work) -> Answer:
    found = await service.find_page(work, "privacy_policy")
    return await client_page(
        exchange,
        "client/operator_page.html",
        await find_visible_member(exchange),
        here="about",
        heading=translatable("Privacy policy"),
        text=found.text if found else "",
        since=found.updated_at if found else None,
    )


@get("/terms-of-service")
async def show_terms(exchange: Exchange) -> Answer:
    return await _terms(exchange, None)


@get("/terms-of-service/{date}")
async def show_terms_of(exchange: Exchange, date: FromPath[str]) -> Answer:
    return await _terms(exchange, date)


async def _terms(exchange: Exchange, date: str | None) -> Answer:
    terms = None
    try:
        terms = await service.find_terms(exchange.work, date)
    except NotFound:
        if date is not None:
            raise
    return await client_page(
        exchange,
        "client/operator_page.html",
        await find_visible_member(exchange),
        here="about",
        heading=translatable("Terms of service"),
        text=terms.page.text if terms else "",
        since=None,
        terms=terms,
    )


@get("/custom_emojis")
async def show_emojis(exchange: Exchange) -> Answer:
    """By their categories, as in the pickers of apps."""
    member = await looking(exchange)
    found = await own_api.ask(exchange, "/api/v1/custom_emojis")
    by_category = sorted(found, key=lambda one: (one.get("category") or "", one["shortcode"]))
    groups = [(name, list(ones)) for name, ones in groupby(by_category, key=lambda one: one.get("category") or "")]
    return await client_page(exchange, "client/custom_emojis.html", member, here="about", groups=groups)


routes = [show_about, show_privacy_policy, show_terms, show_terms_of, show_emojis]
