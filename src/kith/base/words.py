"""Words in other languages: which language somebody wants, and finished sentences said again in it.

A catalogue maps English, which stands in the code, to another language. `{name}` in it stands for whatever was put
there when the sentence was made.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

__all__ = ["Catalogue", "Phrases", "best_of"]

Catalogue = Mapping[str, str]
_GAP = re.compile(r"\{(\w+)\}")
_LONGEST = 2000  # of what was put into a sentence there may be any amount


class Phrases:
    """Says finished English sentences in another language; what is not in the catalogue stays as it is."""

    def __init__(self, words: Catalogue) -> None:
        self._whole = {said: meant for said, meant in words.items() if not _GAP.search(said)}
        self._made = [(_pattern(said), meant) for said, meant in words.items() if _GAP.search(said)]

    def __call__(self, said: str) -> str:
        found = self._whole.get(said)
        if found is not None or len(said) > _LONGEST:
            return found or said
        for pattern, meant in self._made:
            match = pattern.fullmatch(said)
            if match is not None:
                return self._filled(meant, match)
        return said

    def _filled(self, meant: str, match: re.Match[str]) -> str:
        """What stands for `{why}` is a sentence of its own."""
        return _GAP.sub(lambda gap: self(match[gap[1]]) if gap[1] == "why" else match[gap[1]], meant)


def _pattern(said: str) -> re.Pattern[str]:
    pieces = _GAP.split(said)  # words, a name, words, a name, ..., words
    texts = [re.escape(piece) if place % 2 == 0 else f"(?P<{piece}>.+?)" for place, piece in enumerate(pieces)]
    return re.compile("".join(texts), re.DOTALL)


def best_of(accepted: str, known: Collection[str]) -> str:
    """The known language that somebody would like best, by what `Accept-Language` says; else English."""
    wishes: list[tuple[float, str]] = []
    for part in accepted.split(",")[:20]:
        name, _, options = part.strip().partition(";")
        weight = _weight(options)
        language = name.strip().lower().partition("-")[0]
        if language in known and weight > 0:
            wishes.append((weight, language))
    return max(wishes, key=lambda wish: wish[0])[1] if wishes else "en"


def _weight(options: str) -> float:
    _, found, text = options.partition("q=")
    try:
        return min(float(text), 1.0) if found else 1.0
    except ValueError:
        return 0.0
