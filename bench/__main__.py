from __future__ import annotations

import os
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import click
import uvloop
from rich.console import Console

from bench import (
    commits,
    delivery,
    directory,
    gateway,
    growth,
    identity,
    inbox,
    jobs,
    ldap,
    memory,
    moving,
    oauth,
    pages,
    people,
    report,
    server,
    signatures,
    signin,
    social,
    starting,
    strangers,
    streaming,
)
from bench.report import Report, Result
from bench.stage import ENGINES, open_stage

# What is measured in the same way, in this order.
ALIKE = (
    ("identity", "listing many people ...", identity.measure),
    ("people", "finding people in the console ...", people.measure),
    ("signin", "signing in ...", signin.measure),
    ("oauth", "giving tokens ...", oauth.measure),
    ("ldap", "asking over LDAP ...", ldap.measure),
    ("jobs", "doing jobs ...", jobs.measure),
    ("commits", "committing ...", commits.measure),
    ("signatures", "signing ...", signatures.measure),
    ("inbox", "taking activities ...", inbox.measure),
    ("delivery", "delivering ...", delivery.measure),
    ("directory", "copying a directory ...", directory.measure),
    ("gateway", "asking the gateway ...", gateway.measure),
    ("pages", "showing pages ...", pages.measure),
    ("strangers", "letting one do their worst ...", strangers.measure),
)
NAMES = ("start", "server", "memory", *(name for name, _, _ in ALIKE), "social", "streaming")
LONG = ("growth-sqlite", "growth-postgresql", "moving")  # for minutes and hours: measured only where they are named


@click.command()
@click.option("--quick", is_flag=True, help="Fewer and shorter rounds: about a minute, and coarser.")
@click.option("--only", type=click.Choice((*NAMES, *LONG)), multiple=True, help="Measure this; may be given again.")
def main(*, quick: bool, only: tuple[str, ...]) -> None:
    """Measure what Kith promises, as ratios to baselines of the same run. Targets are shown, not enforced."""
    # A server that has been installed has its bytecode written.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    console = Console(log_path=False)
    console.width = max(console.width, 100)
    started_at = time.monotonic()
    found = uvloop.run(_measure(only or NAMES, console, quick=quick))
    report.show(found, console)
    console.print(f"{report.keep(found)}, after {time.monotonic() - started_at:.0f} s", soft_wrap=True)


async def _measure(names: tuple[str, ...], console: Console, *, quick: bool) -> Report:
    report.RESULTS.mkdir(exist_ok=True)
    at, machine, found = report.now(), await report.machine(), list[Result]()
    # Beside the results: the machine's temporary folder may be memory, where a flush costs nothing.
    with tempfile.TemporaryDirectory(dir=report.RESULTS, prefix=".run-") as name:
        folder = Path(name)
        async with AsyncExitStack() as stack:
            if "start" in names:
                console.log("starting ...")
                found += await starting.measure(folder, quick=quick)
            if "server" in names or "memory" in names:
                console.log("building towns ...")
                stage = await stack.enter_async_context(open_stage(folder))
                if "server" in names:
                    console.log("serving ...")
                    found += await server.measure(stage, quick=quick)
                if "memory" in names:
                    found += await memory.measure(stage, quick=quick)
        for word, said, measure in ALIKE:
            if word in names:
                console.log(said)
                found += await measure(folder, quick=quick)
        if "social" in names:
            console.log("building a community ...")
            found += await social.measure(folder, console, quick=quick)
        if "streaming" in names:
            console.log("streaming ...")
            found += await streaming.measure(folder, quick=quick)
        engines = tuple(engine for engine in ENGINES if f"growth-{engine}" in names)
        if engines:
            console.log("growing ...")
            found += await growth.measure(folder, console, quick=quick, engines=engines)
        if "moving" in names:
            found += await moving.measure(folder, console, quick=quick)
        return Report(at, machine, found)


if __name__ == "__main__":
    main()
