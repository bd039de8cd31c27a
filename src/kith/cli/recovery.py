from __future__ import annotations

import click

from kith.cli.inputs import COMMAND_LINE, WORDS, user_called
from kith.cli.running import as_json, house, run, say
from kith.identity.recovery import offer


@click.command()
@click.argument("name", type=WORDS)
@click.option(
    "--minutes",
    default=30,
    type=click.IntRange(1, 525_600),
    show_default=True,
    help="How many minutes the link is valid.",
)
@as_json
def recovery(*, name: str, minutes: int, as_json: bool) -> None:
    """Print a link that signs NAME in once, regardless of flows and policies."""

    async def make() -> str:
        async with house() as opened, opened.works.begin() as work:
            user = await user_called(work.db, name)
            return await offer(work, user, minutes=minutes, by_name=COMMAND_LINE)

    link = run(make())
    if as_json:
        say({"link": link, "minutes": minutes})
    else:
        click.echo(link)
