from __future__ import annotations

import click

from kith.base.db import connect
from kith.base.settings import BadSettings, Settings, load
from kith.cli.running import as_json, newer, run, say
from kith.migrations import HEAD
from kith.migrations.runner import upgrade


async def bring_up(settings: Settings) -> tuple[str | None, str]:
    """From where to where; a database newer than this program is refused and left alone."""
    database = await connect(settings, connections=1)
    try:
        before = await database.revision()
    finally:
        await database.close()
    if before is not None and before > HEAD:
        raise BadSettings(newer(before))
    if before != HEAD:
        await upgrade(settings)
    return before, HEAD


@click.command()
@as_json
def migrate(*, as_json: bool) -> None:
    """Bring the database to the newest schema. Safe to run beside a running server, and twice."""
    before, after = run(bring_up(load()))
    if as_json:
        say({"from": before, "to": after})
    elif before == after:
        click.echo(f"The database is at {after} already.")
    else:
        click.echo(f"The database went from {before or 'nothing'} to {after}.")
