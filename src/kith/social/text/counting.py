"""How long a text is, as people count it."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from kith.social.text.parts import find

URL_LENGTH = 23
LONGEST = 16 * 1024
_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]+")


@cache
def _cluster() -> Any:
    import regex  # type: ignore[import-untyped] # noqa: PLC0415 - loaded when first used

    return regex.compile(r"\X")


def graphemes(text: str) -> int:
    """What people see as one character each; a text longer than any limit is not looked into."""
    if len(text) > LONGEST:
        return len(text)
    if text.isascii() and "\r" not in text:
        return len(text)
    # Of the letters that flags are made of, two make one. The expression would count each run again from its start.
    text = _FLAGS.sub(lambda run: "x" * ((run.end() - run.start() + 1) // 2), text)
    return sum(1 for _ in _cluster().finditer(text))


def length(text: str) -> int:
    """Every link counts alike, and of a mention only the name; a text longer than any limit is not looked into."""
    if len(text) > LONGEST:
        return len(text)
    parts: list[str] = []
    links = place = 0
    for one in find(text):
        if one.kind == "hashtag":
            continue
        parts.append(text[place : one.start])
        if one.kind == "mention":
            parts.append(f"@{one.name}")
        elif one.text.lower().startswith("http"):
            links += 1
            parts.append("\n")
        else:
            parts.append(one.text)
        place = one.end
    parts.append(text[place:])
    return graphemes("".join(parts)) + links * (URL_LENGTH - 1)
