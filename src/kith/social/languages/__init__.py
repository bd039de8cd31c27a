"""The words of the social API's errors, by language: a catalogue each, and the names of fields."""

from __future__ import annotations

from typing import NamedTuple

from kith.base.exchange import Exchange
from kith.base.words import Phrases, best_of
from kith.social.languages import de

__all__ = ["LANGUAGES", "Language", "language_of"]


class Language(NamedTuple):
    code: str
    say: Phrases
    fields: dict[str, str]


LANGUAGES = {"en": Language("en", Phrases({}), {}), "de": Language("de", Phrases(de.WORDS), de.FIELDS)}


def language_of(exchange: Exchange) -> Language:
    """What the parameter `lang` names goes before what the client accepts."""
    asked = str(exchange.scope.get("lang") or _asked(exchange.query_string))
    named = asked.lower().replace("_", "-").partition("-")[0]
    if named in LANGUAGES:
        return LANGUAGES[named]
    return LANGUAGES[best_of(exchange.header(b"accept-language").decode("latin-1"), LANGUAGES)]


def _asked(query: bytes) -> str:
    for pair in query.split(b"&"):
        name, _, value = pair.partition(b"=")
        if name == b"lang":
            return value.decode("latin-1")
    return ""
