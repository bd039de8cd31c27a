"""/admin/groups: groups and who is in them, one member at a time, for good or until a day."""

from __future__ import annotations

from typing import Any

from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.console_rights import known_rights
from kith.web.admin.frame import admin_page, enter
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field

__all__ = ["routes"]

PER_PAGE = 50


@get("/admin/groups")
async def show_groups(exchange: Exchange) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "groups/list.html", None)
    known_rights(exchange).need("core.view_group")
    search, offset = exchange.query("search").strip()[:200], _number(exchange.query("offset"))
    told = await own_api.ask(exchange, "/api/v2/core/groups/", search=search, limit=PER_PAGE, offset=offset)
    return admin_page(
        exchange, "groups/list.html", visitor, groups=told["results"], search=search, **_pages(offset, told["count"])
    )


@get("/admin/groups/{id}")
async def show_group(exchange: Exchange, id: FromPath[str]) -> Answer:
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "groups/group.html", None)
    known_rights(exchange).need("core.view_group")
    return await _group(exchange, visitor, id)


async def _group(exchange: Exchange, visitor: identity.Visitor, id: str, **more: Any) -> Answer:
    place = _place(id)
    offset = _number(exchange.query("offset"))
    group = await own_api.ask(exchange, place)
    parent = await own_api.ask(exchange, _place(group["parent"])) if group["parent"] else None
    told = await own_api.ask(exchange, f"{place}members/", limit=PER_PAGE, offset=offset)
    shown = {"errors": [], "given": "", **more}
    status = 400 if shown["errors"] else 200
    pages = _pages(offset, told["count"])
    return admin_page(
        exchange,
        "groups/group.html",
        visitor,
        status=status,
        group=group,
        parent=parent,
        members=told["results"],
        **pages,
        **shown,
    )


@post("/admin/groups/{id}/members")
async def add_member(exchange: Exchange, id: FromPath[str]) -> Answer:
    """By name, until the end of a day if one is given."""
    _, form = await read_own_form(exchange)
    visitor = await enter(exchange)
    if visitor is None:
        return admin_page(exchange, "groups/group.html", None)
    known_rights(exchange).need("core.change_group")
    name, until = text_field(form, "username").lstrip("@"), text_field(form, "until")
    sent: dict[str, Any] = {"expires": f"{until}T23:59:59Z"} if until else {}
    try:
        sent["pk"] = (await identity.staff.get_user(exchange.work, name)).id
        await own_api.call(exchange, "POST", f"{_place(id)}add_user/", json=sent)
    except Invalid as problem:
        await exchange.end_work(commit=False)
        words = [str(one) for said in problem.fields.values() for one in said]
        return await _group(exchange, visitor, id, errors=words, given=name)
    return see_other(f"/admin/groups/{id}")


def _place(id: str) -> str:
    known = identity.read_uuid(id)
    if known is None:
        raise NotFound
    return f"/api/v2/core/groups/{known}/"


def _pages(offset: int, count: int) -> dict[str, Any]:
    older = offset + PER_PAGE if offset + PER_PAGE < count else 0
    return {"count": count, "offset": offset, "older": older, "newer": max(0, offset - PER_PAGE)}


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


routes = [show_groups, show_group, add_member]
