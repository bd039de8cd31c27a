"""Regular expressions for redirect URIs.

An expression must match the whole URI, begin with its scheme, and have no nested repetition. RE2 runs it, so that no
URI can keep the server busy.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from kith.base.patterns import linear
from kith.identity.providers.redirect_uris import RUNS_IN_THE_BROWSER

MOST_CHARACTERS = 500
MOST_MATCHED = 512
MOST_REPEATS = 3
_SCHEME = re.compile(r"\^?([A-Za-z](?:[A-Za-z0-9-]|\\[.+-])*?)\\?:(?![?*+{])")
_SET = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
_REPEAT = re.compile(r"[*+]|\{\d*,\d*\}")


def complain_pattern(pattern: str) -> str | None:
    """What is wrong with `pattern`, if anything."""
    shown = pattern if len(pattern) <= 100 else pattern[:100] + "..."
    if len(pattern) > MOST_CHARACTERS:
        return f"{shown} is too long for a pattern."
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return f"{shown} is not a valid regular expression."
    scheme = _SCHEME.match(pattern)
    if scheme is None:
        return f"{shown} must begin with a scheme, such as https:"
    if scheme[1].replace("\\", "").lower() in RUNS_IN_THE_BROWSER:
        return f"{shown}: the scheme {scheme[1]} is not allowed."
    # Sets and escaped characters match one character each.
    bare = _SET.sub("x", re.sub(r"\\[^\d]", "x", pattern))
    if re.search(r"\\\d|\(\?(?!:)", bare) or re.search(r"\)[*+{]", bare):
        return f"{shown} may neither repeat a group, look around nor refer back."
    if "|" in _outside_brackets(bare):
        return f"{shown}: put alternatives into brackets, so that each has the scheme before it."
    if len(_REPEAT.findall(bare)) > MOST_REPEATS:
        return f"{shown} may hold {MOST_REPEATS} repetitions at most."
    if linear(pattern) is None:
        return f"{shown} is not a regular expression that RE2 knows."
    return None


def _outside_brackets(text: str) -> str:
    while (less := re.sub(r"\([^()]*\)", "", text)) != text:
        text = less
    return text


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Any | None:
    """None for an expression that would not be accepted today."""
    return None if complain_pattern(pattern) is not None else linear(pattern)
