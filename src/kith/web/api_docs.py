"""Both APIs in a viewer that can try them, and the identity API's description for programs.

The viewer is Swagger UI, from the files of a package. They are read when somebody first asks for them.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

import msgspec

from kith.base.compression import KeptText, answer_of, keep
from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange, Headers, whole
from kith.base.routing import FromPath, get
from kith.base.work import Work
from kith.identity import for_pages as identity
from kith.web.assets import FOR_GOOD
from kith.web.pages import render, see_other

PACKAGE = "mkdocs_swagger_ui_tag"
STYLE, BUNDLE, PRESET = "swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js"
_FILES = {
    STYLE: ("stylesheets/swagger-ui.css", "text/css; charset=utf-8"),
    BUNDLE: ("javascripts/swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
    PRESET: ("javascripts/swagger-ui-standalone-preset.js", "text/javascript; charset=utf-8"),
    "oauth2-redirect.html": ("oauth2-redirect.html", "text/html; charset=utf-8"),
    "oauth2-redirect.js": ("oauth2-redirect.js", "text/javascript; charset=utf-8"),
}
# The viewer draws its arrows from data: addresses, and asks nobody but this server. It opens the page that asks for
# consent, which gives it a word only if both keep themselves apart from other sites. The hash is that of a style in its
# picture; styles of single elements are set by its script.
_POLICY = (
    b"default-src 'none'; script-src 'self'; img-src 'self' data:; style-src-attr 'unsafe-inline'; "
    b"style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='; "
    b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Headers = (
    (b"content-security-policy", _POLICY),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
)


@functools.lru_cache(len(_FILES))
def _file(name: str) -> KeptText:
    """Kept as it is sent, compressed: the names are those of the list above."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise NotFound
    path, kind = _FILES[name]
    body = (Path(found.origin).parent / "swagger-ui" / path).read_bytes()
    return keep(body, kind)


def _version(one: KeptText) -> str:
    return one.digest[:12]


def _address(name: str) -> str:
    return f"/api/docs/{_version(_file(name))}/{name}"


@functools.lru_cache(1)
def _described(base_url: str) -> KeptText:
    return keep(msgspec.json.encode(identity.describe_api(base_url)), "application/json")


@get("/api/v2/openapi.json")
async def openapi(exchange: Exchange, work: Work) -> Answer:
    return answer_of(exchange, _described(work.settings.base_url))


@get("/api/docs")
async def show_viewer(work: Work) -> Answer:
    addresses = {"style": _address(STYLE), "bundle": _address(BUNDLE), "preset": _address(PRESET)}
    page = render("api_viewer.html", site=work.settings.title, **addresses)
    return whole(page.encode(), "text/html; charset=utf-8", headers=_HEADERS)


@get("/api/docs/{name}")
async def show_redirect_page(exchange: Exchange, name: FromPath[str]) -> Answer:
    """Where whoever signed in comes back to, and its script."""
    if not name.startswith("oauth2-redirect.") or name not in _FILES:
        raise NotFound
    return answer_of(exchange, _file(name), _HEADERS)


@get("/api/docs/{version}/{name}")
async def show_file(exchange: Exchange, version: FromPath[str], name: FromPath[str]) -> Answer:
    """Whoever asks for another version, from a page that was open during an upgrade, gets this one."""
    if name not in _FILES:
        raise NotFound
    one = _file(name)
    return answer_of(exchange, one, FOR_GOOD if version == _version(one) else ((b"cache-control", b"no-cache"),))


@get("/api/v2/docs")
async def lead_to_viewer() -> Answer:
    return see_other("/api/docs", status=301)


routes = [openapi, show_viewer, show_redirect_page, show_file, lead_to_viewer]
