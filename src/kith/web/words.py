"""The words of our pages. A catalogue maps the English ones, which stand in the code, to those of a language."""

from __future__ import annotations

from collections.abc import Mapping

Catalogue = Mapping[str, str]

CATALOGUES: dict[str, Catalogue] = {"en": {}}


def translate(text: str, /, language: str = "en", **values: object) -> str:
    """`text` in `language`, or as it stands; `{name}` in it becomes the value of that name."""
    words = CATALOGUES.get(language, {}).get(text, text)
    for name, value in values.items():
        words = words.replace(f"{{{name}}}", str(value))
    return words
