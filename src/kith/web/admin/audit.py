"""/admin/audit: what happened, who did it, and what was before and after."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.frame import admin_page, enter_with
from kith.web.admin.listing_pages import moment_of
from kith.web.admin.words.events import EVENTS, OF_TEAM, event_words
from kith.web.admin.words.lookup import field_label, name_of
from kith.web.admin.words.spelling import label_of
from kith.web.page_language import language_of
from kith.web.translation import translatable, translator

__all__ = ["changes_in", "routes"]

PLACE = "/admin/audit"
PER_PAGE = 50
LONGEST_VALUE = 2000
VIEWS = (("team", translatable("What the team did")), ("all", translatable("Everything")))
# What was added, changed or deleted, by the part of the server that wrote it down.
_KINDS = {f"{one.area}.{one.model}": name_of(one).one for one in identity.RESOURCES}
_RESOURCES = {f"{one.area}.{one.model}": one for one in identity.RESOURCES}
_SHOWN_APART = frozenset(("diff", "before", "after"))


@get(PLACE)
async def show(exchange: Exchange) -> Answer:
    """What happened in the identity half is for those who have its rights."""
    visitor = await enter_with(exchange, PLACE)
    if visitor is None:
        return admin_page(exchange, "audit.html", None)
    view = "all" if exchange.query("show") == "all" and visitor.is_superuser else "team"
    offset = _number(exchange.query("offset"))
    asked = {name: exchange.query(name)[:150].strip() for name in ("search", "action", "username", "since", "until")}
    found, is_more = await (_everything if view == "all" else _of_team)(exchange, asked, offset)
    days = await own_api.ask(exchange, "/api/v1/admin/audit/days", all=view == "all")
    return admin_page(
        exchange,
        "audit.html",
        visitor,
        heading=translatable("Audit"),
        view=view,
        views=VIEWS if visitor.is_superuser else (),
        asked=asked,
        is_asked=any(asked.values()),
        events=found,
        actions=_actions(exchange, view, asked["action"]),
        days=days,
        highest=max(1, *(day["count"] for day in days)),
        offset=offset,
        older=offset + PER_PAGE if is_more else 0,
        newer=max(0, offset - PER_PAGE),
    )


def _actions(exchange: Exchange, view: str, asked: str) -> list[tuple[str, str]]:
    """What can be asked for, by its words in the language of the page; what an address asks for stays asked."""
    say = translator(language_of(exchange))
    names = {*(OF_TEAM if view == "team" else EVENTS), *([asked] if asked else [])}
    return sorted(((name, say(event_words(name))) for name in names), key=lambda one: one[1].casefold())


def _number(text: str) -> int:
    return min(int(text), 100_000) if text.isascii() and text.isdigit() and len(text) < 8 else 0


async def _of_team(exchange: Exchange, asked: Mapping[str, str], offset: int) -> tuple[list[dict[str, Any]], bool]:
    found = await own_api.ask(
        exchange,
        "/api/v1/admin/audit",
        action=asked["action"],
        username=asked["username"],
        limit=PER_PAGE + 1,
        offset=offset,
    )
    shown = [_shown(one, one["created_at"], one["ip"]) for one in found[:PER_PAGE]]
    return shown, len(found) > PER_PAGE


async def _everything(exchange: Exchange, asked: Mapping[str, str], offset: int) -> tuple[list[dict[str, Any]], bool]:
    told = await own_api.ask(
        exchange,
        "/api/v2/audit/events/",
        search=asked["search"],
        action=asked["action"],
        username=asked["username"],
        created__gte=_day(asked["since"], "00:00:00"),
        created__lte=_day(asked["until"], "23:59:59"),
        limit=PER_PAGE,
        offset=offset,
    )
    shown = [_shown(one, one["created"], one["client_ip"]) for one in told["results"]]
    return shown, offset + PER_PAGE < told["count"]


def _day(text: str, time: str) -> str:
    """A day as the browser's own field gives it; anything else asks for nothing."""
    is_day = len(text) == 10 and text.replace("-", "").isdigit() and text.isascii()
    return f"{text}T{time}Z" if is_day else ""


def changes_in(context: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What was changed: the name, what it was before and what it is after."""
    diff = context.get("diff")
    if isinstance(diff, dict):
        pairs = {name: (one.get("previous_value"), one.get("new_value")) for name, one in diff.items() if _is_pair(one)}
    else:
        before, after = context.get("before"), context.get("after")
        if not isinstance(before, dict) or not isinstance(after, dict):
            return []
        pairs = {name: (before.get(name), value) for name, value in after.items()}
    return [(name, _written(was), _written(now)) for name, (was, now) in pairs.items()]


def _is_pair(one: Any) -> bool:
    return isinstance(one, dict) and "new_value" in one


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value[:LONGEST_VALUE]
    return "" if value is None else json.dumps(value, ensure_ascii=False)[:LONGEST_VALUE]


def _field_words(app: str, name: str) -> str:
    resource = _RESOURCES.get(app)
    return label_of(name) if resource is None else field_label(resource, name)


def _name_of(model: Mapping[str, Any]) -> str:
    """What people know it by: what has no name of its own is written down with its key."""
    name = str(model.get("name") or "")
    return "" if name == str(model.get("pk") or "") else name


def _shown(one: dict[str, Any], at: str, address: str | None) -> dict[str, Any]:
    context = one["context"] or {}
    rest = {name: value for name, value in context.items() if name not in _SHOWN_APART or not changes_in(context)}
    target, model = context.get("target"), context.get("model")
    return {
        "action": one["action"],
        "words": event_words(one["action"]),
        "kind": _KINDS.get(one.get("app", ""), "") if one["action"].startswith("model_") else "",
        "about": _name_of(model) if isinstance(model, dict) else "",
        "username": one["username"],
        "address": address or "",
        "at": moment_of(at),
        "target": str(target["acct"]) if isinstance(target, dict) and "acct" in target else "",
        "changes": [(_field_words(one.get("app", ""), name), was, now) for name, was, now in changes_in(context)],
        "rest": json.dumps(rest, ensure_ascii=False, indent=2)[: 5 * LONGEST_VALUE] if rest else "",
    }


routes = [show]
