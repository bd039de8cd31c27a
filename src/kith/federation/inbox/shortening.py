"""What is kept of an activity that waits for what it names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from kith.federation.vocabulary.incoming import Document, limits, parse_document
from kith.federation.vocabulary.incoming.activities import ACTIVITY_TYPES
from kith.federation.vocabulary.incoming.audience import read_audience
from kith.federation.vocabulary.incoming.fields import read_actor_id, read_text, type_of
from kith.federation.vocabulary.outgoing.contexts import PUBLIC

__all__ = ["SHORT", "shortened"]

SHORT = 4096  # characters of an activity, or of a part of it, that are kept in any case
NAMES = 8192  # characters of names of those whom it is for
_NAMED = ("object", "instrument", "target", "result")
_SMALL = ("id", "published", "tag", "_misskey_reaction")
_encode = msgspec.json.Encoder().encode


def shortened(body: str) -> str | None:
    """Of one whose object is only named: who did what to what, and for whom; nothing else of it is read.

    None where it stays as it is, because it is short, or brings along what it is about.
    """
    if len(body) <= SHORT:
        return None
    document = parse_document(body.encode())
    if not isinstance(document.get("object"), str) or not all(_is_small(document.get(name)) for name in _NAMED):
        return None
    kept = {name: document[name] for name in (*_NAMED, *_SMALL) if name in document and _is_small(document[name])}
    kept |= {
        "@context": [one for one in _many(document.get("@context")) if isinstance(one, str) and _is_small(one)][:10],
        "type": type_of(document, ACTIVITY_TYPES),
        "actor": read_actor_id(document.get("actor")),
        "content": read_text(document.get("content"), limits.REPORT_LENGTH),
        **_audience(document),
    }
    made = _encode(kept).decode()
    return made if len(made) < len(body) else None


def _audience(document: Document) -> dict[str, list[str]]:
    found = read_audience(document)
    return {
        "to": [*([PUBLIC] if found.is_public_to else []), *_first(found.to)],
        "cc": [*([PUBLIC] if found.is_public_cc else []), *_first(found.cc)],
    }


def _first(names: Iterable[str]) -> Iterator[str]:
    """As many as have room."""
    room = NAMES
    for name in names:
        room -= len(name)
        if room < 0:
            return
        yield name


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_small(value: Any) -> bool:
    return len(_encode(value)) <= SHORT
