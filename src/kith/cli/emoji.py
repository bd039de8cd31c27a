from __future__ import annotations

from typing import BinaryIO

import click

from kith.cli.inputs import WORDS
from kith.cli.running import as_json, house, reading, run, say
from kith.cli.showing import show_rows
from kith.social.emojis import own
from kith.social.emojis.tables import Emoji


@click.group()
def emoji() -> None:
    """Add, list and remove emoji."""


@emoji.command()
@click.argument("shortcode", type=WORDS)
@click.argument("file", type=click.File("rb"))
@click.option("--category", type=WORDS, help="Under which heading apps show it.")
@click.option("--hidden", is_flag=True, help="Known, but not offered to those who pick one.")
def add(*, shortcode: str, file: BinaryIO, category: str | None, hidden: bool) -> None:
    """Let members write :SHORTCODE: for the picture in FILE (PNG, GIF, WebP or JPEG, at most 256 KB)."""

    async def make() -> None:
        async with house() as opened, opened.works.begin() as work:
            await own.add(work, shortcode, file, category=category, visible=not hidden)

    run(make())
    click.echo(f"Added :{shortcode}:.")


@emoji.command()
@click.argument("shortcode", type=WORDS)
def remove(*, shortcode: str) -> None:
    """Take an emoji away."""

    async def take() -> None:
        async with house() as opened, opened.works.begin() as work:
            await own.remove(work, shortcode.strip(":"))

    run(take())
    click.echo(f"Removed :{shortcode.strip(':')}:.")


@emoji.command("list")
@as_json
def list_emoji(*, as_json: bool) -> None:
    """Every emoji of the community."""

    async def read() -> list[Emoji]:
        async with reading() as work:
            return await own.every(work)

    found = run(read())
    if as_json:
        say([{"shortcode": one.shortcode, "category": one.category, "hidden": not one.is_shown} for one in found])
    else:
        rows = [[one.shortcode, one.category, not one.is_shown] for one in found]
        show_rows(["shortcode", "category", "hidden"], rows, nothing="No emoji.")
