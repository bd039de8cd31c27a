"""Looks at processes, the database and the log while everything goes on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import time
from collections import Counter
from typing import Any

import asyncpg
import httpx

from soak.ledger import Ledger
from soak.processes import Process, Weight
from soak.town import Site, Stage
from soak.windows import Windows
from tests.town.plain import PLAIN

__all__ = ["Watch", "weighed"]

_EVERY_SECONDS = 2.0
_OLD_TRANSACTION = """
    SELECT count(*) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND xact_start < now() - interval '60 seconds'
"""
# A life shorter than this says nothing about memory. What caches hold is not counted: it grows up to their limits.
_LEAST_LIFE_SECONDS = 600.0
_WARM_UP_SECONDS = 240.0
_MOST_PER_HOUR = 64 << 20
_MOST_MEMORY = 450 << 20  # an idle server, all caches at their limits (260 MB), and what is under way
_MOST_FILES = 40


class Watch:
    def __init__(self, stage: Stage, windows: Windows, ledger: Ledger) -> None:
        self._stage, self._windows, self._ledger = stage, windows, ledger
        self._read = {site.name: 0 for site in stage.sites}
        self.logged: Counter[str] = Counter()
        self.samples: dict[str, str] = {}

    async def look(self) -> None:
        async with httpx.AsyncClient(timeout=5, verify=PLAIN) as http:
            await self._look(http)

    async def _look(self, http: httpx.AsyncClient) -> None:
        rounds = 0
        while True:
            if rounds % 5 == 0:
                await asyncio.gather(*(process.ask_caches(http) for process in self._stage.processes))
            for process in self._stage.processes:
                process.weigh()
                if process.has_ended_by_itself and self._windows.is_calm:
                    self._ledger.violated("a process ended by itself", process.name)
                    process.start()
            for site in self._stage.sites:
                self.read_log(site)
            if rounds % 5 == 0:
                await self._look_at_transactions()
            rounds += 1
            await asyncio.sleep(_EVERY_SECONDS)

    async def _look_at_transactions(self) -> None:
        postgres = self._stage.here.postgres
        if postgres is None or not self._windows.is_calm:
            return
        with contextlib.suppress(OSError, asyncpg.PostgresError, TimeoutError):
            connection = await asyncpg.connect(postgres.url, timeout=5)
            try:
                if old := await connection.fetchval(_OLD_TRANSACTION):
                    self._ledger.violated("a transaction is older than a minute", str(old))
            finally:
                await connection.close()

    def read_log(self, site: Site) -> None:
        if not site.log.exists():
            return
        with site.log.open("rb") as file:
            file.seek(self._read[site.name])
            raw = file.read()
        whole, _, _ = raw.rpartition(b"\n")
        self._read[site.name] += len(whole) + 1 if whole else 0
        for line in whole.decode(errors="replace").splitlines():
            self._take(site, line)

    def _take(self, site: Site, line: str) -> None:
        try:
            told: dict[str, Any] = json.loads(line)
        except ValueError:
            told = {"event": "not JSON", "exception": line} if "Traceback" in line else {}
        event, error = str(told.get("event", "")), str(told.get("exception", ""))
        if not event:
            return
        faults = self._windows.since(time.monotonic() - _EVERY_SECONDS)
        self.logged[event] += 1
        self.samples.setdefault(event, line[:600])
        if error:
            last = error.strip().splitlines()[-1][:200]
            self.logged[f"traceback {'during faults' if faults else 'without a fault'}: {event}: {last[:80]}"] += 1
            if not faults:
                self._ledger.violated("traceback without a fault", f"{site.name}: {event}: {last}")


def weighed(process: Process, ledger: Ledger) -> dict[str, Any]:
    """The last life of a process, and whether it grew."""
    life = process.weights[-1] if process.weights else []
    if len(life) < 2:
        return {"process": process.name, "lives": len(process.weights)}
    warm = [one for one in life if one.seconds_alive > _WARM_UP_SECONDS]
    is_judged = life[-1].seconds_alive >= _LEAST_LIFE_SECONDS and len(warm) > 10
    slope = _per_hour(warm if is_judged else life)
    files = [one.files for one in (warm if is_judged else life)]
    quarter = max(1, len(files) // 4)
    grown_files = statistics.median(files[-quarter:]) - statistics.median(files[:quarter])
    if is_judged and slope > _MOST_PER_HOUR:
        ledger.violated("memory grows", f"{process.name}: {slope / (1 << 20):.0f} MB in an hour")
    if life[-1].memory > _MOST_MEMORY:
        ledger.violated("too much memory", f"{process.name}: {life[-1].memory >> 20} MB")
    if is_judged and grown_files > _MOST_FILES:
        ledger.violated("open files grow", f"{process.name}: {grown_files:.0f}")
    return {
        "process": process.name,
        "lives": len(process.weights),
        "last life s": round(life[-1].seconds_alive),
        "MB first": round(life[0].memory / (1 << 20), 1),
        "MB last": round(life[-1].memory / (1 << 20), 1),
        "MB most": round(max(one.memory for lives in process.weights for one in lives) / (1 << 20), 1),
        "MB in caches": round(life[-1].cached / (1 << 20), 1),
        "MB/h": round(slope / (1 << 20), 1) if is_judged else None,
        "files first": life[0].files,
        "files last": life[-1].files,
    }


def _per_hour(weights: list[Weight]) -> float:
    slope, _ = statistics.linear_regression([one.at for one in weights], [one.memory - one.cached for one in weights])
    return slope * 3600
