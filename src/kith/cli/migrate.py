from __future__ import annotations

import click

from kith.base.settings import Settings, load
from kith.cli.running import as_json, revision_of, run, say
from kith.migrations import HEAD
from kith.migrations.runner import upgrade


async def bring_up(settings: Settings) -> str | None:
    before = await revision_of(settings)
    if before != HEAD:
        await upgrade(settings)
    return before


@click.command()
@as_json
def migrate(*, as_json: bool) -> None:
    """Bring the database to the newest schema. Safe to run beside a running server, and twice."""
    before = run(bring_up(load()))
    if as_json:
        say({"from": before, "to": HEAD})
    elif before == HEAD:
        click.echo(f"The database is at {HEAD} already.")
    else:
        click.echo(f"The database went from {before or 'nothing'} to {HEAD}.")
