"""`kith check`: what is wrong with a set-up, and how to mend it. It changes nothing."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import click
from rich.console import Console

from kith.base.settings import BadSettings, load
from kith.cli.check import files, outside
from kith.cli.check.database import database
from kith.cli.check.findings import Finding, cause, line, ok, problem
from kith.cli.running import as_json, run, say

PATIENCE_SECONDS = 2.0
_LOOKS = (
    files.data_folder,
    files.keys,
    files.disk,
    files.media_budget,
    files.breach_list,
    files.address_files,
    outside.address,
    outside.own_certificate,
)


@click.command()
@click.option("--inside", is_flag=True, help="Ask nobody outside: no name server, no other machine.")
@as_json
def check(*, inside: bool, as_json: bool) -> None:
    """Is the set-up sound? One line per finding; the exit code is 1 when there is a problem."""
    with _patience():
        findings = run(_all(inside=inside))
    if as_json:
        say(findings)
    else:
        for finding in findings:
            click.echo(line(finding))
    if any(finding.state == "problem" for finding in findings):
        raise click.exceptions.Exit(1)


async def _all(*, inside: bool) -> list[Finding]:
    return [finding async for finding in _findings(inside=inside)]


async def _findings(*, inside: bool) -> AsyncIterator[Finding]:
    try:
        settings = load()
    except (BadSettings, OSError) as error:
        yield problem("settings", cause(error), "correct kith.toml or the environment")
        return
    yield ok("settings", "the settings can be read")
    for look in _LOOKS:
        try:
            for finding in look(settings):
                yield finding
        except OSError as error:
            yield problem("data", cause(error), "give the files to the user that runs Kith")
    async for finding in database(settings):
        yield finding
    async for finding in outside.mail(settings):
        yield finding
    yield await outside.media(settings)
    if inside:
        return
    async for finding in outside.reached(settings):
        yield finding


@contextmanager
def _patience() -> Iterator[None]:
    """On a terminal, say that something is going on once it takes a while."""
    if not sys.stderr.isatty():
        yield
        return
    status = Console(stderr=True).status("Looking ...")
    timer = threading.Timer(PATIENCE_SECONDS, status.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()
