"""The words of our pages. A catalogue maps the English ones, which stand in the code, to those of a language."""

from __future__ import annotations

from kith.base import words
from kith.base.languages import LANGUAGES
from kith.base.words import Catalogue
from kith.web.languages import de

__all__ = ["CATALOGUES", "LANGUAGES", "SPEAKERS", "Speaker", "best_of", "later"]

CATALOGUES: dict[str, Catalogue] = {"en": {}, "de": de.WORDS | de.SAID_ELSEWHERE}


class Speaker:
    """Says things in one language. Pages get one as `_`, made for the request they answer."""

    __slots__ = ("_words", "language")

    def __init__(self, language: str) -> None:
        self.language = language
        self._words = CATALOGUES[language]

    def __call__(self, text: str, /, **values: object) -> str:
        """`text` in this language, or as it stands; `{name}` in it becomes the value of that name."""
        said = self._words.get(text, text)
        for name, value in values.items():
            said = said.replace(f"{{{name}}}", str(value))
        return said


SPEAKERS = {language: Speaker(language) for language in CATALOGUES}


def later(text: str) -> str:
    """Words that are translated where they are shown."""
    return text


def best_of(accepted: str) -> str:
    """The language we know that a browser would like best, by what its `Accept-Language` says."""
    return words.best_of(accepted, CATALOGUES)
