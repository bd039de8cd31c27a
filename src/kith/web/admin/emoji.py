"""/admin/emoji: the community's own emoji, and those of other servers that can be copied."""

from __future__ import annotations

from typing import Any

from kith.base.errors import Invalid, NotFound, Problem
from kith.base.exchange import Answer, Exchange
from kith.base.params import BodyLimits, Upload
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.frame import admin_page, enter_with
from kith.web.admin.reports import media_headers
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_files, read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["routes"]

PLACE, API = "/admin/emoji", "/api/v1/admin/custom_emojis"
ELSEWHERE = "/api/v1/admin/remote_emojis"
SENT = BodyLimits(max_file_bytes=1 << 20, max_files=1)
PER_PAGE = 60


@get(PLACE)
async def show(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, PLACE)
    return admin_page(exchange, "emoji.html", None) if visitor is None else await _page(exchange, visitor)


async def _page(
    exchange: Exchange, visitor: identity.Visitor, *, sent: dict[str, str] | None = None, error: str = ""
) -> Answer:
    asked = exchange.query("search")[:64].strip(": ")
    found = [one for one in await own_api.ask(exchange, API) if asked.lower() in one["shortcode"].lower()]
    groups: dict[str, list[dict[str, Any]]] = {}
    for one in found:
        groups.setdefault(one["category"] or "", []).append(one)
    return admin_page(
        exchange,
        "emoji.html",
        visitor,
        status=422 if error else 200,
        heading=translatable("Emoji"),
        groups=sorted(groups.items()),
        categories=sorted(name for name in groups if name),
        count=len(found),
        asked=asked,
        sent=sent or {"shortcode": "", "category": ""},
        error=error,
        headers=media_headers(exchange),
    )


@post(PLACE)
async def upload(exchange: Exchange) -> Answer:
    form = await read_own_files(exchange, SENT)
    visitor = await enter_with(exchange, PLACE)
    if visitor is None:
        return admin_page(exchange, "emoji.html", None)
    sent = {"shortcode": text_field(form, "shortcode"), "category": text_field(form, "category")}
    image = form.get("image")
    given = {**sent, "image": image} if isinstance(image, Upload) else sent
    try:
        await own_api.call(exchange, "POST", API, form=given)
    except Invalid as problem:
        words = own_api.words_of(exchange, problem)
        await exchange.end_work(commit=False)
        return await _page(exchange, visitor, sent=sent, error=words)
    return see_other(PLACE)


@get(f"{PLACE}/elsewhere")
async def show_elsewhere(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, PLACE)
    return admin_page(exchange, "emoji_elsewhere.html", None) if visitor is None else await _others(exchange, visitor)


async def _others(exchange: Exchange, visitor: identity.Visitor, error: str = "") -> Answer:
    name, domain = exchange.query("search")[:64].strip(": "), exchange.query("domain")[:255].strip()
    max_id = exchange.query("max_id")[:20]
    found = await own_api.ask(exchange, ELSEWHERE, name=name, domain=domain, max_id=max_id, limit=PER_PAGE)
    own = {one["shortcode"] for one in await own_api.ask(exchange, API)}
    return admin_page(
        exchange,
        "emoji_elsewhere.html",
        visitor,
        status=422 if error else 200,
        heading=translatable("Emoji"),
        emojis=[{**one, "is_taken": one["shortcode"] in own} for one in found],
        older=found[-1]["id"] if len(found) == PER_PAGE else "",
        asked=name,
        domain=domain,
        error=error,
        headers=media_headers(exchange),
    )


@post(f"{PLACE}/elsewhere")
async def copy(exchange: Exchange) -> Answer:
    _, form = await read_own_form(exchange)
    visitor = await enter_with(exchange, PLACE)
    if visitor is None:
        return admin_page(exchange, "emoji_elsewhere.html", None)
    id = text_field(form, "id")
    if not id.isascii() or not id.isdigit():
        raise NotFound
    sent = {"shortcode": text_field(form, "shortcode"), "category": text_field(form, "category")}
    try:
        await own_api.call(exchange, "POST", f"{ELSEWHERE}/{id}/copy", json=sent)
    except Problem as problem:
        if problem.status >= 500:
            raise
        await exchange.end_work(commit=False)
        words = own_api.words_of(exchange, problem) if isinstance(problem, Invalid) else _GONE
        return await _others(exchange, visitor, words)
    return see_other(PLACE)


_GONE = translatable("The picture could not be fetched. Try again later.")


@get(f"{PLACE}/{{id}}")
async def show_one(exchange: Exchange, id: FromPath[int]) -> Answer:
    visitor = await enter_with(exchange, PLACE)
    if visitor is None:
        return admin_page(exchange, "emoji_one.html", None)
    one = await own_api.ask(exchange, f"{API}/{id}")
    every = await own_api.ask(exchange, API)
    return admin_page(
        exchange,
        "emoji_one.html",
        visitor,
        heading=translatable("Emoji"),
        emoji=one,
        categories=sorted({other["category"] for other in every if other["category"]}),
        headers=media_headers(exchange),
    )


@post(f"{PLACE}/{{id}}")
async def change(exchange: Exchange, id: FromPath[int]) -> Answer:
    _, form = await read_own_form(exchange)
    visitor = await enter_with(exchange, PLACE)
    if visitor is None:
        return admin_page(exchange, "emoji_one.html", None)
    if form.get("_delete") == "true":
        await own_api.call(exchange, "DELETE", f"{API}/{id}")
        return see_other(PLACE)
    sent = {
        "category": text_field(form, "category"),
        "visible_in_picker": form.get("visible_in_picker") == "true",
        "disabled": form.get("disabled") == "true",
    }
    await own_api.call(exchange, "PATCH", f"{API}/{id}", json=sent)
    return see_other(PLACE)


routes = [show, upload, show_elsewhere, copy, show_one, change]
