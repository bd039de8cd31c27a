"""What the team decided about somebody, and how they appeal.

/disputes/strikes is for members. /appeal/{id}/{key} is for whoever may not come in any more: the key in the mail about
the decision shows who they are.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.params import read_body
from kith.base.routing import FromPath, get, post
from kith.base.work import Work
from kith.social.moderation import appeals, store
from kith.social.moderation.appeal_keys import is_appeal_key
from kith.social.moderation.entities import render_warnings
from kith.web import own_api
from kith.web.client.frame import PageMember
from kith.web.pages import page
from kith.web.settings.forms import read_own_form, text_field
from kith.web.settings.frame import entered, settings_page
from kith.web.settings.saving import refusal, saved
from kith.web.translation import translatable

LIST, API = "/disputes/strikes", "/api/v1/strikes"
SENT = translatable("Your appeal was sent. You get an e-mail when the team has decided.")
LONGEST = appeals.LONGEST_TEXT


@get(LIST)
async def show_strikes(exchange: Exchange) -> Answer:
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    found, links = await own_api.ask_page(exchange, API, max_id=exchange.query("max_id"))
    return await settings_page(
        exchange,
        "settings/strikes.html",
        member.visitor,
        part="strikes",
        strikes=found,
        older=links.get("next", ""),
    )


@get(LIST + "/{id}")
async def show_strike(exchange: Exchange, id: FromPath[int]) -> Answer:
    member = await entered(exchange)
    return member if isinstance(member, Answer) else await _strike_page(exchange, member, id)


@post(LIST + "/{id}")
async def appeal(exchange: Exchange, id: FromPath[int]) -> Answer:
    _, form = await read_own_form(exchange)
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    typed = text_field(form, "text")
    problem = await refusal(exchange, own_api.call(exchange, "POST", f"{API}/{id}/appeal", json={"text": typed}))
    if problem:
        return await _strike_page(exchange, member, id, problem=problem, typed=typed, status=422)
    return await saved(exchange, member.visitor, f"{LIST}/{id}", SENT)


async def _strike_page(exchange: Exchange, member: PageMember, id: int, **values: Any) -> Answer:
    return await settings_page(
        exchange,
        "settings/strike.html",
        member.visitor,
        part="strikes",
        strike=await own_api.ask(exchange, f"{API}/{id}"),
        longest=LONGEST,
        **{"problem": "", "typed": "", **values},
    )


@get("/appeal/{id}/{key}")
async def ask_to_appeal(exchange: Exchange, work: Work, id: FromPath[int], key: FromPath[str]) -> Answer:
    return await _key_page(exchange, work, id, key)


@post("/appeal/{id}/{key}", status=200)
async def appeal_by_key(exchange: Exchange, id: FromPath[int], key: FromPath[str]) -> Answer:
    """The key decides, so the form needs no token."""
    typed = text_field(await read_body(exchange), "text")
    asked = own_api.call(exchange, "POST", "/api/v1/appeals", json={"strike_id": str(id), "key": key, "text": typed})
    problem = await refusal(exchange, asked)
    return await _key_page(
        exchange, exchange.work, id, key, problem=problem, typed=typed, status=422 if problem else 200
    )


async def _key_page(exchange: Exchange, work: Work, id: int, key: str, *, status: int = 200, **values: Any) -> Answer:
    strike = await store.find_strike(work.db, id) if is_appeal_key(work, id, key) else None
    if strike is None:
        raise NotFound
    [shown] = await render_warnings(work, [strike])
    return page(
        exchange,
        "appeal.html",
        status=status,
        strike=msgspec.json.decode(shown),
        longest=LONGEST,
        **{"problem": "", "typed": "", **values},
    )


routes = [show_strikes, show_strike, appeal, ask_to_appeal, appeal_by_key]
