"""The copy itself: table by table in batches, each with a mark, so that whatever ends it early is gone on with."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from kith.backup.copying.failures import TOLD, BadRow, BadRows, NotAsItWas, OtherMove
from kith.backup.copying.options import CopyOptions
from kith.backup.copying.rows import CopiedTable, CopySource, Row, all_tables, key_of
from kith.backup.copying.target import CopyTarget, TableMark, begin
from kith.backup.making import BackupProgress

__all__ = ["CopyReport", "RowCopier", "TableCount"]

_NUL = "a text has a NUL character"
_ESCAPED_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


class TableCount(msgspec.Struct, frozen=True):
    name: str
    before: int
    after: int


class CopyReport(msgspec.Struct, frozen=True):
    """`resumed` are rows that an earlier try has copied; `changed` are rows whose NUL characters were left out."""

    tables: list[TableCount]
    seconds: float
    resumed: int
    changed: list[BadRow]

    @property
    def rows(self) -> int:
        return sum(one.after for one in self.tables)

    @property
    def rows_a_second(self) -> int:
        return int((self.rows - self.resumed) / max(self.seconds, 0.001))


class RowCopier:
    def __init__(
        self, source: CopySource, target: CopyTarget, progress: BackupProgress, options: CopyOptions | None = None
    ) -> None:
        self._source = source
        self._target = target
        self._progress = progress
        self._options = options or CopyOptions()
        self._bad: list[BadRow] = []
        self._changed: list[BadRow] = []
        self._resumed = 0

    async def copy(self, origin: str, tables: list[CopiedTable] | None = None) -> CopyReport:
        """`origin` tells what is copied: a copy of something else is not gone on with."""
        started_at = time.monotonic()
        self._progress.begin("Counting")
        before = await self._source.counts()
        marks = await self._target.marks()
        if marks is not None and marks.get("source") != origin:
            raise OtherMove(
                "an interrupted copy of something else is there, or what is copied was used since: begin anew, with "
                "an empty database"
            )
        await begin(self._target, origin)
        marks = await self._target.marks() or {}
        self._progress.begin("Rows", sum(before.values()))
        for table in tables or all_tables():
            await self._copy_table(table, marks.get(f"table {table.name}"))
        if self._bad:
            raise BadRows(self._bad, has_nul=any(row.reason == _NUL for row in self._bad))
        await self._make_later(msgspec.json.decode(marks["later"], type=list[str]))
        await self._target.put_numbers(await self._source.last_numbers())
        self._progress.begin("Comparing", len(before))
        counts = [TableCount(name, rows, await self._count(name)) for name, rows in sorted(before.items())]
        await self._target.check()
        report = CopyReport(counts, time.monotonic() - started_at, self._resumed, self._changed)
        _refuse_differing(counts)
        if not self._options.is_rehearsal:
            await self._target.open_doors()
        return report

    async def _copy_table(self, table: CopiedTable, noted: str | None) -> None:
        mark = TableMark([]) if noted is None else msgspec.json.decode(noted, type=TableMark)
        self._resumed += mark.rows
        self._progress.advance(mark.rows)
        if mark.is_done:
            return
        async for rows in self._source.batches(table, mark.after or None):
            mark = TableMark(key_of(table, rows[-1]), mark.rows + len(rows))
            async with self._target.transaction():
                await self._put(table, rows)
                if self._bad and not self._options.is_rehearsal:
                    raise BadRows(self._bad, has_nul=any(row.reason == _NUL for row in self._bad))
                await self._note(table, mark)
            self._progress.advance(len(rows))
        async with self._target.transaction():
            await self._note(table, TableMark([], mark.rows, is_done=True))

    async def _note(self, table: CopiedTable, mark: TableMark) -> None:
        await self._target.set_mark(f"table {table.name}", msgspec.json.encode(mark).decode())

    async def _put(self, table: CopiedTable, rows: Sequence[Row]) -> None:
        """Where not all go, the halves are tried, down to the rows that do not."""
        try:
            async with self._target.transaction():
                await self._target.put(table, rows)
        except self._target.refusals as refusal:
            if len(rows) == 1:
                await self._refused(table, rows[0], refusal)
            elif len(self._bad) < TOLD:
                middle = len(rows) // 2
                await self._put(table, rows[:middle])
                await self._put(table, rows[middle:])

    async def _refused(self, table: CopiedTable, row: Row, refusal: Exception) -> None:
        words = self._target.words_of(refusal)
        key = {table.columns[place].name: row[place] for place in table.key}
        bad = BadRow(table.name, key, words)
        cleaned = [_without_nul(value) for value in row]
        if self._options.is_dropping_nul and cleaned != list(row):
            try:
                async with self._target.transaction():
                    await self._target.put(table, [cleaned])
            except self._target.refusals as second:
                bad = BadRow(table.name, key, self._target.words_of(second))
            else:
                self._changed.append(bad)
                return
        self._bad.append(bad)

    async def _make_later(self, statements: list[str]) -> None:
        self._progress.begin("Indexes", len(statements))
        while statements:
            statement, *statements = statements
            async with self._target.transaction():
                try:
                    await self._target.execute(statement)
                except self._target.refusals as refusal:
                    raise NotAsItWas(f"{self._target.words_of(refusal)}: {statement[:200]}") from refusal
                await self._target.set_mark("later", msgspec.json.encode(statements).decode())
            self._progress.advance(1)

    async def _count(self, name: str) -> int:
        count = await self._target.count(name)
        self._progress.advance(1)
        return count


def _without_nul(value: Any) -> Any:
    """As a character, and as documents write it."""
    return _ESCAPED_NUL.sub(r"\1", value.replace("\0", "")) if isinstance(value, str) else value


def _refuse_differing(counts: list[TableCount]) -> None:
    differing = [f"{one.name}: {one.before} rows before, {one.after} now" for one in counts if one.before != one.after]
    if differing:
        raise NotAsItWas("what was copied is not what there is: " + "; ".join(differing[:10]))
