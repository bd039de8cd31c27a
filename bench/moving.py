"""Moving to the other kind of database: rows a second, and whether memory stays the same with many more rows."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from bench.community import seed_rows
from bench.growth import QUICK, copy_rows
from bench.report import Result, Target, result
from bench.stage import open_house_of
from kith.social.accounts.tables import accounts
from kith.social.search.tables import status_words
from kith.social.statuses.tables import statuses
from tests.town import Town, build_town, postgres
from tests.town.nursery import KITH

GROWING = (accounts, statuses, status_words)
TIMES = 200  # which makes a million statuses
BOUNDED = Target(most=300)  # the caches of SQLite, whatever there is to move


class Move(msgspec.Struct):
    """`peaks` are megabytes, in each quarter of the time."""

    report: dict[str, Any]
    peaks: list[float]


async def measure(folder: Path, console: Console, *, quick: bool) -> list[Result]:
    """Both ways: a community as it is, and then copied over and over."""
    found: dict[str, list[Move]] = {}
    async with build_town("sqlite", folder / "moving", start=False) as town:
        async with open_house_of(town) as house:
            _, rows = await seed_rows(house, QUICK)
        for times in (1, 4 if quick else TIMES):
            await copy_rows(town, console, rows, range(1, times), GROWING)
            console.log(f"moving {len(rows[statuses.name]) * times:,} statuses ...")
            async with postgres.fresh_database() as url:
                found.setdefault("to postgresql", []).append(await _move(town, url))
                back = f"sqlite:///{folder}/back-{times}.sqlite3"
                found.setdefault("to sqlite", []).append(await _move(town, back, database=url))
            for one in found.values():
                console.log(one[-1].report["rows"], one[-1].report["rows_a_second"], one[-1].peaks)
    return [line for name, moves in found.items() for line in _told(name, *moves)]


def _told(name: str, small: Move, large: Move) -> list[Result]:
    rows = large.report["rows"]
    return [
        result(f"moving.{name}.rate of {rows:,} rows", [large.report["rows_a_second"]], "rows/s"),
        result(
            f"moving.{name}.memory of {rows:,} rows", [max(large.peaks)], "MB",
            baseline=(f"of {small.report['rows']:,}", [max(small.peaks)]), target=BOUNDED,
        ),
    ]  # fmt: skip


async def _move(town: Town, to: str, *, database: str = "sqlite") -> Move:
    environment = town.environment | {"KITH_DATABASE": database}
    words = (*KITH, "move", "--to", to, "--json")
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
    sizes: list[float] = []
    while process.poll() is None:
        sizes.append(_megabytes(process.pid))
        await asyncio.sleep(0.2)
    assert process.stdout is not None
    report = json.loads(process.stdout.read())
    del report["tables"]
    quarter = len(sizes) // 4 + 1
    return Move(report, [round(max(sizes[at : at + quarter])) for at in range(0, len(sizes), quarter)])


def _megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)
