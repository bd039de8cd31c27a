"""PostgreSQL's text format of COPY, as it stands in plain dumps and as a server sends it."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["NotACopy", "read_array", "read_copy_head", "read_line"]

_HEAD = re.compile(r'COPY (?:public\.)?"?([a-z_0-9]+)"? \((.*)\) FROM stdin;\s*\Z')
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPED = re.compile(r"\\([0-7]{1,3}|x[0-9A-Fa-f]{1,2}|.)", re.DOTALL)
NULL = r"\N"
END = b"\\."


class NotACopy(ValueError):  # noqa: N818 - it says what is wrong
    """What was read is no row of a COPY."""


def read_copy_head(line: str) -> tuple[str, list[str]] | None:
    """The table and its columns, where a block of rows begins."""
    found = _HEAD.match(line)
    if found is None:
        return None
    return found[1], [name.strip().strip('"') for name in found[2].split(",")]


def read_line(line: bytes) -> list[str | None]:
    """The values of one row, without its line end."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise NotACopy("a row is not UTF-8 text") from error
    if "\\" not in text:
        return list(text.split("\t"))
    return [None if value == NULL else _plain(value) for value in text.split("\t")]


def _plain(value: str) -> str:
    return _ESCAPED.sub(_unescaped, value) if "\\" in value else value


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPES.get(code, code)


def read_array(text: str | None) -> list[str | None]:
    """`{1,2}`, `{"a b",NULL}`: arrays of one dimension, which are all that Mastodon has."""
    if not text:
        return []
    if not (text.startswith("{") and text.endswith("}")):
        raise NotACopy("this is no array")
    return list(_elements(text[1:-1]))


def _elements(text: str) -> Iterator[str | None]:
    place, end = 0, len(text)
    while place < end:
        if text[place] == '"':
            value, place = _quoted(text, place + 1)
            yield value
        else:
            comma = text.find(",", place)
            comma = end if comma < 0 else comma
            word = text[place:comma]
            yield None if word == "NULL" else word
            place = comma
        if place < end and text[place] != ",":
            raise NotACopy("this is no array")
        place += 1


def _quoted(text: str, place: int) -> tuple[str, int]:
    pieces: list[str] = []
    while True:
        if place >= len(text):
            raise NotACopy("this is no array")
        letter = text[place]
        if letter == '"':
            return "".join(pieces), place + 1
        if letter == "\\":
            place += 1
            letter = text[place : place + 1]
        pieces.append(letter)
        place += 1
