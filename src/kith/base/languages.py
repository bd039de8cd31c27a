"""Which languages our pages are written in, and which of them somebody's request was asked to be answered in."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kith.base.exchange import Exchange

# By their own names, as they are offered.
LANGUAGES = {"en": "English", "de": "Deutsch"}


class Suggested(msgspec.Struct, frozen=True):
    """What whoever sent somebody here knows of them; a choice of their own goes before it."""

    language: str


def first_known(tags: Iterable[str]) -> str:
    """The first of these language tags that we know, be it in another country's way; empty where there is none."""
    for tag in tags:
        language = tag.lower().partition("-")[0]
        if language in LANGUAGES:
            return language
    return ""


def suggest(exchange: Exchange, language: str) -> None:
    if language in LANGUAGES:
        exchange.kept[Suggested] = Suggested(language)


def suggested(exchange: Exchange) -> str:
    found: Suggested | None = exchange.kept.get(Suggested)
    return found.language if found is not None else ""
