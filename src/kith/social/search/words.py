"""Texts as they are indexed and asked for: both are made ready here, in the same way, for both databases.

A text becomes words that are compared without case, accents or width. Scripts that put no spaces between words are
written as overlapping pairs (and the last letter alone, so that every letter begins a word): whoever looks for a
part of a sentence looks for the pairs in it, one after the other. What is asked for is built from such words and from
nothing else; nobody can write to the index in its own language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

import msgspec

from kith.base.unicode import normal_form

MOST_CHARACTERS = 20_000
MOST_TERMS = 16
MOST_WORDS = 32  # of a phrase; it is found by its beginning, since each word is looked for at each place in each text
LONGEST_WORD = 64

# Thai, Lao, Tibetan, Burmese, Khmer; then Han, kana and Hangul: written without spaces, or with too few.
_DENSE = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff"
    "\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003134f"
)
_RUN = re.compile(f"(?P<dense>[{_DENSE}]+)|[^{_DENSE}]+")
_ACCENTS = range(0x300, 0x370)


class Term(msgspec.Struct, frozen=True):
    """Words that stand one after the other; of the last one perhaps only the beginning is known."""

    words: tuple[str, ...]
    is_open: bool = False


def normal(text: str) -> str:
    folded = normal_form("NFD", normal_form("NFKC", text)[:MOST_CHARACTERS].casefold())
    return normal_form("NFC", "".join(one for one in folded if ord(one) not in _ACCENTS))


def to_index(*texts: str) -> str:
    """Everything that can be found of something, as one row of words."""
    written = normal("\n".join(texts)[:MOST_CHARACTERS])
    return " ".join(word for run, is_dense in _runs(written) for word in _written(run, is_dense=is_dense))


def to_term(text: str, *, is_open: bool = False) -> Term | None:
    """A word or a phrase as the index has it; None where nothing of it could ever be found.

    `is_open`: more letters may follow.
    """
    runs = list(_runs(normal(text[:MOST_CHARACTERS])))
    words: list[str] = []
    for run, is_dense in runs[:-1]:
        words += _written(run, is_dense=is_dense)
    if not runs:
        return None
    last, is_dense = runs[-1]
    if not is_dense:
        return _cut(Term((*words, *_written(last, is_dense=False)), is_open=is_open))
    if len(last) == 1:
        return _cut(Term((*words, last), is_open=True))
    return _cut(Term((*words, *_pairs(last)), is_open=False))


def _cut(term: Term) -> Term:
    return term if len(term.words) <= MOST_WORDS else Term(term.words[:MOST_WORDS])


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Stretches of letters and digits, each either dense or not."""
    plain = "".join(one if _is_part(one) else " " for one in text)
    for stretch in plain.split():
        for match in _RUN.finditer(stretch):
            run = match.group()
            if any(unicodedata.category(one)[0] != "M" for one in run):
                yield run, match["dense"] is not None


def _is_part(one: str) -> bool:
    """Letters, digits, and the marks that belong to them."""
    return unicodedata.category(one)[0] in "LNM"


def _written(run: str, *, is_dense: bool) -> list[str]:
    return [*_pairs(run), run[-1]] if is_dense else [run[:LONGEST_WORD]]


def _pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(len(run) - 1)]


def for_sqlite(terms: Sequence[Term], *, every: bool) -> str:
    """As FTS5 reads it. There is nothing but letters and digits between the quotes."""
    joint = " AND " if every else " OR "
    return joint.join(f'"{" ".join(term.words)}"{" *" if term.is_open else ""}' for term in terms)


def for_postgres(terms: Sequence[Term], *, every: bool) -> str:
    """As `to_tsquery` reads it."""
    joint = " & " if every else " | "
    return joint.join(f"({' <-> '.join(_lexemes(term))})" for term in terms)


def _lexemes(term: Term) -> list[str]:
    quoted = [f"'{word}'" for word in term.words]
    return [*quoted[:-1], f"{quoted[-1]}:*"] if term.is_open else quoted
