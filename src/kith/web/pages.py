"""Pages are made on the server, need no script, and fetch nothing from anywhere else."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from kith.base import csrf
from kith.base.exchange import Answer, Exchange, Headers, whole
from kith.base.keys import Keys
from kith.base.languages import LANGUAGES
from kith.identity import for_pages as identity
from kith.web.page_language import language_of, remember
from kith.web.translation import translator

if TYPE_CHECKING:
    from jinja2 import Environment  # loaded when the first page is made

_FOLDER = Path(__file__).parent
STYLE = (_FOLDER / "static" / "kith.css").read_bytes()
SCRIPT = (_FOLDER / "static" / "kith.js").read_bytes()
NO_PICTURE = (_FOLDER / "static" / "missing.png").read_bytes()
NO_STORE = (b"cache-control", b"no-store")
_URL_CHARACTERS = "%/:?#[]@!$&'()*+,;=~-._"


@lru_cache(1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - loaded when first used

    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["moment"] = moment
    return made


def render(template: str, language: str = "en", **values: object) -> str:
    """Templates get the translator of their reader's language as a value, so requests do not share one."""
    translate = translator(language)
    given = {"_": translate, "_n": translate.count, "language": language, "acting": None, **values}
    return _environment().get_template(template).render(given)


def has_template(name: str) -> bool:
    return name in _environment().list_templates(extensions=["html"])


def page(exchange: Exchange, template: str, *, status: int = 200, headers: Headers = (), **values: object) -> Answer:
    """A page, whose forms carry the visitor's token, as their cookie does."""
    settings = exchange.server.works.settings
    token = csrf.token_for(exchange, exchange.find(Keys).session)
    secure = "; Secure" if settings.base_url.startswith("https") else ""
    cookie = (b"set-cookie", f"{csrf.COOKIE}={token}; Path=/; SameSite=Lax{secure}".encode())
    brand, language = identity.brands.known(exchange), language_of(exchange)
    body = render(
        template,
        language,
        **{
            "csrf": token,
            "site": brand.title,
            "brand": brand,
            "visitor": None,
            "acting": exchange.acting,
            "languages": LANGUAGES,
            "back": back_from(exchange),
            **values,
        },
    )
    return _answer(status, (cookie, *remember(exchange, language), *headers), body.encode())


def back_from(exchange: Exchange) -> str:
    """Where this page can be seen again: some are answers to forms, and cannot be asked for."""
    path = exchange.path
    if exchange.method == "GET" or path.startswith("/flows/"):
        query = exchange.query_string.decode("latin-1")
        return f"{path}?{query}" if query else path
    return "/settings/security" if path.startswith("/settings/") else "/"


def see_other(to: str, *, status: int = 303, headers: Headers = ()) -> Answer:
    return _answer(status, ((b"location", quote(to, safe=_URL_CHARACTERS).encode()), *headers), b"")


def _answer(status: int, headers: Headers, body: bytes) -> Answer:
    return whole(body, "text/html; charset=utf-8", status=status, headers=(NO_STORE, *headers))


def moment(value: datetime) -> str:
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
