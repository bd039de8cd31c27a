"""The same address for people and for other servers: who is asking, and a port to what others than people get.

Pages know nothing of ActivityPub. Federation does, and gives what is asked for at the address of a page.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

from kith.base.exchange import Answer, Exchange

__all__ = ["ACTIVITY_JSON", "NEGOTIATED", "Representations", "wants_activity", "without_ending"]

ACTIVITY_JSON = "application/activity+json"
PROFILE = "https://www.w3.org/ns/activitystreams"
NEGOTIATED = (b"vary", b"Accept, Origin")
MOST_RANGES = 32
JSON_ENDING = ".json"
_JSON = frozenset({ACTIVITY_JSON, "application/json"})
_HTML = frozenset({"text/html", "application/xhtml+xml", "*/*", "text/*"})


class Representations(Protocol):
    """Asked by a page; what is refused is refused as other servers read it."""

    async def person(self, exchange: Exchange, name: str) -> Answer: ...

    async def status(self, exchange: Exchange, name: str, id: int) -> Answer: ...


async def without_ending(exchange: Exchange) -> None:
    """A guard for routes whose last gap may end with `.json`, which asks for the document whatever is accepted."""
    *others, last = exchange.path_values
    if exchange.path.endswith(JSON_ENDING):
        exchange.path_values = (*others, last.removesuffix(JSON_ENDING))


def wants_activity(exchange: Exchange) -> bool:
    """Whether whoever asks would rather have ActivityStreams than a page; who asks for `.json` would."""
    return exchange.path.endswith(JSON_ENDING) or _prefers_activity(exchange.header(b"accept")[:2000])


@lru_cache(512)
def _prefers_activity(accept: bytes) -> bool:
    """By the weights; of equals, the first. Browsers name neither, so that anything else is for people."""
    best, activity = 0.0, False
    for text in accept.decode("latin-1").split(",")[:MOST_RANGES]:
        kind, *parameters = [part.strip() for part in text.split(";")]
        weight = _weight(parameters)
        is_activity = _is_activity(kind.lower(), parameters)
        if weight > best and (is_activity or kind.lower() in _HTML):
            best, activity = weight, is_activity
    return activity


def _is_activity(kind: str, parameters: list[str]) -> bool:
    """Linked data of any other kind is not ours to give; where no kind is named, ours is meant."""
    if kind == "application/ld+json":
        named = [value.strip('"').split() for name, _, value in map(_parted, parameters) if name == "profile"]
        return not named or any(PROFILE in words for words in named)
    return kind in _JSON


def _parted(parameter: str) -> tuple[str, str, str]:
    name, equals, value = parameter.partition("=")
    return name.strip().lower(), equals, value.strip()


def _weight(parameters: list[str]) -> float:
    for name, _, value in map(_parted, parameters):
        if name == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0
