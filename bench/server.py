"""Requests: what a town answers in a second, and how much of that a bare application would."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from bench.report import Result, Target, result
from bench.stage import Burst, Stage

USERS_TARGET = Target(least=0.25, of_ratio=True)
_UNITS: dict[str, tuple[str, Callable[[Burst], float]]] = {
    "rate": ("requests/s", lambda burst: burst.rate),
    "cpu": ("µs/request", lambda burst: burst.cpu_us),
    "p50": ("ms", lambda burst: burst.p50_ms),
    "p99": ("ms", lambda burst: burst.p99_ms),
}


async def measure(stage: Stage, *, quick: bool) -> list[Result]:
    rounds, seconds = (3, 0.3) if quick else (9, 0.6)
    bursts: dict[str, list[Burst]] = defaultdict(list)
    for _ in range(rounds):
        for candidate in stage.candidates:
            bursts[candidate.name].append(await candidate.burst(seconds))
    stage.is_warm = True
    client = [burst.client_share for burst in bursts["bare"]]
    return [
        *(row for name in bursts for row in _rows(name, bursts)),
        result("server.client", client, "of a core"),
    ]


def _rows(name: str, bursts: dict[str, list[Burst]]) -> list[Result]:
    found = []
    for what, (unit, of) in _UNITS.items():
        mine = [of(burst) for burst in bursts[name]]
        base = None if name == "bare" else (f"server.bare.{what}", [of(burst) for burst in bursts["bare"]])
        is_judged = what == "rate" and name.endswith((".users", ".fresh"))
        found.append(
            result(
                f"server.{name}.{what}",
                mine,
                unit,
                baseline=base,
                target=USERS_TARGET if is_judged else None,
            )
        )
        if is_judged:
            encoding = ("server.encoding.rate", [of(burst) for burst in bursts["encoding"]])
            found.append(result(f"server.{name}.rate.to-encoding", mine, unit, baseline=encoding))
    return found
