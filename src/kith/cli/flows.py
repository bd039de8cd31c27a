from __future__ import annotations

import click

from kith.cli.running import house, run
from kith.identity.executor import shipped_flows


@click.group()
def flows() -> None:
    """Bring the shipped flows back."""


@flows.command()
def restore() -> None:
    """Make every shipped flow what it was. Flows and stages of your own are left alone."""

    async def bring_back() -> None:
        async with house() as opened, opened.works.begin() as work:
            await shipped_flows.restore(work)

    run(bring_back())
    click.echo(f"Restored {len(shipped_flows.FLOWS)} flows.")
