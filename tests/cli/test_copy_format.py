"""Rows as PostgreSQL writes them into dumps, read back whatever they hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kith.base.db.copy_format import NotACopy, read_array, read_copy_head, read_line

_LETTERS = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
_VALUES = st.none() | st.text(_LETTERS, max_size=20)
_SHORT = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v", "\\": "\\"}


def _written(value: str | None) -> str:
    if value is None:
        return "\\N"
    return "".join(f"\\{_SHORT[letter]}" if letter in _SHORT else letter for letter in value)


@given(st.lists(_VALUES, min_size=1, max_size=6))
def test_a_row_is_read_as_it_was(values: list[str | None]) -> None:
    assert read_line("\t".join(map(_written, values)).encode()) == values


@given(st.lists(_VALUES, max_size=6))
def test_an_array_is_read_as_it_was(values: list[str | None]) -> None:
    quoted = [
        '"' + one.replace("\\", "\\\\").replace('"', '\\"') + '"' if one is not None else "NULL" for one in values
    ]
    assert read_array("{" + ",".join(quoted) + "}") == values


@given(st.binary(max_size=60))
def test_anything_else_is_refused_and_never_more(line: bytes) -> None:
    try:
        values = read_line(line)
        read_array(values[0])
    except NotACopy:
        pass


@pytest.mark.parametrize(
    ("line", "values"),
    [
        (rb"a\101\x42c", ["aABc"]),
        (rb"\N	\\N", [None, r"\N"]),
        (b"", [""]),
        (b"\t", ["", ""]),
    ],
)
def test_odd_ways_of_writing(line: bytes, values: list[str | None]) -> None:
    assert read_line(line) == values


def test_where_a_block_begins() -> None:
    assert read_copy_head('COPY public.statuses (id, uri, "text") FROM stdin;') == ("statuses", ["id", "uri", "text"])
    assert read_copy_head("COPY something odd") is None
    assert read_array("{1,2}") == ["1", "2"]
    assert read_array("{}") == read_array(None) == []
