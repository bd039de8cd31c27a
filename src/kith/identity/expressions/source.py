"""Turns the body that an author wrote into a function for the interpreter, and maps positions back."""

from __future__ import annotations

import re

from kith.identity.expressions.yields import NAME, rewritten

MOST_BYTES = 65_536
FUNCTION = "_expression"

# Where a comment or a string begins, and what a string consists of up to its end. Nothing is tried twice: the parts of
# a string begin with different characters, and none is given back once it is taken.
_BEGIN = re.compile(r"""\#[^\n]*+|\"{3}|'{3}|["']""")
_INSIDE = {
    '"""': re.compile(r"""(?:[^"\\]|\\.|"(?!""))*+""", re.DOTALL),
    "'''": re.compile(r"""(?:[^'\\]|\\.|'(?!''))*+""", re.DOTALL),
    '"': re.compile(r"""(?:[^"\\\n]|\\.)*+""", re.DOTALL),
    "'": re.compile(r"""(?:[^'\\\n]|\\.)*+""", re.DOTALL),
}
_HEAD = f"def {FUNCTION}():\n pass\n"
_HEAD_LINES = _HEAD.count("\n")
# The result of a body with `yield` is what it has yielded.
_LISTED = f"_body = {FUNCTION}\ndef {FUNCTION}():\n _body()\n return {NAME}\n"


class ExpressionSource:
    """A body as a function: every line is indented, except those that begin inside a string."""

    def __init__(self, body: str, before: str = "", after: str = "") -> None:
        text = body.replace("\r\n", "\n").replace("\r", "\n").replace("\f", " ")
        text, has_yields = rewritten(text, strings_and_comments(text)) if "yield" in text else (text, False)
        self._fixed = _lines_inside_strings(text)
        lines = text.split("\n")
        self._margin = self._common_margin(lines)
        moved = "\n".join(self._moved(number, line) for number, line in enumerate(lines))
        before, after = (f"{before}{NAME} = []\n", f"{_LISTED}{after}") if has_yields else (before, after)
        self._first = before.count("\n") + _HEAD_LINES + 1
        self._count, self._last_column = len(lines), len(lines[-1]) + 1
        self.text = f"{before}{_HEAD}{moved}\n\n{after}"

    def _common_margin(self, lines: list[str]) -> int:
        """By how much the whole body is indented already."""
        code = [line for number, line in enumerate(lines) if line.strip() and number not in self._fixed]
        margins = {line[: len(line) - len(line.lstrip(" \t"))] for line in code} or {""}
        shortest = min(margins, key=len)
        return len(shortest) if all(margin.startswith(shortest) for margin in margins) else 0

    def _moved(self, number: int, line: str) -> str:
        if number in self._fixed:
            return line
        return f" {line[self._margin :]}" if line.strip() else ""

    def place(self, line: int, column: int) -> tuple[int, int]:
        """The author's line and column for a position in the generated text."""
        number = line - self._first
        if number >= self._count:
            return self._count, self._last_column
        moved = 0 if number in self._fixed else self._margin - 1
        return max(number, 0) + 1, max(column + moved, 1)

    def holds(self, line: int) -> bool:
        return self._first <= line < self._first + self._count


def strings_and_comments(text: str) -> list[tuple[int, int]]:
    """Where they begin and end. A string that is not closed does not count."""
    found: list[tuple[int, int]] = []
    place = 0
    while (begin := _BEGIN.search(text, place)) is not None:
        place, mark = begin.end(), begin.group()
        if mark.startswith("#"):
            found.append(begin.span())
            continue
        inside = _INSIDE[mark].match(text, place)
        place = inside.end() if inside is not None else place
        if text.startswith(mark, place):
            place += len(mark)
            found.append((begin.start(), place))
    return found


def _lines_inside_strings(text: str) -> set[int]:
    """The numbers of lines that begin inside a string."""
    found: set[int] = set()
    line = counted = 0
    for start, end in strings_and_comments(text):
        line += text.count("\n", counted, start)
        lines = text.count("\n", start, end)
        found.update(range(line + 1, line + lines + 1))
        line, counted = line + lines, end
    return found
