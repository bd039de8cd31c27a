"""/admin/invitations: every link with which somebody may join, for the community and for single flows."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.moments import read_moment
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.console_rights import ConsoleRights, known_rights
from kith.web.admin.frame import admin_page, enter_with
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["routes"]

PLACE, API, TEAM_API = "/admin/invitations", "/api/v2/stages/invitation/invitations/", "/api/v1/admin/invites"
PER_PAGE = 50
KNOWN_DATA = (
    ("username", translatable("User name")),
    ("name", translatable("Name")),
    ("email", translatable("E-mail address")),
)
FREE_ROWS = 3
MOST_DATA = 1000
_NOT_A_DAY = translatable("Please choose a date in the future.")
_KNOWN = (
    translatable("Enter a valid 'slug' consisting of letters, numbers, underscores or hyphens."),
    translatable("Ensure this field has no more than 50 characters."),
)


@get(PLACE)
async def show_invitations(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, PLACE)
    if visitor is None:
        return admin_page(exchange, "invitations/list.html", None)
    rights, work = known_rights(exchange), exchange.work
    search, offset = exchange.query("search").strip()[:100], _number(exchange.query("offset"))
    lines: list[identity.staff_lists.InvitationLine] = []
    if _may_see(rights):
        lines = await identity.staff_lists.invitation_lines(work, search, offset=offset, most=PER_PAGE + 1)
    base = work.settings.base_url
    return admin_page(
        exchange,
        "invitations/list.html",
        visitor,
        lines=[(one, one.address(base), one.is_over(work.now)) for one in lines[:PER_PAGE]],
        older=offset + PER_PAGE if len(lines) > PER_PAGE else 0,
        newer=max(0, offset - PER_PAGE),
        offset=offset,
        search=search,
        made=exchange.query("made")[:40],
        may_add=_may_add(rights),
        may_end=rights.may("manage_invites", "stages.delete_invitation"),
    )


def _may_see(rights: ConsoleRights) -> bool:
    return rights.may("stages.view_invitation", "manage_invites")


def _may_add(rights: ConsoleRights) -> bool:
    return rights.may("stages.add_invitation", "manage_invites")


@get(f"{PLACE}/new")
async def show_form(exchange: Exchange) -> Answer:
    visitor = await _adding(exchange)
    return admin_page(exchange, "invitations/new.html", None) if visitor is None else await _form(exchange, visitor)


async def _adding(exchange: Exchange) -> identity.Visitor | None:
    visitor = await enter_with(exchange, PLACE)
    if visitor is not None and not _may_add(known_rights(exchange)):
        raise NotFound
    return visitor


async def _form(
    exchange: Exchange,
    visitor: identity.Visitor,
    given: dict[str, Any] | None = None,
    errors: dict[str, list[str]] | None = None,
) -> Answer:
    rights = known_rights(exchange)
    is_whole = rights.may("stages.add_invitation")
    flows: list[Any] = []
    if is_whole and rights.may("flows.view_flow"):
        path = "/api/v2/flows/instances/"
        flows = (await own_api.ask(exchange, path, designation="enrollment", limit=100))["results"]
    return admin_page(
        exchange,
        "invitations/new.html",
        visitor,
        status=400 if errors else 200,
        is_whole=is_whole,
        flows=flows,
        known_data=KNOWN_DATA,
        rows=range(1, FREE_ROWS + 1),
        given=given or {"single_use": "true"},
        errors=errors or {},
    )


@post(PLACE)
async def make_invitation(exchange: Exchange) -> Answer:
    _, form = await read_own_form(exchange)
    visitor = await _adding(exchange)
    if visitor is None:
        return admin_page(exchange, "invitations/new.html", None)
    is_whole = known_rights(exchange).may("stages.add_invitation")
    given = {name: text_field(form, name) for name in form}
    expires, errors = _read_end(given.get("expires", ""), exchange.work.now)
    if not errors:
        try:
            made = await _make(exchange, given, expires, is_whole=is_whole)
        except Invalid as problem:
            errors = {name: [str(one) for one in said] for name, said in problem.fields.items()}
            await exchange.end_work(commit=False)
        else:
            return see_other(f"{PLACE}?made={made}")
    return await _form(exchange, visitor, given, errors)


async def _make(exchange: Exchange, given: dict[str, str], expires: datetime | None, *, is_whole: bool) -> str:
    single = given.get("single_use") == "true"
    values: dict[str, Any] = {"name": given.get("name", ""), "single_use": single}
    if is_whole:
        values |= {"expires": expires and expires.isoformat(), "fixed_data": _data(given)}
        values["flow"] = given.get("flow") or None
        answer = await own_api.call(exchange, "POST", API, json=values)
        return str(msgspec.json.decode(answer.body)["pk"])
    if expires is not None:
        values["expires_in"] = int((expires - exchange.work.now).total_seconds())
    answer = await own_api.call(exchange, "POST", TEAM_API, json=values)
    return str(msgspec.json.decode(answer.body)["id"])


def _read_end(day: str, now: datetime) -> tuple[datetime | None, dict[str, list[str]]]:
    """The end of a day; none is given for an invitation that does not end by itself."""
    if not day:
        return None, {}
    until = read_moment(f"{day}T23:59:59")
    return (until, {}) if until is not None and until > now else (None, {"expires": [_NOT_A_DAY]})


def _data(given: dict[str, str]) -> dict[str, str]:
    """What is answered beforehand: the usual questions, and others by their names."""
    found = {name: given.get(f"data_{name}", "") for name, _ in KNOWN_DATA}
    for row in range(1, FREE_ROWS + 1):
        found[given.get(f"key_{row}", "")] = given.get(f"value_{row}", "")
    return {name[:100]: value[:MOST_DATA] for name, value in found.items() if name and value}


@post(f"{PLACE}/{{id}}/end")
async def end_invitation(exchange: Exchange, id: FromPath[str]) -> Answer:
    await read_own_form(exchange)
    visitor = await enter_with(exchange, PLACE)
    if visitor is None:
        return admin_page(exchange, "invitations/list.html", None)
    known = identity.read_uuid(id)
    if known is None:
        raise NotFound
    if known_rights(exchange).may("manage_invites"):
        await own_api.call(exchange, "DELETE", f"{TEAM_API}/{known}")
    else:
        await own_api.call(exchange, "DELETE", f"{API}{known}/")
    return see_other(PLACE)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0


routes = [show_invitations, show_form, make_invitation, end_invitation]
