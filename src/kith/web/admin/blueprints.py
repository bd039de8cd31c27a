"""/admin/blueprints: configuration that comes from files, how each of them fared, and trying one out."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Problem
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.frame import admin_page, enter
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["routes"]

PLACE = "/admin/blueprints"
_API = "/api/v2/managed/blueprints/"
MOST = 500
STATUSES = {
    "unknown": translatable("waits"),
    "successful": translatable("applied"),
    "warning": translatable("applied, with warnings"),
    "error": translatable("not applied"),
    "orphaned": translatable("the file is gone"),
}


@get(PLACE)
async def show(exchange: Exchange) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "blueprints.html", None)
    return await _page(exchange, visitor)


@post(PLACE, status=200)
async def try_out(exchange: Exchange) -> Answer:
    """What a blueprint would change; or change it."""
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return admin_page(exchange, "blueprints.html", None)
    await enter(exchange)
    content, is_rehearsal = text_field(form, "content"), text_field(form, "act") != "apply"
    sent = {"content": content, "rehearse": is_rehearsal}
    try:
        answer = await own_api.call(exchange, "POST", f"{_API}import/", json=sent)
    except Problem as problem:
        await exchange.end_work(commit=False)
        told = {"success": False, "logs": [{"log_level": "error", "event": own_api.words_of(exchange, problem)}]}
        return await _page(exchange, visitor, content, told | {"changes": []}, is_rehearsal=is_rehearsal)
    told = msgspec.json.decode(answer.body)
    return await _page(exchange, visitor, content, told, is_rehearsal=is_rehearsal)


@post(f"{PLACE}/{{id}}/apply")
async def apply(exchange: Exchange, id: FromPath[str]) -> Answer:
    visitor, _form = await read_own_form(exchange)
    if visitor is None:
        return admin_page(exchange, "blueprints.html", None)
    await enter(exchange)
    await own_api.call(exchange, "POST", f"{_API}{id}/apply/")
    return see_other(PLACE)


async def _page(
    exchange: Exchange,
    visitor: identity.Visitor,
    content: str = "",
    told: dict[str, Any] | None = None,
    *,
    is_rehearsal: bool = True,
) -> Answer:
    found = await own_api.ask(exchange, _API, limit=MOST, ordering="path,name")
    return admin_page(
        exchange,
        "blueprints.html",
        visitor,
        status=200 if told is None or told["success"] else 400,
        heading=translatable("Blueprints"),
        rows=found["results"],
        statuses=STATUSES,
        content=content,
        told=told,
        problems=[one["event"] for one in told["logs"] if one["log_level"] != "info"] if told else [],
        is_rehearsal=is_rehearsal,
    )


routes = [show, try_out, apply]
