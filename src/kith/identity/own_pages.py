"""Requests that our own pages make: a browser that is signed in may use the social API without a token of an app.

Only our own pages can: a request that changes something brings the token of their forms, and one that reads brings it
too, or its browser says that a page of the same origin asks. A cookie alone is nobody's key.
"""

from __future__ import annotations

from kith.base import csrf
from kith.base.exchange import Exchange
from kith.base.keys import Keys
from kith.identity.impersonation.service import refuse_call
from kith.identity.sessions import cookies
from kith.identity.sessions.cookies import PageSession

__all__ = ["session_of_page"]

_SAME_ORIGIN = b"same-origin"


async def session_of_page(exchange: Exchange) -> PageSession | None:
    key = cookies.carried_key(exchange)
    if key is None or not _is_asked_by_page(exchange):
        return None
    session = await cookies.find(exchange)
    if session is None or session.user_id is None:
        return None
    refuse_call(exchange)
    return PageSession(key)


def _is_asked_by_page(exchange: Exchange) -> bool:
    if exchange.header(b"x-csrf-token"):
        csrf.check(exchange, exchange.find(Keys).session, None)
        return True
    reads = exchange.method in ("GET", "WEBSOCKET")
    return reads and exchange.header(b"sec-fetch-site") == _SAME_ORIGIN
