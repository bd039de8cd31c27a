"""The texts of our pages in the reader's language."""

from __future__ import annotations

from functools import lru_cache

from kith.base.catalogues import FinishedTexts, catalogue

__all__ = ["Translator", "translatable", "translator"]


class Translator:
    """Translates into one language. Templates have it as `_`, and its `count` as `_n`."""

    __slots__ = ("_catalogue", "_finished", "language")

    def __init__(self, language: str) -> None:
        self.language = language
        self._catalogue = catalogue("pages", language)
        self._finished = FinishedTexts(self._catalogue, context="finished")

    def __call__(self, text: str, /, **values: object) -> str:
        """`text` in this language, or as it is; `{name}` in it becomes the value of that name.

        Errors and messages of other rooms come with their values filled in.
        """
        return _filled(self._catalogue.translate(text), values) if values else self._finished(text)

    def count(self, one: str, many: str, count: int, /, **values: object) -> str:
        """`one` or `many` in the plural form for `count`, which stands as `{count}` in it."""
        return _filled(self._catalogue.translate_count(one, many, count), {**values, "count": count})


def _filled(text: str, values: dict[str, object]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


@lru_cache(64)
def translator(language: str) -> Translator:
    return Translator(language)


def translatable(text: str) -> str:
    """Marks a text for the catalogues; it is translated where it is shown."""
    return text
