"""Reading a `.po` file: the text format of gettext, as its manual describes it.

Only what a catalogue needs at run time is read. Comments and obsolete entries (`#~`) are passed over, and so are fuzzy
entries, which are guesses that nobody has checked yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

__all__ = ["CatalogueEntry", "CatalogueError", "read_entries"]

_LINE = re.compile(r'(?:(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d)\])?)\s+)?"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}


class CatalogueError(Exception):
    """The file is not a `.po` file."""


class CatalogueEntry(msgspec.Struct):
    """One message. `translations` holds the plural forms in their order, or a single text."""

    text: str = ""
    plural: str = ""
    context: str = ""
    translations: list[str] = []
    is_fuzzy: bool = False


def read_entries(lines: Iterable[str]) -> Iterator[CatalogueEntry]:
    """Every entry with a translation, the header (an empty text) among them."""
    entry, field, is_fuzzy = CatalogueEntry(), "", False
    for number, line in enumerate(lines, 1):
        line = line.strip()  # noqa: PLW2901 - what is left of the line
        if not line or line[0] == "#":
            is_fuzzy = is_fuzzy or (line[:2] == "#," and "fuzzy" in line)
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise CatalogueError(f"line {number} cannot be read: {line[:80]}")
        keyword, _, quoted = match.groups()
        if keyword is not None:
            if keyword in ("msgctxt", "msgid") and field.startswith("msgstr"):
                yield from _finished(entry)
                entry, field = CatalogueEntry(), ""
            if not field:
                entry.is_fuzzy, is_fuzzy = is_fuzzy, False
            field = keyword
            if field.startswith("msgstr"):
                entry.translations.append("")
        elif not field:
            raise CatalogueError(f"line {number} belongs to nothing: {line[:80]}")
        _append(entry, field, _unquoted(quoted))
    if field.startswith("msgstr"):
        yield from _finished(entry)


def _finished(entry: CatalogueEntry) -> Iterator[CatalogueEntry]:
    if not entry.is_fuzzy and entry.translations and all(entry.translations):
        yield entry


def _append(entry: CatalogueEntry, field: str, text: str) -> None:
    match field:
        case "msgctxt":
            entry.context += text
        case "msgid":
            entry.text += text
        case "msgid_plural":
            entry.plural += text
        case _:
            entry.translations[-1] += text


def _unquoted(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text) if "\\" in text else text
