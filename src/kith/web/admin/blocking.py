"""/admin/domain_blocks/import and /admin/block_lists: many blocks at once, rehearsed before anything is blocked."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import Invalid, NotFound, Problem
from kith.base.exchange import Answer, Exchange
from kith.base.params import BodyLimits, Upload
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.frame import admin_page, enter_with
from kith.web.admin.listing_pages import moment_of
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_files, read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["routes"]

BLOCKS, LISTS = "/admin/domain_blocks", "/admin/block_lists"
API = "/api/v1/admin/block_lists"
SENT = BodyLimits(max_bytes=2 << 20, max_file_bytes=2 << 20, max_files=1)
MOST_SHOWN = 200


@get(f"{BLOCKS}/import")
async def show_import(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, BLOCKS)
    return admin_page(exchange, "import.html", None) if visitor is None else _import_page(exchange, visitor)


@post(f"{BLOCKS}/import")
async def import_blocks(exchange: Exchange) -> Answer:
    """First what would change is shown; the same text with `apply` changes it."""
    form = await read_own_files(exchange, SENT)
    visitor = await enter_with(exchange, BLOCKS)
    if visitor is None:
        return admin_page(exchange, "import.html", None)
    data = await _text(form)
    if not data.strip():
        return _import_page(exchange, visitor, error=translatable("Choose a file, or put the list into the field."))
    is_agreed = form.get("apply") == "true"
    try:
        answer = await own_api.call(
            exchange, "POST", "/api/v1/admin/domain_blocks/import", json={"data": data, "apply": is_agreed}
        )
    except Invalid as problem:
        words = own_api.words_of(exchange, problem)
        await exchange.end_work(commit=False)
        return _import_page(exchange, visitor, data=data, error=words)
    if is_agreed:
        return see_other(f"{BLOCKS}?imported=true")
    return _import_page(exchange, visitor, data=data, plan=_plan(msgspec.json.decode(answer.body)))


async def _text(form: dict[str, Any]) -> str:
    file = form.get("file")
    if isinstance(file, Upload):
        file.file.seek(0)
        written = file.file.read().decode("utf-8", "replace")
        if written.strip():
            return written
    given = form.get("data")
    return given if isinstance(given, str) else ""


def _plan(told: dict[str, Any]) -> dict[str, Any]:
    """What would happen; of long lists the beginning is shown, and how many there are."""
    names = ("added", "changed", "removed", "kept", "covered", "refused")
    return {
        **{name: told[name][:MOST_SHOWN] for name in names},
        "counts": {name: len(told[name]) for name in names},
        "severed": told["severed_follows_count"],
        "is_empty": not (told["added"] or told["changed"] or told["removed"]),
    }


def _import_page(
    exchange: Exchange,
    visitor: identity.Visitor,
    *,
    data: str = "",
    plan: dict[str, Any] | None = None,
    error: str = "",
) -> Answer:
    return admin_page(
        exchange,
        "import.html",
        visitor,
        status=422 if error else 200,
        heading=translatable("Blocked servers"),
        data=data,
        plan=plan,
        error=error,
    )


@get(LISTS)
async def show_lists(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, LISTS)
    return admin_page(exchange, "block_lists.html", None) if visitor is None else await _lists(exchange, visitor)


async def _lists(exchange: Exchange, visitor: identity.Visitor, *, url: str = "", error: str = "") -> Answer:
    found = await own_api.ask(exchange, API)
    return admin_page(
        exchange,
        "block_lists.html",
        visitor,
        status=422 if error else 200,
        heading=translatable("Block lists"),
        lists=[_list(one) for one in found],
        url=url,
        error=error,
    )


def _list(one: dict[str, Any]) -> dict[str, Any]:
    return {**one, "fetched": moment_of(one["fetched_at"]), "applied": moment_of(one["applied_at"])}


@post(LISTS)
async def add_list(exchange: Exchange) -> Answer:
    _, form = await read_own_form(exchange)
    visitor = await enter_with(exchange, LISTS)
    if visitor is None:
        return admin_page(exchange, "block_lists.html", None)
    url = text_field(form, "url")
    try:
        answer = await own_api.call(exchange, "POST", API, json={"url": url})
    except Invalid as problem:
        words = own_api.words_of(exchange, problem)
        await exchange.end_work(commit=False)
        return await _lists(exchange, visitor, url=url, error=words)
    return see_other(f"{LISTS}/{msgspec.json.decode(answer.body)['id']}")


@get(f"{LISTS}/{{id}}")
async def show_list(exchange: Exchange, id: FromPath[int]) -> Answer:
    visitor = await enter_with(exchange, LISTS)
    return admin_page(exchange, "block_list.html", None) if visitor is None else await _one(exchange, visitor, id)


async def _one(
    exchange: Exchange,
    visitor: identity.Visitor,
    id: int,
    *,
    plan: dict[str, Any] | None = None,
    digest: str = "",
    error: str = "",
) -> Answer:
    return admin_page(
        exchange,
        "block_list.html",
        visitor,
        status=422 if error else 200,
        heading=translatable("Block lists"),
        list=_list(await own_api.ask(exchange, f"{API}/{id}")),
        plan=plan,
        digest=digest,
        error=error,
    )


@post(f"{LISTS}/{{id}}")
async def act(exchange: Exchange, id: FromPath[int]) -> Answer:
    """`do` is what the form is for: rehearse, apply or leave the list."""
    _, form = await read_own_form(exchange)
    visitor = await enter_with(exchange, LISTS)
    if visitor is None:
        return admin_page(exchange, "block_list.html", None)
    try:
        return await _done(exchange, visitor, id, form)
    except Problem as problem:
        if problem.status >= 500 or isinstance(problem, NotFound):
            raise
        await exchange.end_work(commit=False)
        words = own_api.words_of(exchange, problem) if isinstance(problem, Invalid) else problem.message
        return await _one(exchange, visitor, id, error=words)


async def _done(exchange: Exchange, visitor: identity.Visitor, id: int, form: dict[str, Any]) -> Answer:
    wish = text_field(form, "do")
    if wish == "rehearse":
        answer = await own_api.call(exchange, "POST", f"{API}/{id}/rehearse", json={})
        told = msgspec.json.decode(answer.body)
        return await _one(exchange, visitor, id, plan=_plan(told), digest=told["block_list"]["digest"] or "")
    if wish == "apply":
        await own_api.call(exchange, "POST", f"{API}/{id}/apply", json={"digest": text_field(form, "digest")})
        return see_other(f"{LISTS}/{id}")
    if wish == "remove":
        keeps = "true" if form.get("keep_blocks") == "true" else "false"
        await own_api.call(exchange, "DELETE", f"{API}/{id}", query=[("keep_blocks", keeps)])
        return see_other(LISTS)
    raise NotFound


routes = [show_import, import_blocks, show_lists, add_list, show_list, act]
