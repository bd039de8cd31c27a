"""Unicode normal forms at a cost that grows with the text, and no faster.

Marks that follow a letter are sorted, which the standard library does in the square of their number. No language
writes more than a few in a row: as in Unicode's Stream-Safe Text Format (UAX 15), there are 30 at the most here.
"""

from __future__ import annotations

import unicodedata
from typing import Literal

__all__ = ["normal_form"]

MOST_MARKS = 30
_SHORT = 200


def normal_form(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """As `unicodedata.normalize`; of more than 30 marks in a row the first 30 are kept."""
    if text.isascii():
        return text
    return unicodedata.normalize(form, text if len(text) <= _SHORT else _with_few_marks(text))


def _with_few_marks(text: str) -> str:
    kept: list[str] = []
    marks = 0
    for one in text:
        marks = marks + 1 if unicodedata.combining(one) else 0
        if marks <= MOST_MARKS:
            kept.append(one)
    return text if len(kept) == len(text) else "".join(kept)
