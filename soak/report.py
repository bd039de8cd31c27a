"""The figures of a soak, as a table for people and as JSON."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import msgspec

from soak.ledger import Ledger
from soak.listening import Listener
from soak.town import Stage
from soak.watch import Watch, weighed
from tests.social.push_service import Device

__all__ = ["Report", "made_of", "shown"]

_STATES: dict[bool | None, str] = {True: "there", False: "gone or refused", None: "unknown"}


class Report(msgspec.Struct):
    database: str
    seed: int
    seconds: float
    requests: int
    accepted: int
    refused: int
    unanswered: int
    kinds: dict[str, dict[str, Any]]
    faults: list[dict[str, Any]]
    posts: dict[str, int]
    marks: int
    streams: dict[str, int]
    pushes: dict[str, int]
    processes: list[dict[str, Any]]
    logged: dict[str, int]
    log_samples: dict[str, str]
    figures: dict[str, Any]
    violations: list[dict[str, Any]]
    violated: dict[str, int]


def made_of(
    database: str,
    seed: int,
    ledger: Ledger,
    stage: Stage,
    watch: Watch,
    listeners: list[Listener],
    device: Device,
    more: dict[str, Any],
) -> Report:
    processes = [weighed(process, ledger) for process in stage.processes]
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    for (kind, outcome), count in ledger.answers.items():
        outcomes[kind][outcome] += count
    every = Counter[str]()
    for counts in outcomes.values():
        every.update(counts)
    heard = Counter[str]()
    for listener in listeners:
        heard.update(listener.heard)
        heard["connections"] += listener.opened
    pushed = [one["notification_id"] for one in device.texts()]
    states = Counter(
        {True: "there", False: "gone or refused", None: "unknown"}[one.there] for one in ledger.posts.values()
    )
    return Report(
        database=database,
        seed=seed,
        seconds=round(ledger.now, 1),
        requests=every.total(),
        accepted=sum(count for outcome, count in every.items() if outcome.startswith("2")),
        refused=sum(count for outcome, count in every.items() if outcome.isdigit() and not outcome.startswith("2")),
        unanswered=sum(count for outcome, count in every.items() if not outcome.isdigit()),
        kinds={kind: _of_kind(counts, ledger.seconds[kind]) for kind, counts in sorted(outcomes.items())},
        faults=ledger.faults,
        posts=dict(states),
        marks=len(ledger.marks),
        streams=dict(heard),
        pushes={"received": len(pushed), "doubled": len(pushed) - len(set(pushed))},
        processes=processes,
        logged=dict(watch.logged.most_common()),
        log_samples=watch.samples,
        figures=ledger.figures | more,
        violations=[msgspec.to_builtins(one) for one in ledger.violations],
        violated=dict(ledger.counted),
    )


def _of_kind(counts: Counter[str], seconds: list[float]) -> dict[str, Any]:
    p50, p99 = _quantile(seconds, 0.5), _quantile(seconds, 0.99)
    return {"asked": counts.total(), "answers": dict(counts), "p50 ms": round(p50 * 1000), "p99 ms": round(p99 * 1000)}


def _quantile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


def shown(report: Report) -> str:
    lines = [f"{'kind':32} {'asked':>7} {'p50 ms':>7} {'p99 ms':>7}  answers"]
    lines += [
        f"{kind:32} {one['asked']:7} {one['p50 ms']:7} {one['p99 ms']:7}  "
        + ", ".join(f"{outcome}: {count}" for outcome, count in sorted(one["answers"].items()))
        for kind, one in report.kinds.items()
    ]
    counted = Counter(one["kind"] for one in report.faults)
    lines += [
        "",
        f"{report.database}, seed {report.seed}, {report.seconds:.0f} s: {report.requests} requests,",
        f"{report.accepted} accepted, {report.refused} refused, {report.unanswered} without an answer",
        f"faults: {', '.join(f'{count} {kind}' for kind, count in counted.items()) or 'none'}",
        f"posts: {report.posts}; marks: {report.marks}; streams: {report.streams}; pushes: {report.pushes}",
        "",
        *(", ".join(f"{name} {value}" for name, value in one.items()) for one in report.processes),
        "",
        *(f"log: {count:6} {event}" for event, count in report.logged.items()),
        "",
        *(f"{name}: {value}" for name, value in report.figures.items() if name != "kith check"),
    ]
    if report.violated:
        lines += ["", f"VIOLATIONS: {report.violated}"]
        lines += [f"  {one['at']:8.1f} {one['rule']}: {one['words']}" for one in report.violations]
    else:
        lines += ["", "no violation"]
    return "\n".join(lines)
