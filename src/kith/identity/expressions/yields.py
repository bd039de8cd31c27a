"""Bodies that `yield` values: the sandbox has no generators, so each `yield` adds to a list, which is the result.

Only statements are rewritten (`yield x`, `yield from xs`), and lines stay where they are. A body that defines
functions, or uses what a `yield` gives back, is left as it is and refused by the syntax check.
"""

from __future__ import annotations

import re

# A list outside of the body's function.
NAME = "_yielded"

_WORD = re.compile(r"(?<![\w.])yield(?!\w)")
_FROM = re.compile(r"[ \t]+from(?!\w)")
_FUNCTION = re.compile(r"(?<![\w.])(?:def|lambda|class)(?!\w)")
_OPEN, _CLOSE = "([{", ")]}"


def rewritten(text: str, strings: list[tuple[int, int]]) -> tuple[str, bool]:
    """`text` without `yield`, and whether there was any. `strings` are where strings and comments stand."""
    code = _blanked(text, strings)
    words = [found.start() for found in _WORD.finditer(code)]
    if not words or _FUNCTION.search(code) is not None:
        return text, False
    pieces, place = [], 0
    for start in words:
        lead = code[code.rfind("\n", 0, start) + 1 : start].rstrip()
        if start < place or (lead and not lead.endswith((":", ";"))):
            return text, False
        end = _end_of_statement(code, start)
        pieces += [text[place:start], _call(text[start:end])]
        place = end
    return "".join((*pieces, text[place:])), True


def _call(statement: str) -> str:
    """`yield x` as a call, with all its line breaks."""
    rest = statement.removeprefix("yield")
    found = _FROM.match(rest)
    if found is not None:
        return f"{NAME}.extend({rest[found.end() :]})"
    return f"{NAME}.append(({rest}))" if rest.strip() else f"{NAME}.append(None)"


def _blanked(text: str, strings: list[tuple[int, int]]) -> str:
    """The text with strings as underscores and comments as `#`, so that only code is left."""
    pieces, place = [], 0
    for start, end in strings:
        filler = "#" if text.startswith("#", start) else "_"
        pieces += [text[place:start], filler * (end - start)]
        place = end
    return "".join((*pieces, text[place:]))


def _end_of_statement(code: str, start: int) -> int:
    """Where the statement ends: at a line break, semicolon or comment outside of brackets."""
    depth = 0
    for place in range(start, len(code)):
        letter = code[place]
        if letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
        elif depth <= 0 and (letter in ";#" or (letter == "\n" and code[place - 1] != "\\")):
            return place
    return len(code)
