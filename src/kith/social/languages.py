"""The language that the social API tells its errors in."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from kith.base.catalogues import Catalogue, FinishedTexts, catalogue
from kith.base.exchange import Exchange
from kith.base.languages import LANGUAGES, preferred_language

__all__ = ["FIELDS", "Language", "language", "language_of"]

# Fields whose names people read in messages; they have names in each language. Others keep their technical name.
FIELDS = (
    "account", "agreement", "attribution_domains", "avatar", "avatar_description", "choices", "comment", "data",
    "date_of_birth", "deadline", "description", "display_name", "domain", "email", "ends_at", "fields", "file",
    "focus", "header", "header_description", "id", "inbox_url", "language", "languages", "locale", "name", "note",
    "password", "privacy", "quote_policy", "reason", "scheduled_at", "starts_at", "status", "tag", "text", "thumbnail",
    "title", "url", "username", "visibility",
)  # fmt: skip


class Language(NamedTuple):
    code: str
    say: FinishedTexts
    catalogue: Catalogue

    def label(self, field: str) -> str:
        """What a field is called in front of a complaint: `display_name` is `Display name`."""
        return self.catalogue.translate(english_label(field), context="field")


def english_label(field: str) -> str:
    return field.removesuffix("_id").replace("_", " ").replace(".", " ").capitalize()


@lru_cache(64)
def language(code: str) -> Language:
    found = catalogue("social_api", code)
    return Language(code, FinishedTexts(found), found)


def language_of(exchange: Exchange) -> Language:
    """The parameter `lang` goes before what the client's headers accept."""
    asked = str(exchange.scope.get("lang") or _asked(exchange.query_string))
    named = asked.lower().replace("_", "-").partition("-")[0]
    if named in LANGUAGES:
        return language(named)
    return language(preferred_language(exchange.header(b"accept-language").decode("latin-1")))


def _asked(query: bytes) -> str:
    for pair in query.split(b"&"):
        name, _, value = pair.partition(b"=")
        if name == b"lang":
            return value.decode("latin-1")
    return ""
