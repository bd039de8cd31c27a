"""A copy of the wanted rows in a file of our own, to be asked in any order.

Dumps hold tables one after the other and rows in no order. Here every row is found by its number, and what belongs to a
post or a person by theirs. The file holds keys and tokens: it is the owner's alone, and deleted when all is done.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kith.base.db.copy_format import read_line
from kith.base.errors import Invalid
from kith.cli.imports.mastodon.sources import MastodonSource, Told
from kith.cli.imports.mastodon.wanted import NEEDED, WANTED

__all__ = ["Row", "Staging"]

Row = sqlite3.Row
_AT_ONCE = 2000
_NUMBERS = frozenset({"id", "visibility", "last_read_id", "position", "permissions", "place"})
# What rows are asked for by, beside their own number.
_INDEXES = {
    "users": ("account_id",),
    "account_stats": ("account_id",),
    "status_stats": ("status_id",),
    "media_attachments": ("status_id",),
    "mentions": ("status_id", "account_id"),
    "statuses": ("account_id", "reblog_of_id"),
    "statuses_tags": ("status_id",),
    "status_edits": ("status_id",),
    "quotes": ("status_id",),
    "follows": ("account_id", "target_account_id"),
    "favourites": ("account_id", "status_id"),
    "poll_votes": ("poll_id",),
    "user_invite_requests": ("user_id",),
}


class Staging:
    def __init__(self, path: Path, *, lasts: bool = True) -> None:
        """One that does not last has no name once it is open: it goes with its process, however that ends."""
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode=OFF")  # what is lost with the power is read again
        self._db.execute("PRAGMA synchronous=OFF")
        self._db.execute("PRAGMA temp_store=FILE")
        if not lasts:
            self._db.execute("CREATE TABLE opened (at TEXT)")
            path.unlink()

    @property
    def is_whole(self) -> bool:
        return bool(self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'whole'").fetchone())

    async def fill(self, source: MastodonSource, told: Told) -> None:
        for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            self._db.execute(f'DROP TABLE "{name}"')
        for table, columns in WANTED.items():
            self._db.execute(f"CREATE TABLE {table} ({', '.join(map(_declared, columns))})")
        taker = _Taker(self._db)
        await source.read(taker.take, told)
        taker.flush()
        missing = sorted(NEEDED - taker.seen)
        if missing:
            raise Invalid(f"this is no Mastodon database: it has no {', '.join(missing)}")
        for table, columns in _INDEXES.items():
            for column in columns:
                self._db.execute(f"CREATE INDEX ix_{table}_{column} ON {table} ({column})")
        self._db.execute("ANALYZE")
        self._db.execute("CREATE TABLE whole (at TEXT)")

    def run(self, statement: str, *values: object) -> None:
        self._db.execute(statement, values)

    def all(self, statement: str, *values: object) -> list[Row]:
        return self._db.execute(statement, values).fetchall()

    def one(self, statement: str, *values: object) -> Any:
        """The first value of the first row."""
        found = self._db.execute(statement, values).fetchone()
        return None if found is None else found[0]

    def batches(self, statement: str, after: int, most: int) -> Iterator[list[Row]]:
        """Rows of a statement that takes `after` and `most` and gives them by a growing `id`."""
        while rows := self._db.execute(statement, {"after": after, "most": most}).fetchall():
            after = rows[-1]["id"]
            yield rows

    def by(self, table: str, column: str, values: Sequence[int]) -> dict[int, list[Row]]:
        """Rows of a table by what they belong to."""
        found: dict[int, list[Row]] = {}
        marks = ",".join("?" * len(values))
        order = "tag_id" if table == "statuses_tags" else "id"
        for row in self._db.execute(f"SELECT * FROM {table} WHERE {column} IN ({marks}) ORDER BY {order}", values):
            found.setdefault(row[column], []).append(row)
        return found

    def close(self) -> None:
        self._db.close()

    def delete(self) -> None:
        self.close()
        self._path.unlink(missing_ok=True)


def _declared(column: str) -> str:
    if column == "id":
        return "id INTEGER PRIMARY KEY"
    is_number = column.endswith(("_id", "_count")) or column in _NUMBERS
    return f"{column} {'INTEGER' if is_number and column != 'external_id' else 'TEXT'}"


class _Taker:
    """Writes rows a batch at a time; columns that nobody asked for are dropped."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._statement = ""
        self._places: list[int] = []
        self._rows: list[list[str | None]] = []
        self.seen: set[str] = set()

    def take(self, table: str, columns: list[str], line: bytes | None) -> None:
        if line is None:
            self.flush()
            return self._begin(table, columns)
        values = read_line(line)
        if len(values) != len(columns):
            raise Invalid(f"a row of {table} has {len(values)} values for {len(columns)} columns")
        self._rows.append([values[place] for place in self._places])
        if len(self._rows) >= _AT_ONCE:
            self.flush()
        return None

    def _begin(self, table: str, columns: list[str]) -> None:
        self.seen.add(table)
        kept = [name for name in WANTED[table] if name in columns]
        self._places = [columns.index(name) for name in kept]
        marks = ",".join("?" * len(kept))
        self._statement = f"INSERT OR IGNORE INTO {table} ({','.join(kept)}) VALUES ({marks})"

    def flush(self) -> None:
        if self._rows:
            self._db.execute("BEGIN")
            self._db.executemany(self._statement, self._rows)
            self._db.execute("COMMIT")
            self._rows = []
