"""A file of people: CSV with a head line, in any of the usual encodings of table programs."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import msgspec

from kith.base.errors import Invalid

__all__ = ["PersonInTable", "read_people"]

MOST_BYTES = 64 << 20
MOST_CELL = 10_000
# How columns may be called, in lower case and without signs.
_HEADS = {
    "username": ("username", "login", "user", "account", "benutzername"),
    "email": ("email", "mail", "emailaddress", "address"),
    "name": ("name", "displayname", "fullname"),
    "groups": ("groups", "group"),
    "password": ("password",),
}
_SIGNS = re.compile(r"[^a-z]")


class PersonInTable(msgspec.Struct):
    """`line` is where it stands in the file."""

    line: int
    username: str
    email: str = ""
    name: str = ""
    groups: list[str] = []
    password: str | None = None


def read_people(path: Path) -> list[PersonInTable]:
    if not path.is_file():
        raise Invalid(f"there is no file {path}")
    if path.stat().st_size > MOST_BYTES:
        raise Invalid(f"{path} is larger than {MOST_BYTES >> 20} MB")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not UTF-8 text") from error
    csv.field_size_limit(MOST_CELL)
    separator = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        heads = _places(next(reader, []))
        return [_line(reader.line_num, row, heads) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise Invalid(f"line {reader.line_num} of {path} cannot be read: {error}") from error


def _places(head: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for place, cell in enumerate(head):
        word = _SIGNS.sub("", cell.lower())
        name = next((name for name, words in _HEADS.items() if word in words), None)
        if name is None:
            raise Invalid(f"there is a column {cell!r}; known are username, email, name, groups and password")
        if name in found:
            raise Invalid(f"two columns are for {name}")
        found[name] = place
    if "username" not in found:
        raise Invalid("the first line must name the columns, and one of them must be username")
    return found


def _line(number: int, row: list[str], heads: dict[str, int]) -> PersonInTable:
    def cell(name: str) -> str:
        place = heads.get(name)
        return row[place].strip() if place is not None and place < len(row) else ""

    groups = [one.strip() for one in re.split(r"[|,;]", cell("groups"))]
    return PersonInTable(
        line=number,
        username=cell("username"),
        email=cell("email"),
        name=cell("name"),
        groups=[one for one in groups if one],
        password=cell("password") or None,
    )
