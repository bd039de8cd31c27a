"""Who is signed in on the request for a page."""

from __future__ import annotations

from kith.base.exchange import Exchange
from kith.identity.account_settings.visitor import Visitor
from kith.identity.caller import ADMINISTRATORS
from kith.identity.groups import store as groups
from kith.identity.sessions import cookies
from kith.identity.users import store as users


async def find_visitor(exchange: Exchange) -> Visitor | None:
    """The person signed in, None if nobody is or they may not sign in any more. Looked up once per request."""
    if Visitor not in exchange.kept:
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
    user = await users.find_by_id(exchange.work.db, session.user_id)
    if user is None or not user.is_active:
        return None
    exchange.user_id = user.id
    mighty = user.role in ADMINISTRATORS or await groups.is_mighty(exchange.work.db, user.id)
    return Visitor(user, session, mighty)
