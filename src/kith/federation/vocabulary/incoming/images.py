"""Pictures that stand for somebody or something: avatars, headers, emoji, thumbnails."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import each, read_text
from kith.federation.vocabulary.incoming.ids import read_id

__all__ = ["IncomingImage", "find_address", "read_image", "read_media_type"]

_MOST = 20


class IncomingImage(msgspec.Struct, frozen=True):
    url: str
    media_type: str
    description: str


def read_image(value: Any) -> IncomingImage | None:
    """The first picture of an Image, an address, or several of either; PeerTube lists several sizes."""
    for one in each(value, _MOST):
        image = one if isinstance(one, dict) else {"url": one}
        url = find_address(image.get("url")) or read_id(image.get("href"))
        if url is not None:
            description = image.get("summary") or image.get("name")
            return IncomingImage(
                url, read_media_type(image.get("mediaType")), read_text(description, limits.DESCRIPTION_LENGTH)
            )
    return None


def find_address(value: Any) -> str | None:
    """The first address among addresses and links."""
    for one in each(value, _MOST):
        found = read_id(one.get("href") or one.get("url")) if isinstance(one, dict) else read_id(one)
        if found is not None:
            return found
    return None


def read_media_type(value: Any) -> str:
    """In lower case and without parameters; empty where there is none."""
    return read_text(value, 255).partition(";")[0].strip().lower()
