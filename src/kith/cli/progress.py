"""How far something long has come, on a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Bar"]


class Bar:
    """Nothing is shown where nobody looks."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console  # noqa: PLC0415 - loaded when first used: only a terminal needs it
            from rich.progress import Progress  # noqa: PLC0415

            self._progress = Progress(console=Console(stderr=True))
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
            self._task = self._progress.add_task(words, total=total)

    def advance(self, amount: int) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task, amount)
