"""/admin/applications: what people can open, how it is set up, who may enter it, and trying it as somebody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from kith.base.errors import Forbidden, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin import bound
from kith.web.admin.console_rights import known_rights
from kith.web.admin.frame import admin_page, enter
from kith.web.admin.known_software import ALL, Software, find_software
from kith.web.admin.new_applications import ApplicationOrder, make, read_order
from kith.web.admin.registered_clients import clients_of
from kith.web.admin.setups import ProviderSetup, setup_of
from kith.web.admin.words.lookup import kind_name
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["routes"]

PER_PAGE = 50
PLACE = "/admin/applications"


@get("/admin/applications")
async def show_all(exchange: Exchange) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "applications.html", None)
    asked, offset = exchange.query("search")[:200], _number(exchange.query("offset"))
    found = await own_api.ask(exchange, "/api/v2/core/applications/", limit=PER_PAGE, offset=offset, search=asked)
    kinds = await _kinds_of(exchange, [one["provider"] for one in found["results"]])
    return admin_page(
        exchange,
        "applications.html",
        visitor,
        heading=translatable("Applications"),
        rows=[(one, kinds.get(one["provider"], "")) for one in found["results"]],
        count=found["count"],
        asked=asked,
        offset=offset,
        older=offset + PER_PAGE if offset + PER_PAGE < found["count"] else 0,
        newer=max(0, offset - PER_PAGE),
    )


async def _kinds_of(exchange: Exchange, providers: list[int | None]) -> dict[int, str]:
    """How people sign in to the applications of a page."""
    if not any(providers):
        return {}
    found = await own_api.ask(exchange, "/api/v2/providers/all/", limit=1000)
    return {one["pk"]: way_in(one["__type__"]) for one in found["results"]}


def way_in(kind: str) -> str:
    return kind_name(identity.RESOURCES, "providers", kind).one


@get("/admin/applications/new")
async def choose_software(exchange: Exchange) -> Answer:
    return admin_page(exchange, "software.html", await enter(exchange), heading=translatable("New"), software=ALL)


@get("/admin/applications/new/{key}")
async def ask(exchange: Exchange, key: FromPath[str]) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "software.html", None)
    return await _asked(exchange, visitor, _software(key), ApplicationOrder())


@post("/admin/applications/new/{key}")
async def save(exchange: Exchange, key: FromPath[str]) -> Answer:
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return admin_page(exchange, "software.html", None)
    await enter(exchange)
    software, order = _software(key), read_order(form)
    try:
        slug = await make(exchange, software, order)
    except Invalid as problem:
        await exchange.end_work(commit=False)
        return await _asked(exchange, visitor, software, order, problem.fields)
    return see_other(f"{PLACE}/{slug}?for={software.key}&made=true")


def _software(key: str) -> Software:
    found = find_software(key)
    if found is None:
        raise NotFound
    return found


async def _asked(
    exchange: Exchange,
    visitor: identity.Visitor,
    software: Software,
    order: ApplicationOrder,
    errors: Mapping[str, Any] | None = None,
) -> Answer:
    known = set(ApplicationOrder.__struct_fields__)
    return admin_page(
        exchange,
        "new_application.html",
        visitor,
        status=400 if errors else 200,
        heading=translatable("New"),
        software=software,
        order=order,
        errors=errors or {},
        other_errors=[words for name, said in (errors or {}).items() if name not in known for words in said],
        groups=await bound.group_options(exchange),
        gateway_is_off=software.mode != "" and not exchange.server.works.settings.gateway,
    )


@get("/admin/applications/{slug}")
async def show(exchange: Exchange, slug: FromPath[str]) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "application.html", None)
    return await _page(exchange, visitor, slug)


@post("/admin/applications/{slug}", status=200)
async def act(exchange: Exchange, slug: FromPath[str]) -> Answer:
    """Trying it as somebody changes nothing; the other forms say who may enter."""
    visitor, form = await read_own_form(exchange)
    if visitor is None:
        return admin_page(exchange, "application.html", None)
    await enter(exchange)
    application = await _find(exchange, slug)
    try:
        if form.get("do") == "try":
            tried = await _try(exchange, application, text_field(form, "user"))
            return await _page(exchange, visitor, slug, tried=tried)
        if form.get("do") == "bind":
            await bound.bind(exchange, application["pk"], form)
        elif form.get("do") == "unbind":
            await bound.unbind(exchange, text_field(form, "binding"))
        elif form.get("do") == "mode":
            await _change(exchange, application, {"policy_engine_mode": text_field(form, "policy_engine_mode")})
        else:
            raise NotFound
    except Invalid as problem:
        await exchange.end_work(commit=False)
        return await _page(exchange, visitor, slug, errors=problem.fields, typed=form)
    return see_other(f"{PLACE}/{slug}#access")


async def _change(exchange: Exchange, application: Mapping[str, Any], values: dict[str, Any]) -> None:
    await own_api.call(exchange, "PATCH", f"/api/v2/core/applications/{application['pk']}/", json=values)


async def _find(exchange: Exchange, slug: str) -> dict[str, Any]:
    found = await own_api.ask(exchange, "/api/v2/core/applications/", slug=slug, limit=1)
    if not found["results"]:
        raise NotFound
    application: dict[str, Any] = found["results"][0]
    return application


class TriedEntry(msgspec.Struct):
    """What would happen if somebody opened the application now."""

    username: str
    passing: bool
    messages: list[str]
    log: list[str]
    told: str  # what the application would learn of them


async def _try(exchange: Exchange, application: Mapping[str, Any], username: str) -> TriedEntry:
    person = await bound.find_person(exchange, username)
    path = f"/api/v2/core/applications/{application['pk']}/check_access/"
    verdict = await own_api.ask(exchange, path, for_user=person)
    return TriedEntry(
        username=username,
        passing=verdict["passing"],
        messages=verdict["messages"],
        log=verdict["log_messages"],
        told=await _preview(exchange, application["provider"], person) if verdict["passing"] else "",
    )


async def _preview(exchange: Exchange, provider: int | None, person: int) -> str:
    setup = await setup_of(exchange, provider, "") if provider is not None else None
    if setup is None or not setup.has_preview:
        return ""
    told = await own_api.ask(exchange, f"/api/v2{setup.path}{provider}/preview_user/", for_user=person)
    return msgspec.json.format(msgspec.json.encode(told["preview"]), indent=2).decode()


async def _page(
    exchange: Exchange,
    visitor: identity.Visitor,
    slug: str,
    *,
    tried: TriedEntry | None = None,
    errors: Mapping[str, Any] | None = None,
    typed: Mapping[str, Any] | None = None,
) -> Answer:
    application = await _find(exchange, slug)
    setup: ProviderSetup | None = None
    if application["provider"] is not None:
        setup = await setup_of(exchange, application["provider"], exchange.query("for")[:40])
    return admin_page(
        exchange,
        "application.html",
        visitor,
        status=400 if errors else 200,
        heading=application["name"],
        app=application,
        setup=setup,
        kind=way_in(setup.kind) if setup is not None else "",
        is_new=exchange.query("made") == "true",
        clients=await clients_of(exchange, application["provider"]),
        may_end=known_rights(exchange).may("providers.delete_registeredclient"),
        deciders=await _deciders(exchange, application["pk"]),
        groups=await bound.group_options(exchange),
        policies=await bound.policy_options(exchange),
        tried=tried,
        errors={text_field(dict(typed or {}), "do"): errors} if errors else {},
        typed={name: _typed(typed if typed and typed.get("do") == name else {}) for name in ("bind", "try")},
    )


def _typed(form: Mapping[str, Any]) -> dict[str, str]:
    return {name: text_field(dict(form), name) for name in ("group", "policy", "user", "negate")}


async def _deciders(exchange: Exchange, target: str) -> list[bound.Decider] | None:
    """None for those who may not see them."""
    try:
        return (await bound.deciders(exchange, [target]))[target]
    except Forbidden:
        return None


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


routes = [show_all, choose_software, ask, save, show, act]
