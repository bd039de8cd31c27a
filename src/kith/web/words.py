"""The words of our pages. A catalogue maps the English ones, which stand in the code, to those of a language."""

from __future__ import annotations

from collections.abc import Mapping

from kith.base.languages import LANGUAGES
from kith.web.languages import de

__all__ = ["CATALOGUES", "LANGUAGES", "SPEAKERS", "Speaker", "best_of", "later"]

Catalogue = Mapping[str, str]

CATALOGUES: dict[str, Catalogue] = {"en": {}, "de": de.WORDS | de.SAID_ELSEWHERE}


class Speaker:
    """Says things in one language. Pages get one as `_`, made for the request they answer."""

    __slots__ = ("_words", "language")

    def __init__(self, language: str) -> None:
        self.language = language
        self._words = CATALOGUES[language]

    def __call__(self, text: str, /, **values: object) -> str:
        """`text` in this language, or as it stands; `{name}` in it becomes the value of that name."""
        words = self._words.get(text, text)
        for name, value in values.items():
            words = words.replace(f"{{{name}}}", str(value))
        return words


SPEAKERS = {language: Speaker(language) for language in CATALOGUES}


def later(text: str) -> str:
    """Words that are translated where they are shown."""
    return text


def best_of(accepted: str) -> str:
    """The language we know that a browser would like best, by what its `Accept-Language` says."""
    wishes: list[tuple[float, str]] = []
    for part in accepted.split(",")[:20]:
        name, _, options = part.strip().partition(";")
        weight = _weight(options)
        language = name.strip().lower().partition("-")[0]
        if language in CATALOGUES and weight > 0:
            wishes.append((weight, language))
    return max(wishes, key=lambda wish: wish[0])[1] if wishes else "en"


def _weight(options: str) -> float:
    _, found, text = options.partition("q=")
    try:
        return min(float(text), 1.0) if found else 1.0
    except ValueError:
        return 0.0
