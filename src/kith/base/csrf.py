"""Forms are only accepted from pages we made: a signed cookie, and the same value in the form or a header.

Where a browser says that another site sends the form, not even that is enough: a neighbour under the same domain could
have planted both.
"""

from __future__ import annotations

import hmac
import secrets

from kith.base.cookies import carried_cookie
from kith.base.errors import Forbidden
from kith.base.exchange import Exchange

__all__ = ["COOKIE", "CSRFFailed", "carried", "check", "token_for"]

COOKIE = "kith_csrf"


class CSRFFailed(Forbidden):
    code = "csrf_failed"
    message = "CSRF Failed: CSRF token missing or incorrect."


def token_for(exchange: Exchange, key: bytes) -> str:
    """The visitor's token: the one their cookie carries when we made it, else a new one."""
    found = carried(exchange)
    return found if _is_ours(found, key) else _signed(secrets.token_urlsafe(16), key)


def check(exchange: Exchange, key: bytes, given: str | None) -> None:
    if _is_from_elsewhere(exchange):
        raise CSRFFailed
    sent = given or exchange.header(b"x-csrf-token").decode("latin-1")
    found = carried(exchange)
    if not sent or not _is_ours(found, key) or not hmac.compare_digest(sent.encode(), found.encode()):
        raise CSRFFailed


def _is_from_elsewhere(exchange: Exchange) -> bool:
    """Browsers say which site sends a form. Our pages send no referrer, so that `Origin` is often `null` from there."""
    if exchange.header(b"sec-fetch-site") in (b"cross-site", b"same-site"):
        return True
    origin = exchange.header(b"origin").lower()
    if not origin or origin == b"null":
        return False
    own = exchange.server.works.settings.base_url.encode()
    return origin != own and origin.partition(b"://")[2] != exchange.header(b"host").lower()


def carried(exchange: Exchange) -> str:
    """What the cookie says; whoever has none gets a new one with the next page."""
    return carried_cookie(exchange, COOKIE)


def _signed(nonce: str, key: bytes) -> str:
    return f"{nonce}.{hmac.digest(key, nonce.encode(), 'sha256').hex()[:32]}"


def _is_ours(token: str, key: bytes) -> bool:
    return hmac.compare_digest(_signed(token.partition(".")[0], key).encode(), token.encode())
