"""Files and links that hang on a post."""

from __future__ import annotations

import math
import re
from typing import Any, Literal

import msgspec

from kith.federation.vocabulary.incoming import limits
from kith.federation.vocabulary.incoming.fields import each, read_count, read_text
from kith.federation.vocabulary.incoming.ids import read_id
from kith.federation.vocabulary.incoming.images import find_address, read_image, read_media_type
from kith.federation.vocabulary.incoming.parsing import Document

__all__ = ["IncomingAttachment", "IncomingAttachments", "IncomingMediaKind", "read_attachments"]

IncomingMediaKind = Literal["image", "video", "audio", "unknown"]

_KINDS: dict[str, IncomingMediaKind] = {"image": "image", "video": "video", "audio": "audio"}
_TYPES: dict[str, IncomingMediaKind] = {"Image": "image", "Video": "video", "Audio": "audio"}
_BASE83 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
_DURATION = re.compile(r"P(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?", re.ASCII)
_LONGEST_SECONDS = 10 * 365 * 86400.0
_NO_FILES = frozenset({"PropertyValue", "Mention", "Hashtag", "Emoji"})


class IncomingAttachment(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of `unknown` is kept as a link to where it is, and not fetched."""

    url: str
    kind: IncomingMediaKind
    media_type: str
    description: str
    blurhash: str | None
    focus: tuple[float, float] | None
    width: int | None
    height: int | None
    seconds: float | None
    thumbnail: str | None


class IncomingAttachments(msgspec.Struct, frozen=True):
    """`link`: the page that the post is about, where its author names one."""

    files: tuple[IncomingAttachment, ...]
    link: str | None


def read_attachments(value: Any) -> IncomingAttachments:
    files: dict[str, IncomingAttachment] = {}
    link = None
    for one in each(value, limits.TAGS):
        if not isinstance(one, dict):
            continue
        if one.get("type") == "Link" and read_media_type(one.get("mediaType")) in ("", "text/html"):
            link = link or read_id(one.get("href"))
        elif len(files) < limits.ATTACHMENTS and (file := _file(one)) is not None:
            files.setdefault(file.url, file)
    return IncomingAttachments(tuple(files.values()), link)


def _file(one: Document) -> IncomingAttachment | None:
    kind = one.get("type")
    url = find_address(one.get("url")) or read_id(one.get("href"))
    if url is None or (isinstance(kind, str) and kind in _NO_FILES):
        return None
    media_type = read_media_type(one.get("mediaType")) or _media_type_of_link(one.get("url"))
    thumbnail = read_image(one.get("icon"))
    return IncomingAttachment(
        url=url,
        kind=_KINDS.get(media_type.partition("/")[0]) or _TYPES.get(kind if isinstance(kind, str) else "", "unknown"),
        media_type=media_type,
        description=read_text(one.get("summary") or one.get("name"), limits.DESCRIPTION_LENGTH),
        blurhash=_blurhash(one.get("blurhash")),
        focus=_focus(one.get("focalPoint")),
        width=read_count(one.get("width")) or None,
        height=read_count(one.get("height")) or None,
        seconds=_seconds(one.get("duration")),
        thumbnail=thumbnail.url if thumbnail is not None else None,
    )


def _media_type_of_link(value: Any) -> str:
    return next((read_media_type(one.get("mediaType")) for one in each(value, 1) if isinstance(one, dict)), "")


def _blurhash(value: Any) -> str | None:
    """Its first character says how many colours follow; programs that show it rely on that."""
    if not isinstance(value, str) or not 6 <= len(value) <= 166 or not set(value) <= set(_BASE83):
        return None
    down, across = divmod(_BASE83.index(value[0]), 9)
    return value if len(value) == 4 + 2 * (across + 1) * (down + 1) else None


def _focus(value: Any) -> tuple[float, float] | None:
    numbers = [_number(one) for one in each(value, 3)]
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
        return None
    return numbers[0], numbers[1]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return None if isinstance(value, float) and math.isnan(value) else float(max(-1, min(1, value)))


def _seconds(value: Any) -> float | None:
    """A length of time in ISO 8601, or a number of seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if 0 < value < _LONGEST_SECONDS else None
    match = _DURATION.fullmatch(value) if isinstance(value, str) and len(value) < 50 else None
    if match is None:
        return None
    days, hours, minutes, seconds = (float(one or 0) for one in match.groups())
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return total if 0 < total < _LONGEST_SECONDS else None
