"""`kith demo`: an example community in a folder of its own, to look at both halves of Kith at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import msgspec
import uvloop

from kith.base.settings import BadSettings, Settings, load
from kith.cli.demo.folder import DemoFolder, DemoMark
from kith.cli.demo.making import make
from kith.cli.running import KITH
from kith.cli.serve import refuse_taken


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="The folder (default: `demo` beside the data folder).")
@click.option("--anew", is_flag=True, help="Delete what an earlier demo made there, and make it again.")
@click.option("--only-make", is_flag=True, help="Make it and stop; do not serve.")
def demo(*, data: Path | None, anew: bool, only_make: bool) -> None:
    """Make an example community and serve it. Your own data are not touched, and nothing leaves this machine."""
    operator = load()
    folder = DemoFolder(data or operator.data.absolute().parent / "demo", operator)
    mark = folder.mark()
    if not only_make:
        refuse_taken(operator)  # also by a demo that still runs, whose folder must not vanish
    if mark is not None and (anew or not mark.logins):
        folder.delete()
        mark = None
    if mark is None:
        mark = _make(folder)
    if not only_make:
        folder.refuse_elsewhere(mark)
    settings = folder.settings(mark)
    environment = folder.environment(settings)
    _tell(settings, mark)
    if not only_make:
        os.execve(KITH[0], [*KITH, "serve"], environment)  # noqa: S606 - our own words


def _make(folder: DemoFolder) -> DemoMark:
    click.echo(f"Making an example community in {folder.path} ...")
    sys.stdout.flush()
    mark = folder.begin()
    settings = folder.settings(mark)
    done = subprocess.run(  # noqa: S603 - our own words
        [*KITH, "migrate"], check=False, stdout=subprocess.DEVNULL, env=folder.environment(settings)
    )
    if done.returncode:
        raise BadSettings("the database of the demo could not be made")
    logins = uvloop.run(make(msgspec.structs.replace(settings, rate_limits=False)))
    mark = msgspec.structs.replace(mark, logins=tuple(logins))
    folder.write(mark)
    return mark


def _tell(settings: Settings, mark: DemoMark) -> None:
    click.echo(f"The example community is in {settings.data}. Sign in at {mark.base_url} as")
    for login in mark.logins:
        click.echo(f"  {login.role:<10} {login.username:<8} {login.password}")
    click.echo("The console of the team is at /admin. `kith demo --anew` makes everything new.")
    sys.stdout.flush()
