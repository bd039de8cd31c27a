"""Translating texts that were already put together, such as the messages of errors.

Errors are raised in English with their values filled in. A catalogue holds the same text with `{name}` where a value
goes, so the English text is matched against it and the value is put into the translation.
"""

from __future__ import annotations

import re

from kith.base.catalogues.catalogue import Catalogue
from kith.base.catalogues.po_file import CatalogueEntry

__all__ = ["FinishedTexts"]

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_LONGEST = 2000  # of characters; longer texts stay English, because matching costs time


class FinishedTexts:
    def __init__(self, catalogue: Catalogue, *, context: str = "") -> None:
        """Only entries of this context are matched; others have values that callers put in themselves."""
        self._catalogue = catalogue
        self._context = context
        self._patterns: list[tuple[re.Pattern[str], CatalogueEntry]] | None = None

    def __call__(self, text: str) -> str:
        found = self._catalogue.translate(text, context=self._context)
        if found == text and self._context:
            found = self._catalogue.translate(text)
        if found != text or len(text) > _LONGEST:
            return found.replace("{count}", "1") if found != text else text
        for pattern, entry in self._made():
            match = pattern.fullmatch(text)
            if match is not None:
                return self._filled(entry, match)
        return text

    def _made(self) -> list[tuple[re.Pattern[str], CatalogueEntry]]:
        """A pattern for each English text that has a value in it, singular and plural."""
        if self._patterns is None:
            texts = [
                (english, entry)
                for entry in self._catalogue.entries
                if entry.context == self._context
                for english in (entry.text, entry.plural)
                if _PLACEHOLDER.search(english)
            ]
            # Where two could match, the one with fewer values and more words of its own is meant.
            texts.sort(key=lambda one: (len(_PLACEHOLDER.findall(one[0])), -len(one[0])))
            self._patterns = [(_pattern(english), entry) for english, entry in texts]
        return self._patterns

    def _filled(self, entry: CatalogueEntry, match: re.Match[str]) -> str:
        """`{why}` stands for a message of its own, which is translated as well."""
        values = match.groupdict()
        count = values.get("count", "")
        number = int(count) if count.isascii() and count.isdigit() and len(count) < 20 else 1
        translated = self._catalogue.form(entry, number) if entry.plural else entry.translations[0]
        return _PLACEHOLDER.sub(
            lambda place: self(values[place[1]]) if place[1] == "why" else values.get(place[1], count), translated
        )


def _pattern(text: str) -> re.Pattern[str]:
    pieces = _PLACEHOLDER.split(text)  # text, a name, text, a name, ..., text
    texts = [re.escape(piece) if place % 2 == 0 else f"(?P<{piece}>.+?)" for place, piece in enumerate(pieces)]
    return re.compile("".join(texts), re.DOTALL)
