"""/manifest.json: what a browser needs to put the client beside a person's other apps, and to share with it.

/favicon.ico and its like: where browsers look for our picture on pages that name none, such as errors of a proxy.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange, whole
from kith.base.routing import get
from kith.identity import for_pages as identity
from kith.web.assets import ASK_AGAIN, address
from kith.web.page_language import language_of
from kith.web.pages import see_other
from kith.web.translation import Translator, translator

__all__ = ["routes"]

LONGEST_NAME = 12  # what fits below an icon
_COLOUR = "#2f5d50"


@get("/manifest.json")
async def show_manifest(exchange: Exchange) -> Answer:
    language = language_of(exchange)
    told = _manifest(identity.brands.known(exchange), translator(language), language)
    return whole(msgspec.json.encode(told), "application/manifest+json", headers=ASK_AGAIN)


def _manifest(brand: Any, say: Translator, language: str) -> dict[str, Any]:
    """What is shared from other apps arrives at /share, in words that page reads."""
    return {
        "id": "/home",
        "name": brand.title,
        "short_name": brand.title[:LONGEST_NAME].strip(),
        "lang": language,
        "start_url": "/home",
        "scope": "/",
        "display": "standalone",
        "theme_color": _COLOUR,
        "background_color": _COLOUR,
        "icons": [
            {"src": address("icon.svg"), "sizes": "any", "type": "image/svg+xml", "purpose": "any"},
            {"src": address("icon.png"), "sizes": "192x192", "type": "image/png", "purpose": "maskable"},
        ],
        "share_target": {
            "action": "/share",
            "method": "GET",
            "params": {"title": "title", "text": "text", "url": "url"},
        },
        "shortcuts": [
            {"name": say("Post"), "url": "/publish"},
            {"name": say("Notifications"), "url": "/notifications"},
        ],
    }


@get("/favicon.ico")
async def show_icon(exchange: Exchange) -> Answer:
    """The community's own, or ours; it may be another one tomorrow."""
    return see_other(identity.brands.known(exchange).favicon or address("icon.png"), status=302)


@get("/apple-touch-icon.png", aliases=("/apple-touch-icon-precomposed.png",))
async def show_touch_icon() -> Answer:
    return see_other(address("icon.png"), status=302)


routes = [show_manifest, show_icon, show_touch_icon]
