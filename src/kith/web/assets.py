"""/static/VERSION/…: the styles, scripts and pictures of our pages, cached for good.

The version is made of the content of all of them, so that modules find each other by relative addresses, and no browser
ever mixes two versions. Whoever asks for another version, from a page that was open during an upgrade, gets this one.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import msgspec

from kith.base.compression import SMALL, KeptText, answer_of, keep
from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange, Headers, whole
from kith.base.routing import FromPath, get

__all__ = ["STYLE", "VERSION", "address", "icon", "routes", "text_of"]

_FOLDER = Path(__file__).parent / "static"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
FOR_GOOD: Headers = ((b"cache-control", b"public, max-age=31536000, immutable"),)
ASK_AGAIN: Headers = ((b"cache-control", b"no-cache"),)
_TURNED = frozenset(("back", "door", "list", "reply"))  # the other way round where lines run from right to left


class Asset(msgspec.Struct, frozen=True):
    body: bytes
    kind: str


def _read() -> dict[str, Asset]:
    files = sorted(path for path in _FOLDER.rglob("*") if path.suffix in _KINDS)
    return {str(path.relative_to(_FOLDER)): Asset(path.read_bytes(), _KINDS[path.suffix]) for path in files}


_assets = _read()
STYLE = _assets["kith.css"].body
VERSION = hashlib.sha256(b"\0".join(name.encode() + one.body for name, one in _assets.items())).hexdigest()[:12]


def address(name: str) -> str:
    return f"/static/{VERSION}/{name}"


def text_of(name: str) -> bytes:
    return _assets[name].body


@lru_cache(256)
def icon(name: str) -> str:
    """A picture of `icons.svg`; what it means stands beside it in words."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with the templates, which are loaded when first used

    turned = " turns" if name in _TURNED else ""
    drawn = f'<svg class="i{turned}" aria-hidden="true"><use href="{address("icons.svg")}#{name}"/></svg>'
    return Markup(drawn)  # noqa: S704 - names are ours


@lru_cache(256)
def _kept(name: str) -> KeptText:
    """Made when first asked for; the names are those of our own files."""
    return keep(_assets[name].body, _assets[name].kind)


@get("/static/{version}/{name:path}")
async def show_asset(exchange: Exchange, version: FromPath[str], name: FromPath[str]) -> Answer:
    return _answer(exchange, name, FOR_GOOD if version == VERSION else ASK_AGAIN)


@get("/static/{name}")
async def show_newest(exchange: Exchange, name: FromPath[str]) -> Answer:
    """Whatever its version, for addresses that are written down somewhere."""
    return _answer(exchange, name, ASK_AGAIN)


def _answer(exchange: Exchange, name: str, headers: Headers) -> Answer:
    found = _assets.get(name)
    if found is None:
        raise NotFound
    if len(found.body) < SMALL or found.kind == "image/png":
        return whole(found.body, found.kind, headers=headers)
    return answer_of(exchange, _kept(name), headers)


routes = [show_asset, show_newest]
