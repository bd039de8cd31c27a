"""How an import runs: step by step, a batch at a time, going on where it stopped, or rehearsed."""

from __future__ import annotations

import copy
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from kith.base import import_runs
from kith.base.ids import RENEW_SECONDS, Counter, IDs
from kith.base.import_runs import ImportRun, LeftOutRow
from kith.base.work import Work, Works
from kith.cli.imports.progress import Progress
from kith.cli.imports.rows import Rows

__all__ = ["Batch", "RunStep", "RunningImport", "open_run", "source_of"]

Item = TypeVar("Item")


def source_of(file: Path) -> str:
    """By which a file is known again."""
    return f"{file.absolute()} ({file.stat().st_size} bytes)"


class Batch(Generic[Item]):
    """Some items of a step, what becomes of them, and what is left out."""

    def __init__(self, step: str, work: Work, items: list[Item], *, rehearsed: bool) -> None:
        self._step = step
        self.work = work
        self.items = items
        self.is_rehearsed = rehearsed
        self.rows = Rows()
        self.left: list[LeftOutRow] = []
        self.taken = 0

    def leave(self, name: object, reason: str, *, step: str = "") -> None:
        self.left.append(LeftOutRow(step or self._step, str(name), reason))


class RunStep(NamedTuple, Generic[Item]):
    """`batches` gives, after a place, the items that follow with the place of the last of them."""

    name: str
    total: int
    batches: Callable[[int], Iterable[tuple[int, list[Item]]]]
    take: Callable[[Batch[Item]], Awaitable[None]]


class _Unleased(IDs):
    """Ids for a rehearsal, of which none is kept: nobody else has to be asked."""

    def __init__(self) -> None:
        self._sequence = Counter(0)

    def new(self) -> int:
        return self._sequence.next(time.time_ns() // 1_000_000)


class RunningImport:
    """One import. A rehearsal is one transaction that is taken back at the end."""

    def __init__(self, works: Works, row: ImportRun, progress: Progress, *, rehearsal: Work | None) -> None:
        self._works = works
        self.row = row
        self._progress = progress
        self._rehearsal = rehearsal
        self._renewed_at = 0.0
        self.is_resumed = False
        self.taken: dict[str, int] = defaultdict(int)
        self._left: list[LeftOutRow] = []
        self._marks: dict[str, tuple[int, int]] = {}

    @property
    def is_rehearsed(self) -> bool:
        return self._rehearsal is not None

    @property
    def has_begun(self) -> bool:
        """Whether it has written anything before."""
        return bool(self._marks)

    async def load_marks(self, work: Work) -> None:
        self._marks = await import_runs.marks(work.db, self.row.id)

    async def do(self, step: RunStep[Any]) -> None:
        place, taken = self._marks.get(step.name, (0, 0))
        self.taken[step.name] = taken
        self._progress.begin(step.name, step.total, taken)
        for last, items in step.batches(place):
            await self._keep_lease()
            async with self.work() as work:
                batch: Batch[Any] = Batch(step.name, work, items, rehearsed=self.is_rehearsed)
                await step.take(batch)
                await batch.rows.write(work.db)
                self.taken[step.name] += batch.taken
                await self._keep(work, step.name, last, batch.left)
            self._progress.advance(len(items))
        self._progress.end()

    async def _keep_lease(self) -> None:
        """Reading may have taken long; ids are made only while the right to make them is this process's."""
        if not self.is_rehearsed and time.monotonic() - self._renewed_at > RENEW_SECONDS:
            await self._works.ids.renew()
            self._renewed_at = time.monotonic()

    async def _keep(self, work: Work, step: str, place: int, left: list[LeftOutRow]) -> None:
        if self._rehearsal is not None:
            self._left += left
            return
        await import_runs.set_mark(work.db, self.row.id, step, place, self.taken[step])
        await import_runs.add_left_out(work.db, self.row.id, [(work.new_id(), one) for one in left])

    @asynccontextmanager
    async def work(self) -> AsyncIterator[Work]:
        if self._rehearsal is not None:
            yield self._rehearsal
            return
        async with self._works.begin() as work:
            yield work

    async def left_out(self) -> list[LeftOutRow]:
        if self._rehearsal is not None:
            return self._left
        async with self._works.begin() as work:
            return await import_runs.left_out(work.db, self.row.id)

    async def finish(self) -> None:
        async with self.work() as work:
            if self._rehearsal is None:
                await import_runs.finish(work.db, self.row.id, work.now)


@asynccontextmanager
async def open_run(
    works: Works, kind: str, source: str, options: dict[str, Any], progress: Progress, *, rehearse: bool
) -> AsyncIterator[RunningImport]:
    """A new run, or the one of the same source that was interrupted; its options stay those that it began with."""
    async with works.begin() as work:
        found = None if rehearse else await import_runs.find_unfinished(work.db, kind, source)
        row = found or ImportRun(work.new_id(), kind, source, options, work.now, None)
        if found is None and not rehearse:
            await import_runs.begin(work.db, row)
    if not rehearse:
        run = RunningImport(works, row, progress, rehearsal=None)
        run.is_resumed = found is not None
        async with works.begin() as work:
            await run.load_marks(work)
        yield run
        return
    unleased = copy.copy(works)
    unleased.ids = _Unleased()
    work = unleased.open()
    try:
        yield RunningImport(works, row, progress, rehearsal=work)
    finally:
        await work.rollback()
