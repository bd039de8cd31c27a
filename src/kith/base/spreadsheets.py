"""Text in the cells of CSV files, which people open in table programs.

Such a program takes a cell that begins with certain characters for a formula, which can send what stands beside it
elsewhere. So text that strangers may have written begins with an apostrophe then. Cells with a semicolon or a tab are
quoted, too: some programs take those for the end of a cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from unicodedata import category

__all__ = ["as_written", "harmless", "write_quoted"]

_ENDS = frozenset(',;"\t\r\n')
_FORMULA = frozenset("=+-@\t\r\n＝＋－＠")
_UNSEEN = ("Cc", "Cf", "Mn")


def harmless(text: str) -> str:
    return f"'{text}" if text[:1] in _FORMULA or _first_seen(text) in _FORMULA else text


def _first_seen(text: str) -> str:
    """The first character that shows: table programs may pass over others, as people do."""
    return next((one for one in text if not one.isspace() and category(one) not in _UNSEEN), "")


def as_written(cell: str) -> str:
    """What `harmless` was given, for files that are read again."""
    return cell[1:] if cell[:1] == "'" and harmless(cell[1:]) == cell else cell


def write_quoted(rows: Iterable[Sequence[str]], *, line_end: str) -> str:
    return "".join(",".join(_quoted(cell) for cell in row) + line_end for row in rows)


def _quoted(cell: str) -> str:
    return f'"{cell.replace(chr(34), chr(34) * 2)}"' if _ENDS.intersection(cell) else cell
