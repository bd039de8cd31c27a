"""How far a long command is: a bar on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

__all__ = ["Progress"]

MB = 1 << 20


class Progress:
    def __init__(self) -> None:
        self._bars: Bars | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.console import Console  # noqa: PLC0415 - loaded when first used: only a terminal needs it
            from rich.progress import (  # noqa: PLC0415
                BarColumn,
                MofNCompleteColumn,
                TextColumn,
                TimeRemainingColumn,
            )
            from rich.progress import Progress as Bars  # noqa: PLC0415

            columns = (TextColumn("{task.description:<22}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bars = Bars(*columns, console=Console(stderr=True))
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Before anything else is said."""
        if self._bars is not None:
            self._bars.stop()

    def begin(self, name: str, total: int | None, done: int = 0) -> None:
        if self._bars is not None:
            self._task = self._bars.add_task(name.replace("_", " "), total=total, completed=done)

    def begin_reading(self, size: int | None) -> None:
        """From the first second on: reading a large file, or asking a database, takes long."""
        self.begin("reading (MB)", None if size is None else max(1, size // MB))

    def read(self, size: int) -> None:
        self.advance(size / MB)

    def advance(self, many: float) -> None:
        if self._bars is not None and self._task is not None:
            self._bars.advance(self._task, many)

    def end(self) -> None:
        if self._bars is not None and self._task is not None:
            task = next(one for one in self._bars.tasks if one.id == self._task)
            self._bars.update(self._task, total=task.completed or 1, completed=task.completed or 1)
            self._task = None
