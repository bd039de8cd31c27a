"""How far something long has come, on a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Bar"]


class Bar:
    """Nothing is shown where nobody looks. With `unit` it also tells how many of those come in a second."""

    def __init__(self, unit: str = "") -> None:
        self._unit = unit
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._began_at = 0.0
        self._done = 0

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console  # noqa: PLC0415 - loaded when first used: only a terminal needs it
            from rich.progress import Progress, TextColumn  # noqa: PLC0415

            columns = (*Progress.get_default_columns(), TextColumn("{task.fields[pace]}"))
            self._progress = Progress(*columns, console=Console(stderr=True))
            self._progress.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def begin(self, words: str, total: int | None = None) -> None:
        if self._progress is not None:
            if self._task is not None:
                self._progress.update(self._task, total=1, completed=1)
            self._task = self._progress.add_task(words, total=total, pace="")
            self._began_at, self._done = time.monotonic(), 0

    def advance(self, amount: int) -> None:
        if self._progress is not None and self._task is not None:
            self._done += amount
            pace = ""
            if self._unit:
                pace = f"{self._done / max(time.monotonic() - self._began_at, 0.1):,.0f} {self._unit}/s"
            self._progress.update(self._task, advance=amount, pace=pace)
