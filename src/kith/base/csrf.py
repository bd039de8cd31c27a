"""Forms are only accepted from pages we made: a signed cookie, and the same value in the form or a header."""

from __future__ import annotations

import hmac
import secrets

from kith.base.cookies import carried_cookie
from kith.base.errors import Forbidden
from kith.base.exchange import Exchange

__all__ = ["COOKIE", "CSRFFailed", "check", "token_for"]

COOKIE = "kith_csrf"


class CSRFFailed(Forbidden):
    code = "csrf_failed"
    message = "CSRF Failed: CSRF token missing or incorrect."


def token_for(exchange: Exchange, key: bytes) -> str:
    """The visitor's token: the one their cookie carries when we made it, else a new one."""
    carried = _carried(exchange)
    return carried if _is_ours(carried, key) else _signed(secrets.token_urlsafe(16), key)


def check(exchange: Exchange, key: bytes, given: str | None) -> None:
    sent = given or exchange.header(b"x-csrf-token").decode("latin-1")
    carried = _carried(exchange)
    if not sent or not _is_ours(carried, key) or not hmac.compare_digest(sent.encode(), carried.encode()):
        raise CSRFFailed


def _carried(exchange: Exchange) -> str:
    return carried_cookie(exchange, COOKIE)


def _signed(nonce: str, key: bytes) -> str:
    return f"{nonce}.{hmac.new(key, nonce.encode(), 'sha256').hexdigest()[:32]}"


def _is_ours(token: str, key: bytes) -> bool:
    return hmac.compare_digest(_signed(token.partition(".")[0], key).encode(), token.encode())
