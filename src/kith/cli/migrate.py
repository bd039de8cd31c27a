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
    """Upgrade the database to the current schema. Can be run while the server is running, and more than once."""
    before = run(bring_up(load()))
    if as_json:
        say({"from": before, "to": HEAD})
    elif before == HEAD:
        click.echo(f"The database is already at {HEAD}.")
    else:
        click.echo(f"The database was upgraded from {before or 'nothing'} to {HEAD}.")
