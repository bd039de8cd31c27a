"""The files that people take along, as Mastodon and most others write and read them: pure functions."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

from kith.base.errors import Malformed
from kith.social.text.domains import domain_of

__all__ = ["HEADERS", "KINDS", "MOST_BYTES", "MOST_ROWS", "read_rows", "write_rows"]

KINDS = ("following", "lists", "muting", "blocking", "domain_blocking", "bookmarks")
MOST_BYTES = 1 << 20
MOST_ROWS = 20_000
MOST_LINES = 2 * MOST_ROWS  # with empty ones
LONGEST = 2000  # of one value
_TOO_LONG = f"There are more than {MOST_ROWS} rows in this file."
_NO_CSV = "This is not a CSV file in UTF-8."
# The names that columns have in files with a first row of names; those without have only the first, or for lists two.
HEADERS: dict[str, tuple[tuple[str, str], ...]] = {
    "following": (
        ("acct", "Account address"),
        ("reblogs", "Show boosts"),
        ("notify", "Notify on new posts"),
        ("languages", "Languages"),
    ),
    "muting": (("acct", "Account address"), ("hide_notifications", "Hide notifications")),
    "blocking": (("acct", "Account address"),),
    "domain_blocking": (("domain", "#domain"),),
    "bookmarks": (("uri", "#uri"),),
    "lists": (("list", "List name"), ("acct", "Account address")),
}
_WITH_NAMES = ("following", "muting")
_ACCT = re.compile(r"@?([\w.-]{1,200})(?:@([^\s@/]{1,300}))?")
_TRUE = frozenset(("true", "1", "yes", "t", "on"))
_FLAGS = frozenset(("reblogs", "notify", "hide_notifications"))


def write_rows(kind: str, rows: Iterable[Sequence[str]]) -> bytes:
    """Follows and mutes begin with the names of their columns, as Mastodon has it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if kind in _WITH_NAMES:
        writer.writerow([name for _, name in HEADERS[kind]])
    writer.writerows(rows)
    return text.getvalue().encode()


def read_rows(kind: str, content: bytes) -> list[dict[str, Any]]:
    """What a file says, each thing once; raises `Malformed` with words for whoever sent it."""
    if len(content) > MOST_BYTES:
        raise Malformed("The file is too large. At most 1 MB can be imported.")
    if b"\0" in content:
        raise Malformed(_NO_CSV)
    if content.count(b"\n") > MOST_LINES:
        raise Malformed(_TOO_LONG)
    try:
        lines = csv.reader(io.StringIO(content.decode("utf-8-sig")), strict=True)
        found = [line for line in lines if any(value.strip() for value in line)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise Malformed(_NO_CSV) from error
    names, found = _columns(kind, found)
    if len(found) > MOST_ROWS:
        raise Malformed(_TOO_LONG)
    rows = [row for line in found if (row := _row(names, line)) is not None]
    if not rows:
        raise Malformed("Nothing in this file can be imported. Does it fit the kind you chose?")
    return list({tuple(_key(row)): row for row in rows}.values())


def _columns(kind: str, lines: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """What each column holds, by the first row where that has names, and the rows that follow."""
    known = {name.lower(): field for field, name in HEADERS[kind]}
    first = [value.strip().lower() for value in lines[0]] if lines else []
    if any(name in known for name in first):
        return [known.get(name, "") for name in first], lines[1:]
    return [field for field, _ in HEADERS[kind]], lines


def _row(names: list[str], line: list[str]) -> dict[str, Any] | None:
    """None if it names nobody and nothing."""
    given = {name: value.strip() for name, value in zip(names, line, strict=False) if name}
    if any(len(value) > LONGEST for value in given.values()):
        return None
    row: dict[str, Any] = {name: value.lower() in _TRUE for name, value in given.items() if name in _FLAGS and value}
    if "acct" in names:
        acct = _acct(given.get("acct", ""))
        if acct is None:
            return None
        row["acct"] = acct
    if "list" in names:
        if not given.get("list"):
            return None
        row["list"] = given["list"]
    if given.get("languages"):
        row["languages"] = [code.strip() for code in given["languages"].split(",") if code.strip()]
    return row if "acct" in names else _place(names, given)


def _place(names: list[str], given: dict[str, str]) -> dict[str, Any] | None:
    if "domain" in names:
        domain = domain_of(given.get("domain", ""))
        return None if domain is None else {"domain": domain}
    uri = given.get("uri", "")
    return {"uri": uri} if uri.startswith(("https://", "http://")) else None


def _acct(text: str) -> str | None:
    found = _ACCT.fullmatch(text)
    if found is None:
        return None
    name, domain = found.groups()
    return f"{name}@{domain.lower()}" if domain else name


def _key(row: dict[str, Any]) -> list[str]:
    return [str(row.get(name, "")).lower() for name in ("list", "acct", "domain", "uri")]
