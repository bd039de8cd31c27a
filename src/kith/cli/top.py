"""`kith top`: what the server is doing, read from the sockets that its processes have in the data folder."""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path

import click
import msgspec
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from kith.base.metrics import read_socket
from kith.base.settings import BadSettings, load
from kith.cli.running import as_json, say

SECONDS = 2.0
MOST_ROWS = 10

Sample = tuple[str, frozenset[tuple[str, str]]]


class Reading(msgspec.Struct):
    """All numbers at one moment, added up over the processes of this machine."""

    at: float
    values: dict[Sample, float]

    def total(self, name: str, **wanted: str) -> float:
        labels = set(wanted.items())
        return sum(value for (one, has), value in self.values.items() if one == name and labels <= has)

    def by(self, name: str, *labels: str) -> dict[tuple[str, ...], float]:
        found: dict[tuple[str, ...], float] = defaultdict(float)
        for (one, has), value in self.values.items():
            if one == name:
                named = dict(has)
                found[tuple(named.get(label, "") for label in labels)] += value
        return found


class SlowRoute(msgspec.Struct):
    method: str
    route: str
    per_second: float
    ms: float


class TopView(msgspec.Struct):
    """What is shown. Rates are those since the reading before, or since the start."""

    processes: int
    per_second: float
    ms: float
    errors: float
    in_flight: int
    connections: int
    streams: int
    memory: int
    loop_lag_ms: float
    statements: float
    statement_ms: float
    jobs: dict[str, int]
    jobs_dead: int
    jobs_oldest: float
    deliveries: dict[str, float]
    deliveries_waiting: int
    people: int
    people_today: int
    disk_free: int
    slowest: list[SlowRoute]


@click.command()
@click.option("--once", is_flag=True, help="Show it once, as it was over a second, and end.")
@as_json
def top(*, once: bool, as_json: bool) -> None:
    """What the server is doing right now: requests, jobs, deliveries, memory. Ctrl-C ends it."""
    folder = load().data / "metrics"
    before = _read(folder)
    time.sleep(min(SECONDS, 1.0))
    view, before = _next(folder, before)
    if as_json:
        say(view)
        return
    console = Console()
    if once or not console.is_terminal:
        console.print(_shown(view))
        return
    with Live(_shown(view), console=console, screen=True, auto_refresh=False) as live:
        while True:
            time.sleep(SECONDS)
            view, before = _next(folder, before)
            live.update(_shown(view), refresh=True)


def _next(folder: Path, before: Reading) -> tuple[TopView, Reading]:
    now = _read(folder)
    return view_of(before, now, len(list(folder.glob("*.sock")))), now


def _read(folder: Path) -> Reading:
    texts = [text for path in sorted(folder.glob("*.sock")) if (text := read_socket(path)) is not None]
    if not texts:
        raise BadSettings(f"no server of this data folder is running (there is none at {folder})")
    values: dict[Sample, float] = defaultdict(float)
    for text in texts:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                key = (sample.name, frozenset(sample.labels.items()))
                # Several processes tell the same of the database; what they tell of themselves adds up.
                shared = sample.name.startswith(_SHARED)
                values[key] = max(values[key], sample.value) if shared else values[key] + sample.value
    return Reading(time.monotonic(), values)


_SHARED = (
    "kith_jobs_waiting",
    "kith_jobs_dead",
    "kith_jobs_oldest",
    "kith_people",
    "kith_disk",
    "kith_database_bytes",
    "kith_federation_deliveries_waiting",
    "kith_federation_hosts",
    "kith_certificate",
)


def view_of(before: Reading, now: Reading, processes: int) -> TopView:
    seconds = max(now.at - before.at, 0.001)

    def grown(name: str, **labels: str) -> float:
        return max(0.0, now.total(name, **labels) - before.total(name, **labels))

    requests, statements = grown("kith_request_seconds_count"), grown("kith_database_statements_total")
    failed = sum(
        max(0.0, count - before.by("kith_request_seconds_count", "status").get((status,), 0.0))
        for (status,), count in now.by("kith_request_seconds_count", "status").items()
        if status.startswith("5")
    )
    lag_count = grown("kith_loop_lag_seconds_count")
    results = now.by("kith_federation_deliveries_total", "result")
    were = before.by("kith_federation_deliveries_total", "result")
    return TopView(
        processes=processes,
        per_second=requests / seconds,
        ms=1000 * grown("kith_request_seconds_sum") / requests if requests else 0.0,
        errors=failed / seconds,
        in_flight=int(now.total("kith_requests_in_flight")),
        connections=int(now.total("kith_connections")),
        streams=int(now.total("kith_streams")),
        memory=int(now.total("kith_memory_bytes")),
        loop_lag_ms=1000 * grown("kith_loop_lag_seconds_sum") / lag_count if lag_count else 0.0,
        statements=statements / seconds,
        statement_ms=1000 * grown("kith_database_seconds_total") / statements if statements else 0.0,
        jobs={kind: int(count) for (kind,), count in now.by("kith_jobs_waiting", "kind").items() if count},
        jobs_dead=int(now.total("kith_jobs_dead")),
        jobs_oldest=now.total("kith_jobs_oldest_seconds"),
        deliveries={result: (count - were.get((result,), 0.0)) / seconds for (result,), count in results.items()},
        deliveries_waiting=int(now.total("kith_federation_deliveries_waiting")),
        people=int(now.total("kith_people", state="all")),
        people_today=int(now.total("kith_people", state="day")),
        disk_free=int(now.total("kith_disk_free_bytes")),
        slowest=_slowest(before, now, seconds),
    )


def _slowest(before: Reading, now: Reading, seconds: float) -> list[SlowRoute]:
    """Of the routes that were asked for since; where none was, of all."""
    labels = ("method", "route")
    counts, sums = now.by("kith_request_seconds_count", *labels), now.by("kith_request_seconds_sum", *labels)
    old_counts = before.by("kith_request_seconds_count", *labels)
    old_sums = before.by("kith_request_seconds_sum", *labels)
    if counts == old_counts:
        old_counts, old_sums = {}, {}
    routes = []
    for (method, route), count in counts.items():
        new = count - old_counts.get((method, route), 0.0)
        if new > 0 and method != "WEBSOCKET" and "streaming" not in route:
            took = sums[method, route] - old_sums.get((method, route), 0.0)
            routes.append(SlowRoute(method, route, new / seconds if old_counts else 0.0, 1000 * took / new))
    return sorted(routes, key=lambda one: -one.ms)[:MOST_ROWS]


def _shown(view: TopView) -> Group:
    disk = f"{_size(view.disk_free)} free"
    figures = Table.grid(padding=(0, 3))
    rows = (
        ("requests/s", f"{view.per_second:.1f}", "errors/s", f"{view.errors:.1f}", "under way", str(view.in_flight)),
        ("answered in", f"{view.ms:.1f} ms", "loop lag", f"{view.loop_lag_ms:.1f} ms", "memory", _size(view.memory)),
        ("connections", str(view.connections), "streams", str(view.streams), "processes", str(view.processes)),
        (
            "statements/s",
            f"{view.statements:.0f}",
            "each",
            f"{view.statement_ms:.2f} ms",
            "disk",
            disk,
        ),
        ("people", str(view.people), "today", str(view.people_today), "jobs given up", str(view.jobs_dead)),
    )
    for row in rows:
        figures.add_row(*(Text(cell, style="bold" if place % 2 else "dim") for place, cell in enumerate(row)))
    jobs = _table("jobs waiting", f"oldest {view.jobs_oldest:.0f} s")
    for kind, count in sorted(view.jobs.items(), key=lambda one: -one[1])[:MOST_ROWS]:
        jobs.add_row(Text(kind), str(count))
    sent = _table("deliveries/s", f"{view.deliveries_waiting} waiting")
    for result, rate in view.deliveries.items():
        sent.add_row(Text(result), f"{rate:.1f}")
    slow = _table("slowest addresses", "ms")
    for route in view.slowest:
        slow.add_row(Text(f"{route.method} {route.route}"), f"{route.ms:.1f}")
    beside = Table.grid(padding=(0, 4))
    beside.add_row(jobs, sent)
    return Group(figures, Text(), beside, Text(), slow)


def _table(name: str, figure: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column(name, min_width=28)
    table.add_column(figure, justify="right")
    return table


def _size(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit in ("B", "kB", "MB") else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
