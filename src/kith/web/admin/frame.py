"""The frame of the console: what there is to look after, by what the visitor may see."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.identity import for_pages as identity
from kith.web.admin.console_rights import ConsoleRights, find_rights, known_rights
from kith.web.client.frame import sign_in_first
from kith.web.pages import back_from, page
from kith.web.translation import translatable

__all__ = ["admin_page", "enter", "enter_with", "may_open", "staff_page"]

TEAM, SUPERUSER = "team", "superuser"


class Area(msgspec.Struct, frozen=True):
    """A group of pages in the console's menu."""

    words: str
    pages: tuple[tuple[str, str], ...]  # addresses and their names


AREAS = (
    Area(translatable("People"), (
        ("/admin/people", translatable("People")),
        ("/admin/groups", translatable("Groups")),
        ("/admin/roles", translatable("Roles")),
        ("/admin/invitations", translatable("Invitations")),
        ("/admin/tokens", translatable("Tokens")),
        ("/staff/signups/", translatable("Sign-ups")),
    )),
    Area(translatable("Applications"), (
        ("/admin/applications", translatable("Applications")),
        ("/admin/kinds/providers", translatable("Providers")),
        ("/admin/kinds/propertymappings", translatable("Mappings")),
        ("/admin/certificates", translatable("Certificates")),
    )),
    Area(translatable("Signing in"), (
        ("/admin/flows", translatable("Flows")),
        ("/admin/kinds/stages", translatable("Stages")),
        ("/admin/kinds/policies", translatable("Policies")),
        ("/admin/sources", translatable("Sources")),
    )),
    Area(translatable("What happened"), (
        ("/admin/records/audit/events", translatable("Events")),
        ("/staff/refusals/", translatable("Denied access")),
        ("/admin/audit", translatable("Audit")),
    )),
    Area(translatable("Moderation"), (
        ("/admin/reports", translatable("Reports")),
        ("/admin/appeals", translatable("Appeals")),
        ("/admin/trends", translatable("Trends")),
        ("/admin/email_domain_blocks", translatable("Blocked mail providers")),
        ("/admin/canonical_email_blocks", translatable("Blocked mail addresses")),
        ("/admin/ip_blocks", translatable("Blocked IP addresses")),
        ("/admin/warning_presets", translatable("Texts of warnings")),
    )),
    Area(translatable("Community"), (
        ("/admin/settings", translatable("Settings")),
        ("/admin/rules", translatable("Rules")),
        ("/admin/announcements", translatable("Announcements")),
        ("/admin/emoji", translatable("Emoji")),
        ("/admin/mails", translatable("Texts of mails")),
    )),
    Area(translatable("Other servers"), (
        ("/admin/federation", translatable("Servers we know")),
        ("/admin/domain_blocks", translatable("Blocked servers")),
        ("/admin/domain_allows", translatable("Allowed servers")),
        ("/admin/block_lists", translatable("Block lists")),
        ("/admin/relays", translatable("Relays")),
    )),
    Area(translatable("Machinery"), (
        ("/admin/jobs", translatable("Jobs")),
        ("/admin/backups", translatable("Backups")),
        ("/admin/webhooks", translatable("Webhooks")),
        ("/admin/blueprints", translatable("Blueprints")),
    )),
)  # fmt: skip


# What one must be allowed for pages whose addresses do not tell it; a name with a dot is of the identity API.
NEEDS: dict[str, tuple[str, ...]] = {
    "/admin/people": ("core.view_user", "manage_users"),
    "/admin/groups": ("core.view_group",),
    "/admin/roles": ("rbac.view_role", "manage_roles"),
    "/admin/invitations": ("stages.view_invitation", "stages.add_invitation", "manage_invites"),
    "/admin/tokens": ("core.view_token", "core.add_token"),
    "/admin/reports": ("manage_reports",),
    "/admin/appeals": ("manage_appeals",),
    "/admin/trends": ("manage_taxonomies",),
    "/admin/announcements": ("manage_announcements",),
    "/admin/emoji": ("manage_custom_emojis",),
    "/admin/rules": ("manage_rules",),
    "/admin/warning_presets": ("manage_settings",),
    "/admin/settings": ("manage_settings",),
    "/admin/mails": ("manage_settings",),
    "/admin/audit": ("view_audit_log",),
    "/admin/webhooks": ("manage_webhooks",),
    "/admin/domain_blocks": ("manage_federation",),
    "/admin/domain_allows": ("manage_federation",),
    "/admin/block_lists": ("manage_federation",),
    "/admin/relays": ("manage_federation",),
    "/admin/federation": ("manage_federation",),
    "/admin/email_domain_blocks": ("manage_blocks",),
    "/admin/canonical_email_blocks": ("manage_blocks",),
    "/admin/ip_blocks": ("manage_blocks",),
    "/admin/jobs": ("view_devops",),
    "/admin/backups": ("view_devops",),
    "/staff/refusals": (SUPERUSER,),
    "/staff/signups": (TEAM,),
}
# Pages of their own for records; who may see the records may see these.
SAME_AS = {
    "/admin/applications": "/admin/records/core/applications",
    "/admin/blueprints": "/admin/records/managed/blueprints",
    "/admin/certificates": "/admin/records/crypto/certificatekeypairs",
    "/admin/flows": "/admin/records/flows/instances",
    "/admin/sources": "/admin/kinds/sources",
}
_by_path = {f"/admin/records{one.path}".rstrip("/"): one for one in identity.RESOURCES}


def may_open(rights: ConsoleRights, address: str) -> bool:
    """Whether a page of the menu is for this person; what nothing is said about is for all who come in."""
    place = address.rstrip("/")
    place = SAME_AS.get(place, place)
    if place in NEEDS:
        return any(_may(rights, name) for name in NEEDS[place])
    if place in _by_path:
        return rights.may(_by_path[place].permission("view"))
    if place.startswith("/admin/kinds/"):
        area = place.rpartition("/")[2]
        return rights.may(*(one.permission("view") for one in identity.RESOURCES if one.area == area))
    return True


def _may(rights: ConsoleRights, name: str) -> bool:
    if name == TEAM:
        return rights.visitor.is_superuser or rights.visitor.user.role in identity.TEAM
    return rights.is_superuser if name == SUPERUSER else rights.may(name)


def areas_for(rights: ConsoleRights) -> list[Area]:
    found = [Area(one.words, tuple(page for page in one.pages if may_open(rights, page[0]))) for one in AREAS]
    return [one for one in found if one.pages]


async def enter(exchange: Exchange) -> identity.Visitor | None:
    """Whoever belongs to the team, or has any right of the identity API; for others there is no such page."""
    rights = await find_rights(exchange)
    if rights is None:
        return None
    if not all(may_open(rights, place) for place in SAME_AS if f"{exchange.path}/".startswith(f"{place}/")):
        raise NotFound
    return rights.visitor


async def enter_with(exchange: Exchange, address: str) -> identity.Visitor | None:
    """Whoever may open this page of the menu; for others there is none. None for whoever is not signed in."""
    rights = await find_rights(exchange)
    if rights is None:
        return None
    if not may_open(rights, address):
        raise NotFound
    return rights.visitor


def admin_page(
    exchange: Exchange, template: str, visitor: identity.Visitor | None, *, status: int = 200, **values: Any
) -> Answer:
    if visitor is None:
        return sign_in_first(exchange)
    return page(exchange, f"admin/{template}", status=status, **(_known(exchange, visitor) | values))


async def staff_page(
    exchange: Exchange, template: str, visitor: identity.Visitor, *, status: int = 200, **values: Any
) -> Answer:
    """A page of those who look after people, in the frame of the console."""
    await find_rights(exchange)
    return page(exchange, f"staff/{template}", status=status, **(_known(exchange, visitor) | values))


def _known(exchange: Exchange, visitor: identity.Visitor) -> dict[str, Any]:
    rights = known_rights(exchange)
    return {
        "visitor": visitor,
        "rights": rights,
        "areas": areas_for(rights),
        "place": exchange.path.rstrip("/"),
        "here": back_from(exchange),
    }
