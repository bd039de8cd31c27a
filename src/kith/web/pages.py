"""Pages are made on the server, need no script, and fetch nothing from anywhere else."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Hashable
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from kith.base import csrf
from kith.base.caches import ByVersion
from kith.base.exchange import Answer, Exchange, Headers, whole
from kith.base.keys import Keys
from kith.base.languages import LANGUAGES
from kith.identity import for_pages as identity
from kith.web import assets
from kith.web.page_language import language_of, remember
from kith.web.time_zones import said_in, zone_of
from kith.web.translation import translator

if TYPE_CHECKING:
    from jinja2 import Environment  # loaded when the first page is made
    from jinja2.runtime import Context

_FOLDER = Path(__file__).parent
NO_PICTURE = (_FOLDER / "static" / "missing.png").read_bytes()
# Where pieces of pages that are kept for everybody have the token; new with every start, so that nobody can write it.
TOKEN_MARK = f"token-{secrets.token_hex(16)}"
_TOKEN_BYTES = TOKEN_MARK.encode()
# Where a kept page has what is new with every request.
_LATE_MARK = f"late-{secrets.token_hex(16)}"
KEPT_BYTES = 16 << 20
NO_STORE = (b"cache-control", b"no-store")
RIGHT_TO_LEFT = frozenset(("ar", "fa", "he", "ur", "yi"))
_URL_CHARACTERS = "%/:?#[]@!$&'()*+,;=~-._"


@lru_cache(1)
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context  # noqa: PLC0415 - loaded when first used

    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # or every page looks at the files of its templates
    )
    made.filters["moment"] = pass_context(moment)
    made.filters["web_address"] = web_address
    made.globals["asset"] = assets.address
    made.globals["icon"] = assets.icon
    return made


def render(template: str, language: str = "en", **values: object) -> str:
    """Templates get the translator of their reader's language as a value, so requests do not share one."""
    translate = translator(language)
    direction = "rtl" if language in RIGHT_TO_LEFT else "ltr"
    words = {"_": translate, "_n": translate.count, "language": language, "direction": direction}
    given = {**words, "acting": None, **values}
    return _environment().get_template(template).render(given)


def has_template(name: str) -> bool:
    return name in _environment().list_templates(extensions=["html"])


class KeptPage(msgspec.Struct, frozen=True, gc=False):
    """What stands before and after that which is new with every request, each in pieces: the token is between them."""

    before: tuple[bytes, ...]
    after: tuple[bytes, ...]

    def whole(self, token: bytes, late: bytes) -> bytes:
        return b"".join((token.join(self.before), late.replace(_TOKEN_BYTES, token), token.join(self.after)))


class KeptPages(ByVersion[KeptPage]):
    """Pages without what is new with every request, by all that they were made of."""

    def __init__(self) -> None:
        super().__init__("pages", KEPT_BYTES)


def page(
    exchange: Exchange,
    template: str,
    *,
    status: int = 200,
    headers: Headers = (),
    kept_by: Hashable | None = None,
    late: bytes = b"",
    when_made: Callable[[], dict[str, object]] | None = None,
    **values: object,
) -> Answer:
    """A page, whose forms carry the visitor's token, as their cookie does.

    With `kept_by`, which names all that `values` depend on, the page is kept, and next time only `late` is put into it:
    HTML, which templates have under this name. `when_made` gives values that only a new page needs.
    """
    settings = exchange.server.works.settings
    token = csrf.token_for(exchange, exchange.find(Keys).session)
    secure = "; Secure" if settings.base_url.startswith("https") else ""
    cookie = (b"set-cookie", f"{csrf.COOKIE}={token}; Path=/; SameSite=Lax{secure}".encode())
    language = language_of(exchange)

    def make(token: str, late: str) -> str:
        given = values if when_made is None else {**when_made(), **values}
        return _whole(exchange, template, language, {**given, "csrf": token, "late": _safe(late)})

    if kept_by is None or exchange.acting is not None:
        body = make(token, late.decode()).replace(TOKEN_MARK, token).encode()
    else:
        body = _kept(exchange, template, language, kept_by, make).whole(token.encode(), late)
    return _answer(status, (cookie, *remember(exchange, language), *headers), body)


def _kept(
    exchange: Exchange, template: str, language: str, kept_by: Hashable, make: Callable[[str, str], str]
) -> KeptPage:
    kept, brand = exchange.find(KeptPages), identity.brands.known(exchange)
    key = (
        template,
        language,
        brand.title,
        brand.logo,
        brand.favicon,
        brand.style,
        back_from(exchange),
        zone_of(exchange),
        kept_by,
    )
    found = kept.get(key)
    if found is None:
        body = make(TOKEN_MARK, _LATE_MARK).encode()
        before, _, after = body.partition(_LATE_MARK.encode())
        found = KeptPage(tuple(before.split(_TOKEN_BYTES)), tuple(after.split(_TOKEN_BYTES)))
        kept.put(key, found, 2 * len(body))
    return found


def _whole(exchange: Exchange, template: str, language: str, values: dict[str, object]) -> str:
    brand = identity.brands.known(exchange)
    return render(
        template,
        language,
        **{
            "site": brand.title,
            "brand": brand,
            "visitor": None,
            "acting": exchange.acting,
            "languages": LANGUAGES,
            "source_url": exchange.server.works.settings.source_url,
            "back": back_from(exchange),
            "zone": zone_of(exchange),
            **values,
        },
    )


def _safe(html: str) -> object:
    from markupsafe import Markup  # noqa: PLC0415 - comes with the templates, which are loaded when first used

    return Markup(html)  # noqa: S704 - of our own making


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


def moment(context: Context, value: datetime) -> str:
    """In the reader's time zone, which templates have as `zone`."""
    return said_in(value, context.get("zone", ""))


def web_address(url: str | None) -> str:
    """An address that others gave: only what leads to a page, never what a browser would run."""
    return url if url and url.startswith(("https://", "http://")) else ""
