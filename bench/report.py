"""What was measured, as rows; shown as a table, kept as JSON."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import msgspec
from rich import box
from rich.console import Console
from rich.table import Table

from tests.town import postgres

RESULTS = Path(__file__).parent / "results"


class Target(msgspec.Struct, frozen=True):
    """A bound on a value, or on its ratio to the baseline."""

    least: float | None = None
    most: float | None = None
    of_ratio: bool = False

    def __str__(self) -> str:
        sign, bound = (">=", self.least) if self.least is not None else ("<=", self.most)
        return f"{sign} {bound:,g}" + (" x" if self.of_ratio else "")

    def is_met(self, value: float) -> bool:
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


class Result(msgspec.Struct, frozen=True):
    name: str
    value: float
    unit: str
    ratio_to: str | None = None
    ratio: float | None = None
    target: str | None = None
    met: bool | None = None


class Machine(msgspec.Struct, frozen=True):
    cores: int
    python: str
    sqlite: str
    postgres: str


class Report(msgspec.Struct, frozen=True):
    at: datetime
    machine: Machine
    results: list[Result]


Baseline = tuple[str, Sequence[float]]


def result(
    name: str,
    rounds: Sequence[float],
    unit: str,
    *,
    baseline: Baseline | None = None,
    target: Target | None = None,
) -> Result:
    """The median of `rounds`. The ratio is the median of each round's own ratio: what slowed a round down
    slowed its baseline down as well."""
    value = statistics.median(rounds)
    ratio_to = ratio = None
    if baseline is not None:
        ratio_to, of = baseline
        ratio = statistics.median(mine / theirs for mine, theirs in zip(rounds, of, strict=True))
    met = None
    if target is not None:
        judged = ratio if target.of_ratio else value
        met = judged is not None and target.is_met(judged)
    return Result(name, value, unit, ratio_to, ratio, str(target) if target else None, met)


async def machine() -> Machine:
    connection = await asyncpg.connect(postgres.server_url())
    try:
        version = await connection.fetchval("SHOW server_version")
        fsync = await connection.fetchval("SHOW fsync")
    finally:
        await connection.close()
    return Machine(
        cores=os.cpu_count() or 1,
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
        postgres=f"{version.split()[0]}, fsync {fsync}",
    )


def show(report: Report, console: Console) -> None:
    machine = report.machine
    table = Table(
        title=f"{machine.cores} cores, Python {machine.python}, SQLite {machine.sqlite}, PostgreSQL {machine.postgres}",
        caption="Medians of the rounds; a round's ratio is taken to the baseline's burst of the same round.",
        box=box.SIMPLE,
        padding=(0, 1, 0, 0),
    )
    for heading in ("measured", "value", "unit", "ratio", "to", "target", "met"):
        table.add_column(heading, justify="right" if heading in ("value", "ratio") else "left", no_wrap=True)
    section = ""
    for row in report.results:
        before, section = section, row.name.partition(".")[0]
        if before and section != before:
            table.add_section()
        table.add_row(
            row.name,
            _number(row.value),
            row.unit,
            "" if row.ratio is None else f"{row.ratio:.2f} x",
            _short(row.ratio_to, row.name),
            row.target or "",
            {None: "", True: "[green]pass[/]", False: "[red]fail[/]"}[row.met],
        )
    console.print(table)


def _short(baseline: str | None, name: str) -> str:
    """The words of the baseline's name that `name` does not share."""
    return ".".join(word for word in (baseline or "").split(".") if word not in name.split("."))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def keep(report: Report) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{report.at:%Y%m%dT%H%M%SZ}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    return path


def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
