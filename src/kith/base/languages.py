"""Which languages Kith speaks, and which of them a request should be answered in."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from kith.base.exchange import Exchange

# Each by its own name, as it is offered to people. All but English have catalogues in kith/locale.
LANGUAGES = {"en": "English", "de": "Deutsch"}


class Suggested(msgspec.Struct, frozen=True):
    """The language that an application asked for when it sent somebody here; a person's own choice goes before it."""

    language: str


def first_known(tags: Iterable[str]) -> str:
    """The first of these language tags that we know, whatever its country; empty if there is none."""
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


def preferred_language(accepted: str, known: Collection[str] = LANGUAGES) -> str:
    """The known language that an `Accept-Language` header likes best, else English."""
    best, best_weight = "en", 0.0
    for part in accepted.split(",")[:20]:
        name, _, options = part.strip().partition(";")
        weight = _weight(options)
        language = name.strip().lower().partition("-")[0]
        if language in known and weight > best_weight:
            best, best_weight = language, weight
    return best


def _weight(options: str) -> float:
    _, found, text = options.partition("q=")
    try:
        return min(float(text), 1.0) if found else 1.0
    except ValueError:
        return 0.0
