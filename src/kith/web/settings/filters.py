"""/settings/filters: posts that one does not want to see, by their words."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kith.base.errors import Forbidden
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.web import own_api
from kith.web.client.frame import PageMember
from kith.web.settings.forms import read_own_form, text_field
from kith.web.settings.frame import entered, settings_page
from kith.web.settings.saving import refusal, saved, texts_of
from kith.web.translation import translatable

PAGE, API = "/settings/filters", "/api/v2/filters"
MORE_ROWS = 3  # for words to be added, at a time
CONTEXTS = (
    ("home", translatable("Home and lists")),
    ("notifications", translatable("Notifications")),
    ("public", translatable("Public timelines")),
    ("thread", translatable("Conversations")),
    ("account", translatable("Profiles")),
)
ACTIONS = (
    ("warn", translatable("Hide the post behind a warning")),
    ("blur", translatable("Hide only its media behind a warning")),
    ("hide", translatable("Leave the post out completely")),
)
ENDS = (
    (1800, translatable("30 minutes")),
    (3600, translatable("1 hour")),
    (21_600, translatable("6 hours")),
    (43_200, translatable("12 hours")),
    (86_400, translatable("1 day")),
    (604_800, translatable("1 week")),
)
_NEW = {"id": "", "title": "", "context": ["home", "public"], "filter_action": "warn", "expires_at": None}


@get(PAGE)
async def show_filters(exchange: Exchange) -> Answer:
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    if not member.account.may_act:
        raise Forbidden
    found = await own_api.ask(exchange, API)
    return await settings_page(
        exchange,
        "settings/filters.html",
        member.visitor,
        part="filters",
        filters=[_shown(one, exchange.work.now) for one in found],
        contexts=dict(CONTEXTS),
        actions=dict(ACTIONS),
    )


def _shown(one: dict[str, Any], now: datetime) -> dict[str, Any]:
    ends = one["expires_at"] and datetime.fromisoformat(one["expires_at"])
    return {**one, "ends": ends, "is_over": bool(ends and ends <= now)}


@get(f"{PAGE}/new")
async def new_filter(exchange: Exchange) -> Answer:
    member = await entered(exchange)
    return member if isinstance(member, Answer) else await _form(exchange, member, {**_NEW, "keywords": []})


@get(f"{PAGE}/{{id}}")
async def show_filter(exchange: Exchange, id: FromPath[int]) -> Answer:
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    return await _form(exchange, member, await own_api.ask(exchange, f"{API}/{id}"))


async def _form(
    exchange: Exchange, member: PageMember, filter: dict[str, Any], *, problem: str = "", status: int = 200
) -> Answer:
    if not member.account.may_act:
        raise Forbidden
    return await settings_page(
        exchange,
        "settings/filter.html",
        member.visitor,
        part="filters",
        status=status,
        problem=problem,
        filter=_shown(filter, exchange.work.now),
        posts=await _posts(exchange, filter),
        rows=[*filter["keywords"], *({"id": "", "keyword": "", "whole_word": True},) * MORE_ROWS],
        contexts=CONTEXTS,
        actions=ACTIONS,
        ends=ENDS,
    )


async def _posts(exchange: Exchange, filter: dict[str, Any]) -> list[dict[str, Any]]:
    """Single posts that it hides, as far as they are still there: where each is, and the row that names it."""
    listed = {one["status_id"]: one["id"] for one in filter.get("statuses", ())}
    if not listed:
        return []
    found = await own_api.ask(exchange, "/api/v1/statuses", id=list(listed)[:20])
    return [{"row": listed[one["id"]], "id": one["id"], "acct": one["account"]["acct"]} for one in found]


@post(PAGE)
async def create_filter(exchange: Exchange) -> Answer:
    return await _save(exchange, "POST", API, {})


@post(f"{PAGE}/{{id}}")
async def change_filter(exchange: Exchange, id: FromPath[int]) -> Answer:
    return await _save(exchange, "PUT", f"{API}/{id}", {"id": str(id)})


async def _save(exchange: Exchange, method: str, path: str, known: dict[str, str]) -> Answer:
    _, form = await read_own_form(exchange)
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    wanted = _typed(form)
    problem = await refusal(exchange, own_api.call(exchange, method, path, json=wanted))
    if not problem:
        return await saved(exchange, member.visitor, PAGE)
    shown = {**_NEW, **wanted, **known, "keywords": [one for one in wanted["keywords_attributes"] if one["keyword"]]}
    return await _form(exchange, member, shown, problem=problem, status=422)


def _typed(form: dict[str, Any]) -> dict[str, Any]:
    """`keep` as the end means that it stays as it is."""
    wanted: dict[str, Any] = {
        "title": text_field(form, "title"),
        "context": texts_of(form, "context"),
        "filter_action": text_field(form, "filter_action"),
        "keywords_attributes": _keywords(form),
    }
    ends = text_field(form, "expires_in")
    if ends != "keep":
        wanted["expires_in"] = int(ends) if ends.isascii() and ends.isdigit() and len(ends) < 10 else None
    return wanted


def _keywords(form: dict[str, Any]) -> list[dict[str, Any]]:
    """Each row by its place. A word that was emptied is removed; a new row without a word is none."""
    rows = form.get("words", {})
    found: list[dict[str, Any]] = []
    for row in rows.values() if isinstance(rows, dict) else rows:
        if not isinstance(row, dict):
            continue
        id, word = text_field(row, "id"), text_field(row, "keyword")
        if id and not word:
            found.append({"id": id, "keyword": "", "_destroy": True})
        elif word:
            found.append({**({"id": id} if id else {}), "keyword": word, "whole_word": row.get("whole") == "true"})
    return found


routes = [show_filters, new_filter, show_filter, create_filter, change_filter]
