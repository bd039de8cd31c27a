"""Where files were when this was a Mastodon server: others still ask for them there."""

from __future__ import annotations

import re

from kith.base.errors import NotFound
from kith.base.exchange import Answer, Exchange
from kith.base.routing import FromPath, get
from kith.social.addresses import file_url
from kith.social.files.keys import folder_of

__all__ = ["key_of_former", "show_former_file"]

_PATH = re.compile(
    r"(media_attachments/files|accounts/avatars|accounts/headers|custom_emojis/images)"
    r"/((?:\d{3}/){2,5}\d{3})/(original|small|static)/([A-Za-z0-9_-]{1,100})\.([A-Za-z0-9]{2,4})"
)
_SHELVES = {
    "media_attachments/files": "attachments",
    "accounts/avatars": "avatars",
    "accounts/headers": "headers",
    "custom_emojis/images": "emojis",
}
_ENDINGS = {"jpeg": "jpg", "jfif": "jpg", "m4v": "mp4"}


def key_of_former(path: str) -> str | None:
    """Under which name the file of an old address is kept here, if it came along."""
    found = _PATH.fullmatch(path)
    if found is None:
        return None
    shelf, number, size, stem, ending = found.groups()
    ending = ending.lower()
    return f"{folder_of(_SHELVES[shelf], int(number.replace('/', '')))}/{size}/{stem}.{_ENDINGS.get(ending, ending)}"


@get("/system/{path:path}")
async def show_former_file(exchange: Exchange, path: FromPath[str]) -> Answer:
    """Leads to the file's address of today."""
    key = key_of_former(path) if len(path) <= 300 else None
    if key is None:
        raise NotFound
    to = file_url(exchange.server.works.settings, key)
    return Answer(301, ((b"location", to.encode()), (b"cache-control", b"public, max-age=86400")))
