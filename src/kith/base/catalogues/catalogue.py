"""The translations of one domain into one language."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from kith.base.catalogues.plural_rule import PluralRule, read_plural_rule
from kith.base.catalogues.po_file import CatalogueEntry, read_entries

__all__ = ["DOMAINS", "FOLDER", "Catalogue", "catalogue", "counted"]

FOLDER = Path(__file__).parents[2] / "locale"
# `pages`: what people read on our pages. `social_api`: errors of the social API, which apps show to people.
# `mails`: what we write to people.
DOMAINS = ("pages", "social_api", "mails")
_ENGLISH_PLURALS = "nplurals=2; plural=(n != 1);"


class Catalogue:
    """English texts and what they are in another language. A text that is not known stays as it is."""

    def __init__(self, entries: Iterable[CatalogueEntry] = ()) -> None:
        self._entries: dict[tuple[str, str], CatalogueEntry] = {}
        header = ""
        for entry in entries:
            if entry.text:
                self._entries[entry.context, entry.text] = entry
            else:
                header = entry.translations[0]
        self._form_of = _plural_rule(header)

    @property
    def entries(self) -> Iterable[CatalogueEntry]:
        return self._entries.values()

    def translate(self, text: str, *, context: str = "") -> str:
        entry = self._entries.get((context, text))
        if entry is None:
            return text
        return self.form(entry, 1) if entry.plural else entry.translations[0]

    def translate_count(self, one: str, many: str, count: int) -> str:
        """`one` or `many` in the form that this language uses for `count`."""
        entry = self._entries.get(("", one))
        if entry is None or entry.plural != many:
            return one if count == 1 else many
        return self.form(entry, count)

    def form(self, entry: CatalogueEntry, count: int) -> str:
        place = self._form_of(count)
        return entry.translations[place if place < len(entry.translations) else 0]


def _plural_rule(header: str) -> PluralRule:
    named = dict(line.split(":", 1) for line in header.splitlines() if ":" in line)
    return read_plural_rule(named.get("Plural-Forms", _ENGLISH_PLURALS))[1]


@lru_cache(64)
def catalogue(domain: str, language: str) -> Catalogue:
    """Read when somebody first asks for this language, and kept. English is what stands in the code."""
    if language == "en":
        return Catalogue()
    path = FOLDER / language / "LC_MESSAGES" / f"{domain}.po"
    with path.open(encoding="utf-8") as lines:
        return Catalogue(read_entries(lines))


def counted(one: str, many: str, count: int) -> str:
    """The English text for `count`, whose number stands as `{count}` in both forms. Both are in the catalogues."""
    return (one if count == 1 else many).replace("{count}", str(count))
