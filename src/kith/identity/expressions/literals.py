"""What an expression says in strings, found without parsing it: no text can do harm here."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from kith.identity.expressions.source import strings_and_comments

__all__ = ["calls_policies", "literals_of", "means_any_group"]

_CALLS = "call_policy"  # it asks another policy, by its name
# `is_group_member(user, name="editors")`, with a string that says what it says
_ASKS_FOR_ONE = re.compile(
    r"""\b(?:ak_|pb_)?is_group_member\(\s*[\w.]+\s*,\s*(?:name|pk|group_uuid)\s*=\s*("[^"\\\n]*"|'[^'\\\n]*')\s*,?\s*\)"""
)
_MOST = 1000  # longer strings name nothing


@lru_cache(200)
def literals_of(body: str) -> frozenset[str]:
    """Its strings, with those that stand side by side joined as well: together no longer than twice the expression."""
    found: set[str] = set()
    side_by_side: list[str] = []
    ended = -1
    for start, end in strings_and_comments(body):
        if body[start] == "#":
            continue
        if ended < 0 or body[ended:start].strip("\\\n\t rbfuRBFU"):
            found.add(_joined(side_by_side))
            side_by_side = []
        value = _value(body[start:end])
        found.add(value)
        side_by_side.append(value)
        ended = end
    return frozenset(found | {_joined(side_by_side)}) - {""}


def _joined(parts: list[str]) -> str:
    return "".join(parts) if sum(map(len, parts)) <= _MOST else ""


def _value(literal: str) -> str:
    if len(literal) > _MOST:
        return ""
    try:
        return str(ast.literal_eval(literal)) if "\\" in literal else literal.strip(literal[0])
    except (SyntaxError, ValueError):
        return literal[1:-1]


def means_any_group(body: str) -> bool:
    """Whether it looks at groups otherwise than by asking for one with a name or identifier that stands there."""
    return "group" in _ASKS_FOR_ONE.sub("", body)


def calls_policies(body: str) -> bool:
    return _CALLS in body
