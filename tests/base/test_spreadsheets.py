"""CSV files that we write are opened in table programs, which take some texts for formulas."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

import kith
from kith.base.spreadsheets import as_written, harmless, write_quoted
from kith.federation.block_lists.csv_lists import read_list, write_blocks
from kith.social.admission.tables import ServerBlock

# Where each cell is a handle, an address of a page, a domain, a word of ours, or what the reader wrote themselves.
OWN_FORMATS = {"social/moderation/severed_api.py", "social/transfers/formats.py", "cli/imports/people.py"}
_BEGINNINGS = (
    "=",
    "+",
    "-",
    "@",
    "\t=",
    "\r=",
    "\n=",
    " =",
    "＝",
    "＋",
    "－",
    "＠",
    "\u00a0@",
    "\u2003-",
    "\u200b=",
    "\ufeff=",
    " \u2060\u200d@",
    "\x0b+",
    "\u00ad=",
    "\u034f=",
)
HOSTILE = [f"{begin}HYPERLINK(A1)" for begin in _BEGINNINGS]
HARMLESS = ["", "a", "'", "'tis", "1=1", "a@b.example", "a;b", '"', "a\nb", "x'=", "''=1"]


def _cells(text: str, separator: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


@pytest.mark.parametrize("text", [*HOSTILE, *HARMLESS])
def test_no_cell_is_a_formula_and_what_was_written_comes_back(text: str) -> None:
    [[cell, _]] = _cells(write_quoted([[harmless(text), "x"]], line_end="\r\n"), ",")

    assert cell.lstrip()[:1] not in tuple("=+-@＝＋－＠")
    assert as_written(cell) == text


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_whatever_a_table_program_splits_lines_at_no_formula_begins_there(separator: str) -> None:
    written = write_quoted([[harmless(f"a{separator}=1+1"), "b"]], line_end="\r\n")

    assert not [cell for line in _cells(written, separator) for cell in line if cell.startswith("=")]


@pytest.mark.parametrize("comment", HOSTILE)
def test_a_comment_of_a_block_list_is_no_formula_and_is_read_again(comment: str) -> None:
    """Comments come with lists that strangers keep."""
    block = ServerBlock(1, "bad.example", "suspend", False, False, False, None, comment, datetime.now(UTC))

    written = write_blocks([block])

    [_, line] = _cells(written.decode(), ",")
    assert not [cell for cell in line if cell.lstrip()[:1] in tuple("=+-@＝＋－＠")]
    [server] = read_list(written).servers
    assert (server.public_comment or "").strip() == comment.strip()


def test_every_other_file_is_written_by_these_functions() -> None:
    root = Path(kith.__file__).parent
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if re.search(r"csv\.(Dict)?[wW]riter|from csv import", path.read_text())
    }

    assert found == OWN_FORMATS
