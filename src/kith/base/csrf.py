"""Forms are only accepted from pages we made: a signed cookie, and the same value in the form or a header."""

from __future__ import annotations

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie

from kith.base.edge import Scope, header
from kith.base.errors import Forbidden

__all__ = ["COOKIE", "CSRFFailed", "check", "cookie_header", "token_for"]

COOKIE = "kith_csrf"


class CSRFFailed(Forbidden):
    code = "csrf_failed"
    message = "CSRF Failed: CSRF token missing or incorrect."


def token_for(scope: Scope, key: bytes) -> str:
    """The visitor's token: the one their cookie carries when we made it, else a new one."""
    carried = _carried(scope)
    return carried if _is_ours(carried, key) else _signed(secrets.token_urlsafe(16), key)


def cookie_header(token: str, *, secure: bool) -> str:
    return f"{COOKIE}={token}; Path=/; SameSite=Lax" + ("; Secure" if secure else "")


def check(scope: Scope, key: bytes, given: str | None) -> None:
    sent = given or header(scope, b"x-csrf-token").decode("latin-1")
    carried = _carried(scope)
    if not sent or not _is_ours(carried, key) or not hmac.compare_digest(sent.encode(), carried.encode()):
        raise CSRFFailed


def _carried(scope: Scope) -> str:
    try:
        cookies = SimpleCookie(header(scope, b"cookie").decode("latin-1"))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def _signed(nonce: str, key: bytes) -> str:
    return f"{nonce}.{hmac.new(key, nonce.encode(), 'sha256').hexdigest()[:32]}"


def _is_ours(token: str, key: bytes) -> bool:
    return hmac.compare_digest(_signed(token.partition(".")[0], key).encode(), token.encode())
