"""The keys with which the server signs what it tells applications."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kith.cli.inputs import WORDS
from kith.cli.running import as_json, house, run, say

if TYPE_CHECKING:
    from kith.identity.providers.oauth2.keys.rotation import Rotated, Rotation


@click.group()
def keys() -> None:
    """Replace the keys that sign ID tokens."""


@keys.command()
@click.argument("provider", type=WORDS, required=False)
@click.option("--leaked", is_flag=True, help="Somebody else may have the old keys: believe nothing that they signed.")
@as_json
def rotate(*, provider: str | None, leaked: bool, as_json: bool) -> None:
    """Sign with a new key from now on: for PROVIDER (its name, or its application's slug), or everywhere.

    Old keys stay published until nothing lives any more that they signed. A provider without a key pair signs with the
    server's own key, which is then replaced for all of them.
    """
    done = run(_rotate(provider, leaked=leaked))
    if as_json:
        say(done)
        return
    for one in done.rotated:
        click.echo(_told(one))
    for name in done.secret:
        click.echo(f"{name} signs with the secret of its client, which is changed with the provider.")
    if not done.rotated and not done.secret:
        click.echo("Nothing has signed yet, so there is no key to replace.")


async def _rotate(provider: str | None, *, leaked: bool) -> Rotation:
    from kith.identity.providers.oauth2.keys import rotation  # noqa: PLC0415 - loaded when first used

    async with house() as opened, opened.works.begin() as work:
        return await rotation.rotate(work, None if provider is None else provider.strip(), leaked=leaked)


def _told(one: Rotated) -> str:
    who = ", ".join(one.providers) or "The server"
    verb = "signs" if len(one.providers) < 2 else "sign"
    new = f"{who} {verb} with a new key from now on ({one.alg}): {one.new}."
    if not one.old:
        return new
    if one.known_until is None:
        noun, is_over = ("key", "is") if len(one.old) == 1 else ("keys", "are")
        return f"{new} The old {noun} {', '.join(one.old)} {is_over} not published and not believed any more."
    noun, stays = ("key", "stays") if len(one.old) == 1 else ("keys", "stay")
    return f"{new} The old {noun} {', '.join(one.old)} {stays} published until {one.known_until:%Y-%m-%d}."
