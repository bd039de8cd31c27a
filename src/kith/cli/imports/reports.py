"""How an import ends: how many of each came is told, with a file of every row that did not, and recorded."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from kith.base.import_runs import LeftOutRow
from kith.base.spreadsheets import harmless, write_quoted
from kith.cli.imports.running import RunningImport
from kith.cli.inputs import COMMAND_LINE
from kith.cli.running import Opened, say
from kith.cli.showing import show_rows
from kith.identity.audit import service as audit

__all__ = ["end"]


async def end(
    opened: Opened, run: RunningImport, report: Path | None, *, as_json: bool, more: dict[str, int] | None = None
) -> None:
    """Exits with 1 where rows were left out, so that a script notices."""
    name = f"{run.row.kind}-{run.row.id}{'-rehearsal' if run.is_rehearsed else ''}.csv"
    left = await run.left_out()
    _tell(run, left, report or opened.works.settings.data / "imports" / name, as_json=as_json, more=more)
    if not run.is_rehearsed:
        async with opened.works.begin() as work:
            context = {"source": run.row.source, "taken": dict(run.taken)}
            await audit.record(work, "data_import", "imports", username=COMMAND_LINE, context=context)
        await run.finish()
    if left:
        raise click.exceptions.Exit(1)


def _tell(
    run: RunningImport, left: Sequence[LeftOutRow], report: Path, *, as_json: bool, more: dict[str, int] | None
) -> None:
    write(report, left)
    counts = Counter(one.step for one in left)
    if as_json:
        say(
            {
                "rehearsal": run.is_rehearsed,
                "resumed": run.is_resumed,
                "taken": dict(run.taken),
                "left_out": dict(counts),
                "not_needed": more or {},
                "report": str(report),
            }
        )
        return
    names = list(dict.fromkeys([*run.taken, *counts]))
    rows = [(name.replace("_", " "), run.taken[name], counts[name]) for name in names]
    show_rows(("what", "taken", "left out"), rows, nothing="There was nothing to take.")
    for name, many in (more or {}).items():
        click.echo(f"{many} {name}")
    if run.is_rehearsed:
        click.echo("This was a rehearsal: nothing was written.")
    if left:
        click.echo(f"Every row that was left out, and why: {report}")


def write(report: Path, left: Sequence[LeftOutRow]) -> None:
    """Whole or not at all; for the owner's eyes only, for it names people."""
    report.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = report.with_name(f"{report.name}.new")
    unfinished.unlink(missing_ok=True)
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
        rows = ((one.step, harmless(one.name), harmless(one.reason)) for one in left)
        file.write(write_quoted([("what", "row", "why"), *rows], line_end="\r\n"))
    unfinished.replace(report)
