"""`python -m soak`: see scripts/soak."""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from soak.community import Size
from soak.plan import KINDS
from soak.report import Report, shown
from soak.run import Options, soak


def main() -> int:
    options = _options(sys.argv[1:])
    report = asyncio.run(_run(options))
    (options.folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2))
    words = shown(report)
    (options.folder / "report.txt").write_text(words + "\n")
    print(words)
    print(f"\n{options.folder / 'report.json'}")
    return 1 if report.violated else 0


async def _run(options: Options) -> Report:
    stop, started_at = asyncio.Event(), time.monotonic()
    loop = asyncio.get_running_loop()
    for word in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(word, stop.set)
    return await soak(options, stop, lambda words: print(f"{time.monotonic() - started_at:8.1f} {words}", flush=True))


def _options(words: list[str]) -> Options:
    parser = argparse.ArgumentParser(
        prog="scripts/soak", description="Everything at once, with faults; the exit code is 1 if a promise was broken."
    )
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--faults", default=",".join(KINDS), help=f"a comma list of {', '.join(KINDS)}; or none")
    parser.add_argument("--seed", type=int, default=None, help="the same one: the same faults, the same acts")
    parser.add_argument("--into", type=Path, default=None, help="a new folder for data, logs, ledger and report")
    parser.add_argument("--people", type=int, default=Size().here, help="who act at the server under soak")
    given = parser.parse_args(words)
    faults = tuple(one for one in given.faults.split(",") if one and one != "none")
    if unknown := set(faults) - set(KINDS):
        parser.error(f"there is no fault {', '.join(sorted(unknown))}")
    folder = given.into or Path(tempfile.mkdtemp(prefix="kith-soak-"))
    if folder.exists() and any(folder.iterdir()):
        parser.error(f"{folder} is not empty")
    return Options(
        engine=given.database,
        seconds=given.minutes * 60,
        faults=faults,
        seed=random.randrange(1 << 16) if given.seed is None else given.seed,
        folder=folder.resolve(),
        size=Size(here=given.people),
    )


if __name__ == "__main__":
    sys.exit(main())
