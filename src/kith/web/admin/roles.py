"""/admin/roles: the roles of both halves; here those of the community, what each permits, and who has it."""

from __future__ import annotations

from typing import Any

from kith.base.errors import Invalid, NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get, post
from kith.identity import for_pages as identity
from kith.social.roles.permissions import BITS, HARMLESS
from kith.social.roles.tables import EVERYONE
from kith.web import own_api
from kith.web.admin.console_rights import known_rights
from kith.web.admin.frame import admin_page, enter_with
from kith.web.admin.listing_pages import field_words
from kith.web.pages import see_other
from kith.web.settings.forms import read_own_form, text_field
from kith.web.translation import translatable

__all__ = ["routes"]

ROLES, API = "/admin/roles", "/api/v1/admin/roles"
SOME = 40
_NOTHING = translatable("Apps for Mastodon know this. It permits nothing here.")
WORDS: dict[str, tuple[str, str]] = {
    "administrator": (translatable("Everything"), translatable("All that is below, and what is added later.")),
    "view_dashboard": (translatable("See figures"), translatable("How many people are active, and what they do.")),
    "view_audit_log": (translatable("See what the team did"), translatable("The audit trail of all decisions.")),
    "view_devops": (translatable("See the machinery"), translatable("Jobs, failed ones, memory and disk.")),
    "view_feeds": (
        translatable("See all timelines"),
        _NOTHING,
    ),
    "manage_users": (
        translatable("Look after people"),
        translatable("See their details, warn, limit and suspend them."),
    ),
    "manage_user_access": (
        translatable("Manage access of people"),
        _NOTHING,
    ),
    "delete_user_data": (translatable("Delete people's data"), translatable("At once, without a way back.")),
    "manage_reports": (translatable("Decide about reports"), translatable("See them, and act on people and posts.")),
    "manage_appeals": (translatable("Decide about appeals"), translatable("Against what the team has decided.")),
    "manage_roles": (
        translatable("Make and give roles"),
        translatable("Roles below their own, with no more than they have."),
    ),
    "manage_invites": (translatable("Look after invitations"), translatable("See all links, and end them.")),
    "invite_users": (translatable("Invite people"), translatable("With links of their own.")),
    "invite_bypass_approval": (
        translatable("Invite without approval"),
        translatable("Whoever comes with their link is let in at once."),
    ),
    "manage_federation": (translatable("Look after other servers"), translatable("Block, allow and relay them.")),
    "manage_blocks": (
        translatable("Keep addresses out"),
        translatable("Mail providers, mail addresses and networks."),
    ),
    "manage_taxonomies": (translatable("Review trends"), translatable("Decide which hashtags, links and posts show.")),
    "manage_settings": (
        translatable("Change settings"),
        translatable("Name, sign-up, texts of mails and more, but not whether new members confirm their address."),
    ),
    "manage_rules": (translatable("Write the rules"), translatable("Those that members agree to.")),
    "manage_announcements": (translatable("Make announcements"), translatable("On everybody's pages, or by mail.")),
    "manage_custom_emojis": (translatable("Look after emoji"), translatable("Add, copy and switch them off.")),
    "manage_webhooks": (
        translatable("Look after webhooks"),
        translatable("Which programs are told what happens here."),
    ),
    "manage_email_subscriptions": (
        translatable("Look after e-mail subscriptions"),
        _NOTHING,
    ),
}


@get(ROLES)
async def show_roles(exchange: Exchange) -> Answer:
    visitor = await enter_with(exchange, ROLES)
    if visitor is None:
        return admin_page(exchange, "roles/list.html", None)
    rights = known_rights(exchange)
    search = exchange.query("search").strip()[:200]
    community, identity_roles = None, None
    if rights.may("manage_roles"):
        community = [one for one in await own_api.ask(exchange, API) if search.lower() in one["name"].lower()]
    if rights.may("rbac.view_role"):
        identity_roles = (await own_api.ask(exchange, "/api/v2/rbac/roles/", search=search, limit=200))["results"]
    return admin_page(
        exchange,
        "roles/list.html",
        visitor,
        search=search,
        community=community,
        identity_roles=identity_roles,
        words=WORDS,
    )


@get(f"{ROLES}/community/{{id}}")
async def show_role(exchange: Exchange, id: FromPath[str]) -> Answer:
    visitor = await _entered(exchange)
    if visitor is None:
        return admin_page(exchange, "roles/community.html", None)
    return await _page(
        exchange, visitor, id, {} if id == "new" else await own_api.ask(exchange, f"{API}/{_number(id)}")
    )


@post(f"{ROLES}/community/{{id}}")
async def save_role(exchange: Exchange, id: FromPath[str]) -> Answer:
    _, form = await read_own_form(exchange)
    visitor = await _entered(exchange)
    if visitor is None:
        return admin_page(exchange, "roles/community.html", None)
    if form.get("_delete") == "true" and id != "new":
        await own_api.call(exchange, "DELETE", f"{API}/{_number(id)}")
        return see_other(ROLES)
    values = _read(form, everyone=id == str(EVERYONE))
    try:
        if id == "new":
            await own_api.call(exchange, "POST", API, json=values)
        else:
            await own_api.call(exchange, "PATCH", f"{API}/{_number(id)}", json=values)
    except Invalid as problem:
        errors = field_words(exchange, problem)
        await exchange.end_work(commit=False)
        stored = {} if id == "new" else await own_api.ask(exchange, f"{API}/{_number(id)}")
        return await _page(exchange, visitor, id, stored | values, errors)
    return see_other(ROLES)


async def _entered(exchange: Exchange) -> identity.Visitor | None:
    visitor = await enter_with(exchange, ROLES)
    if visitor is not None:
        known_rights(exchange).need("manage_roles")
    return visitor


def _number(id: str) -> str:
    if not (id.lstrip("-").isdigit() and id.isascii() and len(id) < 20):
        raise NotFound
    return id


def _read(form: dict[str, Any], *, everyone: bool) -> dict[str, Any]:
    given = form.get("permissions_as_keys")
    values: dict[str, Any] = {"permissions_as_keys": [str(one) for one in given] if isinstance(given, list) else []}
    if everyone:
        return values
    position = text_field(form, "position")
    values |= {name: text_field(form, name) for name in ("name", "color")}
    values["highlighted"] = form.get("highlighted") == "true"
    values["position"] = int(position) if position.isascii() and position.isdigit() and len(position) < 10 else 0
    return values


async def _page(
    exchange: Exchange,
    visitor: identity.Visitor,
    id: str,
    role: dict[str, Any],
    errors: dict[str, list[str]] | None = None,
) -> Answer:
    rights = known_rights(exchange)
    holders: Any = None
    if id not in ("new", str(EVERYONE)) and rights.may("manage_users"):
        asked = {"role_ids": [id], "origin": "local", "limit": SOME}
        holders = await own_api.ask(exchange, "/api/v2/admin/accounts", **asked)
    named = [name for name in WORDS if id != str(EVERYONE) or BITS[name] & HARMLESS]
    return admin_page(
        exchange,
        "roles/community.html",
        visitor,
        status=422 if errors else 200,
        id=id,
        role={"name": "", "color": "", "position": 1, "highlighted": False, "permissions_as_keys": [], **role},
        is_everyone=id == str(EVERYONE),
        choices=[(name, *WORDS[name], rights.role.allows(name)) for name in named],
        own_position=rights.role.position,
        errors=errors or {},
        holders=holders,
        is_shipped=role.get("is_shipped", False),
    )


routes = [show_roles, show_role, save_role]
