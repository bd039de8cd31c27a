"""Which language a request is answered in: what the person has chosen, else what the application or browser says."""

from __future__ import annotations

from urllib.parse import parse_qs

from kith.base.cookies import carried_cookie
from kith.base.exchange import Exchange, Headers
from kith.base.languages import LANGUAGES, first_known, preferred_language, suggested
from kith.identity import for_pages as identity

COOKIE = "kith_language"
LIFE = 365 * 24 * 60 * 60


def language_of(exchange: Exchange) -> str:
    """A member's own choice goes before the cookie. An owner who views as a member keeps their own language."""
    stored, carried = _stored(exchange), _carried(exchange)
    if stored in LANGUAGES:
        return stored
    if carried in LANGUAGES:
        return carried
    asked = suggested(exchange) or _in_query(exchange)
    if asked in LANGUAGES:
        return asked
    return preferred_language(exchange.header(b"accept-language").decode("latin-1"))


def _in_query(exchange: Exchange) -> str:
    """`lang`, which goes with somebody from page to page of a flow."""
    if b"lang=" not in exchange.query_string:
        return ""
    given = parse_qs(exchange.query_string.decode("latin-1")).get("lang", [""])
    return first_known(given)


def remember(exchange: Exchange, language: str) -> Headers:
    """A member's choice also goes to the browser, for pages that do not know yet whom they are for."""
    if _stored(exchange) == language and _carried(exchange) != language:
        return (cookie(exchange, language),)
    return ()


def cookie(exchange: Exchange, language: str) -> tuple[bytes, bytes]:
    secure = "; Secure" if exchange.server.works.settings.base_url.startswith("https") else ""
    return b"set-cookie", f"{COOKIE}={language}; Path=/; Max-Age={LIFE}; HttpOnly; SameSite=Lax{secure}".encode()


def _stored(exchange: Exchange) -> str:
    visitor = identity.known_visitor(exchange)
    return "" if visitor is None or visitor.is_acting else visitor.locale


def _carried(exchange: Exchange) -> str:
    return carried_cookie(exchange, COOKIE)
