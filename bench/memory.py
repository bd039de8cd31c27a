"""What the servers weigh: when idle after their start, and after load."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from bench.report import Result, Target, result

IDLE_TARGET = Target(most=110)


class Memory(msgspec.Struct, frozen=True):
    """In megabytes (a million bytes): all that is resident, and the process's fair share of it."""

    rss: float
    pss: float


class Weighed(Protocol):
    pids: dict[str, int]
    idle: dict[str, Memory]

    async def warm(self, seconds: float) -> None: ...


def memory_of(pid: int) -> Memory:
    return Memory(
        rss=_field(Path(f"/proc/{pid}/status"), "VmRSS"), pss=_field(Path(f"/proc/{pid}/smaps_rollup"), "Pss")
    )


def _field(file: Path, name: str) -> float:
    for line in file.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise RuntimeError(f"{file} does not tell {name}")


async def measure(stage: Weighed, *, quick: bool) -> list[Result]:
    await stage.warm(0.5 if quick else 2.0)
    loaded = {name: memory_of(pid) for name, pid in stage.pids.items()}
    return [*_rows(stage.idle, "idle", IDLE_TARGET), *_rows(loaded, "loaded", None)]


def _rows(weights: Mapping[str, Memory], when: str, target: Target | None) -> list[Result]:
    found = []
    for what in ("rss", "pss"):
        base = f"memory.bare.{when}.{what}"
        for name, memory in weights.items():
            is_base = name == "bare"
            found.append(
                result(
                    f"memory.{name}.{when}.{what}",
                    [getattr(memory, what)],
                    "MB",
                    baseline=None if is_base else (base, [getattr(weights["bare"], what)]),
                    target=target if what == "pss" and not is_base else None,
                )
            )
    return found
