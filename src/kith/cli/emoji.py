from __future__ import annotations

from typing import BinaryIO

import click

from kith.cli.inputs import WORDS
from kith.cli.running import as_json, house, reading, run, say
from kith.cli.showing import show_rows
from kith.social.emojis import custom_emojis
from kith.social.emojis.tables import Emoji


@click.group()
def emoji() -> None:
    """Add, list and remove custom emoji."""


@emoji.command()
@click.argument("shortcode", type=WORDS)
@click.argument("file", type=click.File("rb"))
@click.option("--category", type=WORDS, help="The category under which apps show it.")
@click.option("--hidden", is_flag=True, help="Can be used, but is not shown in emoji pickers.")
def add(*, shortcode: str, file: BinaryIO, category: str | None, hidden: bool) -> None:
    """Add the picture in FILE as :SHORTCODE: (PNG, GIF, WebP or JPEG, at most 256 KB)."""

    async def make() -> None:
        async with house() as opened, opened.works.begin() as work:
            await custom_emojis.add(work, shortcode, file, category=category, visible=not hidden)

    run(make())
    click.echo(f"Added :{shortcode}:.")


@emoji.command()
@click.argument("shortcode", type=WORDS)
def remove(*, shortcode: str) -> None:
    """Remove an emoji."""

    async def take() -> None:
        async with house() as opened, opened.works.begin() as work:
            await custom_emojis.remove(work, shortcode.strip(":"))

    run(take())
    click.echo(f"Removed :{shortcode.strip(':')}:.")


@emoji.command("list")
@as_json
def list_emoji(*, as_json: bool) -> None:
    """List all custom emoji."""

    async def read() -> list[Emoji]:
        async with reading() as work:
            return await custom_emojis.every(work)

    found = run(read())
    if as_json:
        say([{"shortcode": one.shortcode, "category": one.category, "hidden": not one.is_shown} for one in found])
    else:
        rows = [[one.shortcode, one.category, not one.is_shown] for one in found]
        show_rows(["shortcode", "category", "hidden"], rows, nothing="No emoji.")
