"""The frame of the client's pages: where one can go, who one is, and the forms that all buttons of a page share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from kith.base.caches import UntilWritten
from kith.base.errors import Forbidden, Unauthenticated
from kith.base.exchange import Answer, Exchange, Headers
from kith.base.settings import Settings
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.social.accounts.entities import render
from kith.social.accounts.tables import Account
from kith.social.accounts.user_accounts import of_user
from kith.social.ids import UserId
from kith.social.languages import language
from kith.social.notifications.unread import unread_groups
from kith.web.admin.console_rights import may_enter
from kith.web.client.media_policy import media_policy
from kith.web.page_language import language_of
from kith.web.pages import page, see_other
from kith.web.translation import translatable

__all__ = [
    "PageMember",
    "check_open_to_strangers",
    "client_page",
    "find_member",
    "find_visible_member",
    "sign_in_first",
    "ways_of_strangers",
]

KEPT_SIZE = 16 << 10
Way = tuple[str, str, str, str]  # its name, address, picture and words

_WAYS: tuple[Way, ...] = (
    ("home", "/home", "home", translatable("Home")),
    ("notifications", "/notifications", "bell", translatable("Notifications")),
    ("explore", "/explore", "compass", translatable("Explore")),
    ("conversations", "/conversations", "mail", translatable("Conversations")),
    ("local", "/public/local", "people", translatable("Local")),
    ("public", "/public", "globe", translatable("Federated")),
    ("deck", "/deck", "columns", translatable("Columns")),
    ("bookmarks", "/bookmarks", "bookmark", translatable("Bookmarks")),
    ("favourites", "/favourites", "star", translatable("Favourites")),
    ("lists", "/lists", "list", translatable("Lists")),
    ("followed_tags", "/followed_tags", "hash", translatable("Followed hashtags")),
    ("applications", "/applications", "grid", translatable("Applications")),
    ("settings", "/settings", "gear", translatable("Settings")),
)
_STAFF = (("admin", "/admin", "shield", translatable("Console")),)
_STRANGERS = (
    ("explore", "/explore", "compass", translatable("Explore")),
    ("local", "/public/local", "people", translatable("Local")),
    ("public", "/public", "globe", translatable("Federated")),
    ("about", "/about", "info", translatable("About")),
    ("sign_in", "/auth/sign_in", "door", translatable("Sign in")),
)


class PageMember(msgspec.Struct, frozen=True):
    """Whoever looks at a page: as a person, and as an account."""

    visitor: identity.Visitor
    account: Account


async def find_member(exchange: Exchange) -> PageMember | None:
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return None
    account = await _account_of(exchange.work, UserId(visitor.user.id))
    if not account.may_act:
        raise Forbidden
    return PageMember(visitor, account)


async def _account_of(work: Work, user_id: UserId) -> Account:
    """Kept until somebody writes."""
    kept = work.find(UntilWritten)
    found = await kept.look_up(work.db, ("account", user_id), lambda: of_user(work, user_id), size=KEPT_SIZE)
    return found or await of_user(work, user_id)


async def find_visible_member(exchange: Exchange) -> PageMember | None:
    """For pages that also those may read who cannot take part, for a while or for good."""
    try:
        return await find_member(exchange)
    except Forbidden:
        return None


def check_open_to_strangers(exchange: Exchange) -> None:
    """For what knows nobody, such as feeds and frames of other sites: it is there only where everybody may read it."""
    if exchange.server.works.settings.is_members_only:
        raise Unauthenticated


def sign_in_first(exchange: Exchange) -> Answer:
    """And then come back to the page that was asked for."""
    query = exchange.query_string.decode("latin-1")
    here = f"{exchange.path}?{query}" if query else exchange.path
    return see_other(f"/flows/-/default/authentication/?next={quote(here, safe='')}")


def ways_of_strangers(settings: Settings) -> Sequence[Way]:
    """What only members read is not offered to others."""
    return [way for way in _STRANGERS if way[0] in ("about", "sign_in") or not settings.is_members_only]


async def _ways(exchange: Exchange, visitor: identity.Visitor | None) -> Sequence[Way]:
    if visitor is None:
        return ways_of_strangers(exchange.server.works.settings)
    return (*_WAYS, *_STAFF) if await may_enter(exchange, visitor) else _WAYS


def _who(visitor: identity.Visitor | None, ways: Sequence[Way]) -> Hashable:
    """What the frame shows of a visitor."""
    return visitor and (visitor.user.username, visitor.user.role, visitor.is_superuser, len(ways))


async def client_page(
    exchange: Exchange,
    template: str,
    member: PageMember | None,
    *,
    here: str = "",
    status: int = 200,
    headers: Headers = (),
    kept_by: Hashable | None = None,
    **values: Any,
) -> Answer:
    """What was left to be told to whoever looks stands above the page, once.

    With `kept_by`, which names all that `values` depend on but `late`, the page is kept.
    """
    whole, unread, visitor = b"null", 0, await identity.find_visitor(exchange)
    if member is not None:
        [whole] = await render(exchange.work, [member.account])
        unread = await unread_groups(exchange.work, member.account.id)
    left = await identity.take_messages(exchange.work, visitor.user.id) if visitor is not None else []
    ways, is_open = await _ways(exchange, visitor), not exchange.server.works.settings.is_members_only
    return page(
        exchange,
        template,
        status=status,
        headers=(*headers, (b"content-security-policy", media_policy(exchange.server.works.settings))),
        kept_by=None if left or kept_by is None else (kept_by, here, unread, whole, _who(visitor, ways)),
        when_made=lambda: {"me": msgspec.json.decode(whole)},
        visitor=visitor,
        here=here,
        messages=[{"level": identity.LEVELS[one.level], "message": one.message} for one in left],
        unread=unread,
        is_open=is_open,
        may_read=visitor is not None or is_open,
        refused=language(language_of(exchange)).say("Validation failed"),
        **{"ways": ways, **values},
    )
