"""The frame of all settings: their menu, in the client's own frame. /settings lists them with a word about each."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec

from kith.base.exchange import Answer, Exchange
from kith.base.routing import get
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.social.accounts.user_accounts import of_user
from kith.social.ids import UserId
from kith.web.client.frame import PageMember, client_page
from kith.web.pages import see_other
from kith.web.translation import translatable

__all__ = ["entered", "routes", "settings_page"]


class SettingsPart(msgspec.Struct, frozen=True):
    """One page of the settings. `for_members`: only for those whose account may act."""

    key: str
    address: str
    words: str
    about: str
    for_members: bool = True


GROUPS: tuple[tuple[str, tuple[SettingsPart, ...]], ...] = (
    (
        translatable("You"),
        (
            SettingsPart(
                "profile",
                "/settings/profile",
                translatable("Profile"),
                translatable("Your name, pictures and what others read about you."),
            ),
            SettingsPart(
                "preferences",
                "/settings/preferences",
                translatable("Preferences"),
                translatable("How you post and read, your language, and e-mails about notifications."),
            ),
            SettingsPart(
                "notifications",
                "/settings/notifications",
                translatable("Notifications"),
                translatable("What this device tells you, also while no page is open."),
            ),
        ),
    ),
    (
        translatable("What you see"),
        (
            SettingsPart(
                "filters",
                "/settings/filters",
                translatable("Filters"),
                translatable("Hide posts with certain words."),
            ),
            SettingsPart(
                "mutes",
                "/settings/mutes",
                translatable("Muted people"),
                translatable("People whose posts you do not see."),
            ),
            SettingsPart(
                "blocks",
                "/settings/blocks",
                translatable("Blocked people"),
                translatable("People who cannot reach you."),
            ),
            SettingsPart(
                "domain_blocks",
                "/settings/domain_blocks",
                translatable("Blocked servers"),
                translatable("Servers of which you see nobody."),
            ),
        ),
    ),
    (
        translatable("Your account"),
        (
            SettingsPart(
                "security",
                "/settings/security",
                translatable("Security"),
                translatable("Password, two-factor sign-in, sessions and recent activity."),
                for_members=False,
            ),
            SettingsPart(
                "applications",
                "/settings/applications",
                translatable("Apps with access"),
                translatable("Apps that can use your account."),
                for_members=False,
            ),
            SettingsPart(
                "access",
                "/settings/access",
                translatable("Access on request"),
                translatable("Ask for applications and groups for a while."),
                for_members=False,
            ),
            SettingsPart(
                "invites",
                "/settings/invites",
                translatable("Invitations"),
                translatable("Links that let others sign up here."),
            ),
            SettingsPart(
                "statuses_cleanup",
                "/settings/statuses_cleanup",
                translatable("Automatic deletion"),
                translatable("Have your old posts deleted for you."),
            ),
            SettingsPart(
                "export",
                "/settings/export",
                translatable("Export"),
                translatable("Take your follows, lists and blocks with you."),
            ),
            SettingsPart(
                "import",
                "/settings/import",
                translatable("Import"),
                translatable("Bring along what you exported elsewhere."),
            ),
            SettingsPart(
                "moving",
                "/settings/moving",
                translatable("Moving"),
                translatable("From or to an account on another server."),
                for_members=False,
            ),
            SettingsPart(
                "strikes",
                "/disputes/strikes",
                translatable("Decisions about you"),
                translatable("What the team did about your account, and how to appeal."),
            ),
            SettingsPart(
                "delete",
                "/settings/delete",
                translatable("Delete account"),
                translatable("Leave, and take down everything you posted."),
                for_members=False,
            ),
        ),
    ),
)


async def entered(exchange: Exchange) -> PageMember | Answer:
    """Whoever looks at their own settings; strangers are asked to sign in, and come back to the page."""
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        here = exchange.path if exchange.method == "GET" else "/settings"
        return see_other(f"/flows/-/default/authentication/?next={quote(here, safe='/')}")
    return PageMember(visitor, await of_user(exchange.work, UserId(visitor.user.id)))


async def settings_page(
    exchange: Exchange, template: str, visitor: identity.Visitor, *, part: str, status: int = 200, **values: Any
) -> Answer:
    """Whoever was shut out or has moved away sees what is left to them."""
    account = await of_user(exchange.work, UserId(visitor.user.id))
    member = PageMember(visitor, account) if account.may_act else None
    groups = [(words, [one for one in parts if member is not None or not one.for_members]) for words, parts in GROUPS]
    return await client_page(
        exchange,
        template,
        member,
        here="settings",
        status=status,
        part=part,
        parts=[(words, parts) for words, parts in groups if parts],
        **values,
    )


@get("/settings")
async def show_settings(exchange: Exchange, work: Work) -> Answer:  # noqa: ARG001 - read in the page
    member = await entered(exchange)
    if isinstance(member, Answer):
        return member
    return await settings_page(exchange, "settings/index.html", member.visitor, part="")


routes = [show_settings]
