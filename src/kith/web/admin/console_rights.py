"""What somebody may do in the console: the permissions of both halves.

Names with a dot are permissions of the identity API (`core.view_user`), the others those of the team's roles
(`manage_users`).
"""

from __future__ import annotations

import msgspec

from kith.base.caches import ForAWhile
from kith.base.errors import NotFound
from kith.base.exchange import Exchange
from kith.identity import for_pages as identity
from kith.social.accounts import store as accounts
from kith.social.ids import UserId
from kith.social.roles import store as roles
from kith.social.roles.permissions import ALL, HARMLESS
from kith.social.roles.tables import Role

__all__ = ["ConsoleDoor", "ConsoleRights", "find_rights", "known_rights", "may_enter"]

BELIEVED_SECONDS = 10


class ConsoleDoor:
    """Who of the members finds something in the console, for the menu of every page; pages there ask anew."""

    def __init__(self) -> None:
        self.believed: ForAWhile[bool] = ForAWhile("console_door", seconds=BELIEVED_SECONDS, most=20_000)


class ConsoleRights(msgspec.Struct, frozen=True):
    """`permissions` are those of the identity half, None for all."""

    visitor: identity.Visitor
    permissions: frozenset[str] | None
    role: Role

    def may(self, *names: str) -> bool:
        """One of these is enough."""
        return any(self._has(name) for name in names)

    def _has(self, name: str) -> bool:
        return (self.permissions is None or name in self.permissions) if "." in name else self.role.allows(name)

    def need(self, *names: str) -> None:
        """Whoever has none of these finds nothing here."""
        if not self.may(*names):
            raise NotFound

    @property
    def is_open(self) -> bool:
        """Whether there is anything here for them at all."""
        belongs = self.visitor.is_superuser or self.visitor.user.role in identity.TEAM
        return belongs or bool(self.permissions) or bool(self.role.permissions & ALL & ~HARMLESS)

    @property
    def is_superuser(self) -> bool:
        return self.permissions is None


async def find_rights(exchange: Exchange) -> ConsoleRights | None:
    """None for whoever is not signed in; not found for whoever has nothing to do here. Looked up once per request."""
    visitor = await identity.find_visitor(exchange)
    if visitor is None:
        return None
    rights = await _look_up(exchange, visitor)
    if not rights.is_open:
        raise NotFound
    return rights


async def _look_up(exchange: Exchange, visitor: identity.Visitor) -> ConsoleRights:
    if ConsoleRights not in exchange.kept:
        user, db = visitor.user, exchange.work.db
        account = await accounts.find_of_user(db, UserId(user.id))
        role = (await roles.load(db)).of(user.role, None if account is None else account.role_id)
        exchange.kept[ConsoleRights] = ConsoleRights(visitor, await identity.rights_of(db, user.id, user.role), role)
    return known_rights(exchange)


async def may_enter(exchange: Exchange, visitor: identity.Visitor) -> bool:
    """Whether the menu leads somebody to the console."""
    if visitor.is_superuser or visitor.user.role in identity.TEAM:
        return True
    believed = exchange.find(ConsoleDoor).believed
    found = believed.get(visitor.user.id)
    if found is None:
        found = (await _look_up(exchange, visitor)).is_open
        believed.put(visitor.user.id, found)
    return found


def known_rights(exchange: Exchange) -> ConsoleRights:
    """Behind `enter` or `find_rights` only."""
    found: ConsoleRights = exchange.kept[ConsoleRights]
    return found
