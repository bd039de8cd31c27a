from __future__ import annotations

import click

from kith.cli.running import house, run
from kith.identity.executor import shipped_flows


@click.group()
def flows() -> None:
    """Restore the default flows."""


@flows.command()
def restore() -> None:
    """Restore every default flow. Your own flows and stages are not changed."""

    async def bring_back() -> None:
        async with house() as opened, opened.works.begin() as work:
            await shipped_flows.restore(work)

    run(bring_back())
    click.echo(f"Restored {len(shipped_flows.FLOWS)} flows.")
