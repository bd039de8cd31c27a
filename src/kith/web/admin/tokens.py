"""/admin/tokens: tokens and app passwords: whose they are, what for, until when; new ones, and their end."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from kith.base.errors import Forbidden, Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.moments import read_moment
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.console_rights import known_rights
from kith.web.admin.frame import admin_page, enter_with
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["routes"]

PLACE, API = "/admin/tokens", "/api/v2/core/tokens/"
PER_PAGE = 50
KINDS = (
    ("api", translatable("Token for the API")),
    ("app_password", translatable("App password")),
)
INTENTS = dict(KINDS) | {
    "verification": translatable("Confirmation"),
    "recovery": translatable("Recovery"),
}
_NOT_A_DAY = translatable("Please choose a date in the future.")
_PROVE = translatable("Please enter your password, to show that it is you.")
_KNOWN = (
    translatable("You may only make tokens for yourself."),
    translatable("This is not your password."),
)


@get(PLACE)
async def show_tokens(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, PLACE)
    if visitor is None:
        return admin_page(exchange, "tokens/list.html", None)
    rights = known_rights(exchange)
    search, name = exchange.query("search").strip()[:200], exchange.query("user").strip().lstrip("@")[:150]
    offset, user = _number(exchange.query("offset")), ""
    told: dict[str, Any] = {"results": [], "count": 0}
    if name:
        user = await _find(exchange, name)
    if not name or user:
        told = await own_api.ask(exchange, API, search=search, user=user, limit=PER_PAGE, offset=offset)
    names = await identity.staff_lists.usernames(exchange.work, sorted({one["user"] for one in told["results"]}))
    return admin_page(
        exchange,
        "tokens/list.html",
        visitor,
        tokens=told["results"],
        names=names,
        intents=INTENTS,
        search=search,
        of=name,
        count=told["count"],
        offset=offset,
        older=offset + PER_PAGE if offset + PER_PAGE < told["count"] else 0,
        newer=max(0, offset - PER_PAGE),
        may_end=rights.may("core.delete_token"),
        now=exchange.work.now.isoformat(),
    )


async def _find(exchange: Exchange, name: str) -> str:
    try:
        return str((await identity.staff.get_user(exchange.work, name)).id)
    except Invalid:
        return ""


@get(f"{PLACE}/new")
async def show_form(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, PLACE)
    if visitor is None:
        return admin_page(exchange, "tokens/new.html", None)
    return _form(exchange, visitor, {"username": exchange.query("user")[:150] or visitor.user.username})


def _form(
    exchange: Exchange,
    visitor: identity.Visitor,
    given: dict[str, str],
    errors: dict[str, list[str]] | None = None,
) -> Answer:
    return admin_page(
        exchange,
        "tokens/new.html",
        visitor,
        status=400 if errors else 200,
        given={"intent": "api", "scopes": "api", "expires": "", "description": "", **given},
        errors=errors or {},
        kinds=KINDS,
        for_others=known_rights(exchange).may("core.add_token"),
        is_fresh=identity.account_settings.is_fresh(exchange.work, visitor),
    )


@post(PLACE)
async def make_token(exchange: Exchange) -> Answer:
    """The answer is the one place where the key is ever shown, so it is the page itself."""
    _, form = await read_own_form(exchange)
    visitor = await enter_with(exchange, PLACE)
    if visitor is None:
        return admin_page(exchange, "tokens/new.html", None)
    given = {name: text_field(form, name) for name in ("username", "intent", "description", "scopes", "expires")}
    given["username"] = given["username"].lstrip("@") or visitor.user.username
    try:
        values = await _read(exchange, given)
        password = form.get("current_password")
        if isinstance(password, str) and password:
            values["current_password"] = password
        made = msgspec.json.decode((await own_api.call(exchange, "POST", API, json=values)).body)
    except Invalid as problem:
        errors = {name: [str(one) for one in said] for name, said in problem.fields.items()}
        errors["username"] = errors.get("username", []) + errors.pop("user", [])
        await exchange.end_work(commit=False)
        return _form(exchange, visitor, given, {name: said for name, said in errors.items() if said})
    except Forbidden as problem:
        await exchange.end_work(commit=False)
        is_asked = problem.code == "confirmation_needed"
        wrong = {"current_password": [_PROVE]} if is_asked else {"username": [problem.message]}
        return _form(exchange, visitor, given, wrong)
    return admin_page(
        exchange,
        "revealed.html",
        visitor,
        status=201,
        heading=translatable("Tokens"),
        name=made["description"] or made["identifier"],
        list_at=PLACE,
        words=translatable("The new key. Copy it now: it is not shown again."),
        secret=made["key"],
    )


async def _read(exchange: Exchange, given: dict[str, str]) -> dict[str, Any]:
    wrong: dict[str, list[str]] = {}
    values: dict[str, Any] = {"intent": given["intent"], "description": given["description"], "expiring": False}
    if not given["description"]:
        wrong["description"] = [translatable("Please enter what it is for.")]
    if given["intent"] == "api":
        values["scopes"] = given["scopes"]
        if not given["scopes"]:
            wrong["scopes"] = [translatable("Please enter at least one scope.")]
    if given["expires"]:
        until = _end_of(given["expires"])
        if until is None or until <= exchange.work.now:
            wrong["expires"] = [_NOT_A_DAY]
        else:
            values |= {"expires": until.isoformat(), "expiring": True}
    try:
        values["user"] = (await identity.staff.get_user(exchange.work, given["username"])).id
    except Invalid as problem:
        wrong["username"] = [str(one) for said in problem.fields.values() for one in said]
    if wrong:
        raise Invalid(fields=wrong)
    return values


def _end_of(day: str) -> datetime | None:
    return read_moment(f"{day}T23:59:59")


@post(f"{PLACE}/{{id}}/revoke")
async def revoke_token(exchange: Exchange, id: FromPath[str]) -> Answer:
    await read_own_form(exchange)
    visitor = await enter_with(exchange, PLACE)
    if visitor is None:
        return admin_page(exchange, "tokens/list.html", None)
    known = identity.read_uuid(id)
    if known is None:
        raise NotFound
    await own_api.call(exchange, "DELETE", f"{API}{known}/")
    return see_other(PLACE)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


routes = [show_tokens, show_form, make_token, revoke_token]
