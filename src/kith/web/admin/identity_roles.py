"""/admin/roles/identity: what somebody may do with the records of the identity half, as tick boxes by kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.web import own_api
from kith.web.admin.console_rights import known_rights
from kith.web.admin.frame import admin_page, enter_with
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["routes"]

ROLES, PLACE = "/admin/roles", "/admin/roles/identity"
API = "/api/v2/rbac/roles/"
VERBS = (
    ("view", "list", translatable("see")),
    ("add", "create", translatable("add")),
    ("change", "partial_update", translatable("change")),
    ("delete", "delete", translatable("delete")),
)
AREAS = {
    "core": translatable("People and applications"),
    "rbac": translatable("Roles"),
    "audit": translatable("What happened"),
    "events": translatable("Notifications of events"),
    "flows": translatable("Flows"),
    "stages": translatable("Stages"),
    "policies": translatable("Policies"),
    "providers": translatable("Providers"),
    "propertymappings": translatable("Mappings"),
    "sources": translatable("Sources"),
    "crypto": translatable("Certificates"),
    "managed": translatable("Blueprints"),
}
# What goes beyond seeing, adding, changing and deleting a kind of records.
SPECIAL = (
    ("core.reset_user_password", translatable("Set other people's passwords")),
    ("core.remove_user_factor", translatable("Remove other people's sign-in methods")),
    ("core.lockdown_user", translatable("Lock other people's accounts")),
    ("core.view_secret", translatable("See secrets that are masked for others")),
    ("crypto.view_certificatekeypair_key", translatable("Download private keys")),
    ("flows.inspect_flow", translatable("Rehearse flows")),
    ("flows.export_flow", translatable("Export flows")),
)
_KNOWN = (
    translatable("A role cannot grant what you may not do yourself."),
    translatable("This field is required."),
    translatable("This field must be unique."),
    translatable("A role that grants more than you have cannot be assigned by you."),
)
_WORD = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z][a-z]+[0-9]*|[a-z]+")


class RecordKind(msgspec.Struct, frozen=True):
    """A kind of records, and what can be permitted with it: permissions and their words.

    `leads_to` is what whoever has these permissions can bring about.
    """

    name: str
    area: str
    choices: tuple[tuple[str, str], ...]
    leads_to: str = ""


def _kinds() -> tuple[RecordKind, ...]:
    found = [
        RecordKind(
            " ".join(_WORD.findall(one.name)),
            one.area,
            tuple((one.permission(verb), words) for verb, operation, words in VERBS if operation in one.allow),
            identity.power_of(one).leads_to,
        )
        for one in identity.RESOURCES
    ]
    return (RecordKind("", "", SPECIAL), *found)


KINDS = _kinds()
_named = {permission for kind in KINDS for permission, _ in kind.choices}


@get(f"{PLACE}/{{id}}")
async def show_role(exchange: Exchange, id: FromPath[str]) -> Answer:
    visitor = await _entered(exchange, id)
    if visitor is None:
        return admin_page(exchange, "roles/identity.html", None)
    return await _page(exchange, visitor, id, await _stored(exchange, id))


@post(f"{PLACE}/{{id}}")
async def save_role(exchange: Exchange, id: FromPath[str]) -> Answer:
    """What was not on the page, because something was searched for, stays as it was."""
    _, form = await read_own_form(exchange)
    visitor = await _entered(exchange, id)
    if visitor is None:
        return admin_page(exchange, "roles/identity.html", None)
    if form.get("_delete") == "true" and id != "new":
        await own_api.call(exchange, "DELETE", _path(id))
        return see_other(ROLES)
    stored = await _stored(exchange, id)
    search = text_field(form, "search")[:200]
    shown = {permission for kind in _found(search) for permission, _ in kind.choices}
    ticked = _listed(form.get("permissions")) + _listed(form.get("others"))
    kept = [one for one in stored["permissions"] if one not in shown and (one in _named or "others" not in form)]
    values = {"name": text_field(form, "name"), "permissions": list(dict.fromkeys([*kept, *ticked]))}
    try:
        if id == "new":
            await own_api.call(exchange, "POST", API, json=values)
        else:
            await own_api.call(exchange, "PATCH", _path(id), json=values)
    except Invalid as problem:
        errors = {name: [str(one) for one in said] for name, said in problem.fields.items()}
        await exchange.end_work(commit=False)
        return await _page(exchange, visitor, id, stored | values, search=search, errors=errors)
    return see_other(ROLES)


@post(f"{PLACE}/{{id}}/people")
async def give_role(exchange: Exchange, id: FromPath[str]) -> Answer:
    """To somebody by name, or away from whom `_take` names: as a change of their record."""
    _, form = await read_own_form(exchange)
    visitor = await _entered(exchange, id)
    if visitor is None:
        return admin_page(exchange, "roles/identity.html", None)
    known_rights(exchange).need("core.change_user")
    name = text_field(form, "username").lstrip("@")
    try:
        user = await identity.staff.get_user(exchange.work, name)
        path = f"/api/v2/core/users/{user.id}/"
        held = [one for one in (await own_api.ask(exchange, path))["roles"] if one != id]
        wanted = held if form.get("_take") == "true" else [*held, id]
        await own_api.call(exchange, "PATCH", path, json={"roles": wanted})
    except Invalid as problem:
        words = [str(one) for said in problem.fields.values() for one in said]
        await exchange.end_work(commit=False)
        stored = await _stored(exchange, id)
        return await _page(exchange, visitor, id, stored, errors={"username": words}, given=name)
    return see_other(f"{PLACE}/{id}")


async def _entered(exchange: Exchange, id: str) -> identity.Visitor | None:
    visitor = await enter_with(exchange, ROLES)
    if visitor is not None:
        known_rights(exchange).need("rbac.add_role" if id == "new" else "rbac.view_role")
    return visitor


def _path(id: str) -> str:
    known = identity.read_uuid(id)
    if known is None:
        raise NotFound
    return f"{API}{known}/"


async def _stored(exchange: Exchange, id: str) -> dict[str, Any]:
    found: dict[str, Any] = {"name": "", "permissions": []} if id == "new" else await own_api.ask(exchange, _path(id))
    return found


def _listed(given: Any) -> list[str]:
    return [str(one)[:200] for one in given if one] if isinstance(given, list) else []


def _found(search: str) -> list[RecordKind]:
    """Kinds and single permissions whose names hold what is searched for."""
    word = search.lower()
    if not word:
        return list(KINDS)
    found = []
    for kind in KINDS:
        choices = kind.choices
        if word not in kind.name.lower().replace(" ", "") and word not in kind.name.lower():
            choices = tuple(one for one in choices if word in one[0].lower() or word in one[1].lower())
        if choices:
            found.append(msgspec.structs.replace(kind, choices=choices))
    return found


def _by_area(kinds: Sequence[RecordKind]) -> list[tuple[str, list[RecordKind]]]:
    special = [one for one in kinds if not one.area]
    areas = [(words, [one for one in kinds if one.area == area]) for area, words in AREAS.items()]
    return [(words, group) for words, group in ((translatable("Special rights"), special), *areas) if group]


async def _page(
    exchange: Exchange,
    visitor: identity.Visitor,
    id: str,
    role: dict[str, Any],
    *,
    search: str | None = None,
    errors: dict[str, list[str]] | None = None,
    given: str = "",
) -> Answer:
    rights = known_rights(exchange)
    search = exchange.query("search").strip()[:200] if search is None else search
    people, groups = ([], []) if id == "new" else await identity.staff_lists.role_holders(exchange.work, _uuid(id))
    return admin_page(
        exchange,
        "roles/identity.html",
        visitor,
        status=400 if errors else 200,
        id=id,
        role=role,
        held=set(role["permissions"]),
        search=search,
        special=identity.SPECIAL_POWERS,
        areas_of=_by_area(_found(search)),
        others=sorted(set(role["permissions"]) - _named) if not search else [],
        may=rights.permissions,
        errors=errors or {},
        given=given,
        people=people if rights.may("core.view_user") else None,
        groups=groups if rights.may("core.view_group") else None,
        may_save=rights.may("rbac.add_role" if id == "new" else "rbac.change_role"),
        may_delete=id != "new" and rights.may("rbac.delete_role"),
    )


def _uuid(id: str) -> str:
    known = identity.read_uuid(id)
    if known is None:
        raise NotFound
    return known


routes = [show_role, save_role, give_role]
