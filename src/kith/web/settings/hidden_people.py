"""/settings/mutes, /settings/blocks and /settings/domain_blocks: whom one does not want to see, and how that ends."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from kith.base.errors import Forbidden
from kith.base.exchange import Answer, Exchange
from kith.base.routing import Route, get, post
from kith.web import own_api
from kith.web.client.frame import PageMember
from kith.web.client.people import PAGED, shown_people
from kith.web.settings.forms import read_own_form, text_field
from kith.web.settings.frame import entered, settings_page
from kith.web.settings.saving import refusal, saved
from kith.web.translation import translatable

DOMAINS, LIMIT = "/settings/domain_blocks", 40


class HiddenPeople(msgspec.Struct, frozen=True):
    """A list of people: where it is in the API, and what ends somebody's place on it."""

    part: str
    heading: str
    about: str
    empty: str
    verb: str
    button: str


MUTES = HiddenPeople(
    "mutes",
    translatable("Muted people"),
    translatable("You do not see their posts. They are not told."),
    translatable("You have muted nobody."),
    "unmute",
    translatable("Unmute"),
)
BLOCKS = HiddenPeople(
    "blocks",
    translatable("Blocked people"),
    translatable("You do not see each other, and they cannot follow you."),
    translatable("You have blocked nobody."),
    "unblock",
    translatable("Unblock"),
)


def _of(kind: HiddenPeople) -> Route:
    @get(f"/settings/{kind.part}")
    async def show(exchange: Exchange) -> Answer:
        member = await _entered(exchange)
        if isinstance(member, Answer):
            return member
        found, links = await own_api.ask_page(exchange, f"/api/v1/{kind.part}", limit=LIMIT, **_asked(exchange))
        return await settings_page(
            exchange,
            "settings/hidden_people.html",
            member.visitor,
            part=kind.part,
            kind=kind,
            people=[{**one, "until": _moment(one.get("mute_expires_at"))} for one in shown_people(found)],
            older=links.get("next", ""),
        )

    return show


async def _entered(exchange: Exchange) -> PageMember | Answer:
    member = await entered(exchange)
    if isinstance(member, PageMember) and not member.account.may_act:
        raise Forbidden
    return member


def _asked(exchange: Exchange) -> dict[str, str]:
    return {name: exchange.query(name) for name in PAGED if exchange.query(name)}


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


@get(DOMAINS)
async def show_domains(exchange: Exchange) -> Answer:
    member = await _entered(exchange)
    return member if isinstance(member, Answer) else await _domains(exchange, member)


async def _domains(exchange: Exchange, member: PageMember, **values: Any) -> Answer:
    found, links = await own_api.ask_page(exchange, "/api/v1/domain_blocks", limit=LIMIT, **_asked(exchange))
    return await settings_page(
        exchange,
        "settings/domain_blocks.html",
        member.visitor,
        part="domain_blocks",
        domains=found,
        older=links.get("next", ""),
        **{"problem": "", "typed": "", **values},
    )


@post(DOMAINS)
async def block_domain(exchange: Exchange) -> Answer:
    _, form = await read_own_form(exchange)
    member = await _entered(exchange)
    if isinstance(member, Answer):
        return member
    typed = text_field(form, "domain")
    asked = own_api.call(exchange, "POST", "/api/v1/domain_blocks", json={"domain": typed})
    problem = await refusal(exchange, asked)
    if problem:
        return await _domains(exchange, member, problem=problem, typed=typed, status=422)
    return await saved(exchange, member.visitor, DOMAINS, translatable("This server is blocked for you now."))


routes = [_of(MUTES), _of(BLOCKS), show_domains, block_domain]
