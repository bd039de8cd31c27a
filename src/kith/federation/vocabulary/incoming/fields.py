"""Single fields of a document: any JSON value in, a value of one type or nothing out.

What may be one or many is read as many; what may be an object or its id is read as the id.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from kith.federation.vocabulary.incoming.ids import read_id, without_fragment
from kith.federation.vocabulary.incoming.parsing import Document

__all__ = [
    "each",
    "read_actor_id",
    "read_bool",
    "read_count",
    "read_ids",
    "read_instant",
    "read_language",
    "read_map",
    "read_object_id",
    "read_page",
    "read_text",
    "type_of",
]

MOST_COUNTED = 10**9
_INSTANT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?\s?(Z|z|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{1,8}){0,3}", re.IGNORECASE | re.ASCII)
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_MOST_LINKS = 50
_MOST_TYPES = 10
# The first and the last moment there are mean "always" and "never" to PostgreSQL, which gives back no moment for them.
_ENDS = frozenset(one.replace(tzinfo=UTC) for one in (datetime.min, datetime.max))  # noqa: DTZ901


def each(value: Any, most: int) -> Iterator[Any]:
    """One or many, as many; JSON-LD's explicit lists are lists."""
    if isinstance(value, dict) and isinstance(value.get("@list"), list):
        value = value["@list"]
    if value is None:
        return iter(())
    return islice(value, most) if isinstance(value, list) else iter((value,))


def type_of(document: Document, known: frozenset[str]) -> str | None:
    """The first of its types that is known."""
    for one in each(document.get("type"), _MOST_TYPES):
        if isinstance(one, str) and one in known:
            return one
    return None


def read_text(value: Any, most: int | None = None) -> str:
    """The text, cut at `most` characters; empty for whatever is no text. No database keeps a NUL."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("@value")
    if not isinstance(value, str):
        return ""
    text = value if most is None else value[:most]
    return text.replace("\0", "") if "\0" in text else text


def read_map(value: Any, preferred: str = "") -> tuple[str, str | None]:
    """A text by language: the one that says `preferred`, else the first; and its language."""
    if not isinstance(value, dict):
        return "", None
    found: tuple[str, str | None] = ("", None)
    for language, one in islice(value.items(), _MOST_LINKS):
        text = read_text(one)
        if text and preferred in ("", text):
            return text, read_language(language)
        if text and not found[0]:
            found = text, read_language(language)
    return found


def read_language(value: Any) -> str | None:
    if not isinstance(value, str) or len(value) > 35 or not _LANGUAGE.fullmatch(value) or value.lower() == "und":
        return None
    return value.replace("_", "-")


def read_bool(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def read_count(value: Any) -> int | None:
    """A number of things: not negative, and such as a database can keep and count on."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return min(int(value), MOST_COUNTED) if value >= 0 else None


def read_instant(value: Any) -> datetime | None:
    """A moment in UTC; one without a zone is taken as UTC, one outside the years 1 to 9999 is none."""
    if not isinstance(value, str) or len(value) > 64 or not (match := _INSTANT.fullmatch(value.strip())):
        return None
    *numbers, fraction, zone = match.groups()
    year, month, day, hour, minute, second = (int(one or 0) for one in numbers)
    text = f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{min(second, 59):02}"
    try:
        moment = datetime.fromisoformat(f"{text}{_zone(zone)}")
        moment = moment.astimezone(UTC).replace(microsecond=int((fraction or "0")[:6].ljust(6, "0")))
    except (ValueError, OverflowError):
        return None
    return None if moment in _ENDS else moment


def _zone(zone: str | None) -> str:
    if zone is None or zone in "Zz":
        return "+00:00"
    return zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"


def read_object_id(value: Any) -> str | None:
    """The id of what is given as an id, as an object with an id, or as a list that begins with either."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("href") if value.get("type") == "Link" else value.get("id")
    return read_id(value)


def read_actor_id(value: Any) -> str | None:
    """Actors are the same whatever fragment their id has."""
    found = read_object_id(value)
    return found and without_fragment(found)


def read_ids(value: Any, most: int) -> tuple[str, ...]:
    """Distinct ids, in order."""
    found: dict[str, None] = {}
    for one in each(value, most):
        if not isinstance(one, list) and (uri := read_object_id(one)) is not None:
            found[uri] = None
    return tuple(found)


def read_page(value: Any) -> str | None:
    """The page for people among addresses and links: HTML first, then whatever names no other type."""
    fallback = None
    for one in each(value, _MOST_LINKS):
        link = one if isinstance(one, dict) else {}
        found = read_id(link.get("href") or link.get("url")) if link else read_id(one)
        kind = read_text(link.get("mediaType"))
        if found is not None and kind in _HTML:
            return found
        if found is not None and fallback is None and not kind:
            fallback = found
    return fallback
