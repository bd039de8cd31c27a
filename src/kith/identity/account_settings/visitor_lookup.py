"""Who is signed in on the request for a page."""

from __future__ import annotations

import msgspec

from kith.base.caches import UntilWritten
from kith.base.exchange import Exchange
from kith.base.work import Work
from kith.identity.account_settings.visitor import Visitor
from kith.identity.caller import ADMINISTRATORS
from kith.identity.groups import store as groups
from kith.identity.sessions import cookies
from kith.identity.users import store as users
from kith.identity.users.tables import User

KEPT_SIZE = 8 << 10


class _Person(msgspec.Struct, frozen=True):
    user: User
    is_superuser: bool


class _AfterWaiting:
    """Marks that a visitor was looked up when all of a form was there that came slowly."""


async def find_visitor(exchange: Exchange) -> Visitor | None:
    """The person signed in, None if nobody is or they may not sign in any more. Looked up once per request, and once
    more when what they sent came slowly."""
    if Visitor not in exchange.kept or (exchange.has_waited and _AfterWaiting not in exchange.kept):
        if exchange.has_waited:
            exchange.kept[_AfterWaiting] = True
        exchange.kept[Visitor] = await _look_up(exchange)
    return known_visitor(exchange)


def known_visitor(exchange: Exchange) -> Visitor | None:
    """The person signed in, if `find_visitor` was called for this request before; None otherwise."""
    found: Visitor | None = exchange.kept.get(Visitor)
    return found


async def _look_up(exchange: Exchange) -> Visitor | None:
    session = await cookies.find(exchange)
    if session is None or session.user_id is None:
        return None
    found = await _find_person(exchange.work, session.user_id)
    if found is None or not found.user.is_active:
        return None
    exchange.user_id = found.user.id
    return Visitor(found.user, session, found.is_superuser)


async def _find_person(work: Work, user_id: int) -> _Person | None:
    """Kept until somebody writes, or an end that was set may have come: that of a person, or of a membership."""

    def is_true(found: _Person) -> bool:
        user = found.user
        lasts = not found.is_superuser or user.role in ADMINISTRATORS
        return lasts and (user.expires is None or user.expires > work.now)

    async def read() -> _Person | None:
        user = await users.find_by_id(work.db, user_id)
        if user is None:
            return None
        return _Person(user, user.role in ADMINISTRATORS or await groups.is_mighty(work.db, user.id))

    kept = work.find(UntilWritten)
    return await kept.look_up(work.db, ("visitor", user_id), read, is_true=is_true, size=KEPT_SIZE)
