"""Regular expressions that people give us: read and run by RE2, whose cost grows with the text and no faster.

It knows neither references back nor looking around, which are what others take forever with.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

__all__ = ["MOST_PATTERNS", "linear"]

# To read one may cost more than to run it: together these bound it to some milliseconds.
MOST_CHARACTERS = 1000
MOST_MEMORY = 1 << 16
MOST_CLASSES = 20  # of Unicode, such as \pL: each has hundreds of ranges
MOST_PATTERNS = 50  # in one field
_CLASS = re.compile(r"\\[pP]")


@lru_cache(maxsize=512)
def linear(pattern: str) -> Any | None:
    """Has `search`, `match` and `fullmatch`; None for what is no such expression, or is too large to be one."""
    if len(pattern) > MOST_CHARACTERS or len(_CLASS.findall(pattern)) > MOST_CLASSES:
        return None
    import re2  # noqa: PLC0415 - loaded when first used

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MOST_MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None
