"""/settings/statuses_cleanup: one's own old posts, deleted by themselves."""

from __future__ import annotations

from typing import Any

from kith.base.errors import Forbidden
from kith.base.exchange import Answer, Exchange
from kith.base.routing import get, post
from kith.social.cleanup.tables import AGES
from kith.web import own_api
from kith.web.client.frame import PageMember
from kith.web.settings.forms import read_own_form
from kith.web.settings.frame import entered, settings_page
from kith.web.settings.saving import is_ticked, number_of, refusal, saved
from kith.web.translation import translatable

PAGE, API = "/settings/statuses_cleanup", "/api/v1/statuses_cleanup_policy"
KEPT = (
    ("keep_pinned", translatable("Posts that I pinned")),
    ("keep_direct", translatable("Private mentions")),
    ("keep_polls", translatable("Polls")),
    ("keep_media", translatable("Posts with media")),
    ("keep_self_fav", translatable("Posts that I favourited")),
    ("keep_self_bookmark", translatable("Posts that I bookmarked")),
)


@get(PAGE)
async def show_cleanup(exchange: Exchange) -> Answer:
    member = await entered(exchange)
    return member if isinstance(member, Answer) else await _page(exchange, member)


async def _page(
    exchange: Exchange, member: PageMember, *, status: int = 200, problem: str = "", typed: dict[str, Any] | None = None
) -> Answer:
    if not member.account.may_act:
        raise Forbidden
    return await settings_page(
        exchange,
        "settings/statuses_cleanup.html",
        member.visitor,
        part="statuses_cleanup",
        status=status,
        problem=problem,
        policy=await own_api.ask(exchange, API) | (typed or {}),
        ages=[(seconds, seconds // 86_400) for seconds in AGES],
        kept=KEPT,
    )


@post(PAGE)
async def change_cleanup(exchange: Exchange) -> Answer:
    _, form = await read_own_form(exchange)
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    wanted: dict[str, Any] = {name: is_ticked(form, name) for name in ("enabled", *(name for name, _ in KEPT))}
    wanted |= {name: number_of(form, name) for name in ("min_favs", "min_reblogs", "min_status_age")}
    problem = await refusal(exchange, own_api.call(exchange, "PUT", API, json=wanted))
    if problem:
        return await _page(exchange, member, status=422, problem=problem, typed=wanted)
    return await saved(exchange, member.visitor, PAGE)


routes = [show_cleanup, change_cleanup]
