"""How long a text is, as people count it."""

from __future__ import annotations

import regex  # type: ignore[import-untyped]

from kith.social.text.parts import find

URL_LENGTH = 23
_CLUSTER = regex.compile(r"\X")


def graphemes(text: str) -> int:
    """What people see as one character each."""
    return len(text) if text.isascii() and "\r" not in text else sum(1 for _ in _CLUSTER.finditer(text))


def length(text: str) -> int:
    """Every link counts alike, and of a mention only the name."""
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
