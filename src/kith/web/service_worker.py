"""/sw.js: the service worker of our pages, for the whole site. /offline: the page that it keeps for lack of network.

Browsers look for a new worker by its bytes, so it carries the version of our files: with another version of them comes
another worker, which keeps the page anew and drops what the former one kept.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from kith.base.exchange import Answer, Exchange, whole
from kith.base.languages import LANGUAGES
from kith.base.routing import get
from kith.web.assets import ASK_AGAIN, VERSION, address, text_of
from kith.web.content_policy import may_call_us
from kith.web.page_language import language_of
from kith.web.pages import render
from kith.web.translation import translatable, translator

__all__ = ["routes"]

OFFLINE = "/offline"
ASSETS = ("kith.css", "offline.js")
# A worker is held to its own policy, not to that of a page: it calls this server and nobody else.
POLICY = (b"content-security-policy", b"default-src 'none'; script-src 'self'; connect-src 'self'")
_PAGE = {
    "title": translatable("You are offline"),
    "text": translatable("This page could not be loaded. It comes back by itself when you are connected again."),
    "again": translatable("Try again"),
}
# What is shown of a message that cannot be read.
_MESSAGE = {
    "title": translatable("You have a new notification"),
    "body": translatable("Open it to see what happened."),
}


@get("/sw.js")
async def show_worker() -> Answer:
    return whole(_worker(), "text/javascript; charset=utf-8", headers=(*ASK_AGAIN, POLICY))


@lru_cache(1)
def _worker() -> bytes:
    told = {
        "version": VERSION,
        "page": OFFLINE,
        "assets": [address(name) for name in ASSETS],
        "icon": address("icon.png"),
        "words": {language: _said(_MESSAGE, language) for language in LANGUAGES},
    }
    return b"const SERVER = " + msgspec.json.encode(told) + b";\n" + text_of("sw.js")


@get(OFFLINE)
async def show_offline(exchange: Exchange) -> Answer:
    """It is kept for whoever uses the browser, so it names nobody, and nothing that may change."""
    may_call_us(exchange)
    reader = language_of(exchange)
    languages = (reader, *(one for one in LANGUAGES if one != reader))
    told = [{"language": one, **_said(_PAGE, one)} for one in languages]
    body = render("offline.html", reader, told=told)
    return whole(body.encode(), "text/html; charset=utf-8", headers=ASK_AGAIN)


def _said(texts: dict[str, str], language: str) -> dict[str, Any]:
    say = translator(language)
    return {name: say(text) for name, text in texts.items()}


routes = [show_worker, show_offline]
