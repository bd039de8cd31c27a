"""The keys that people and the server sign with towards other servers."""

from __future__ import annotations

import click

from kith.base.errors import NotFound
from kith.cli.inputs import WORDS
from kith.cli.running import house, run

__all__ = ["rotate_key"]


@click.command("rotate-key")
@click.argument("name", type=WORDS, required=False)
def rotate_key(*, name: str | None) -> None:
    """Sign with a new key from now on what NAME, or without a name the server itself, says to other servers.

    Those who know the old key are told of the new one, or fetch it when a signature does not fit.
    """
    run(_rotate(name))
    click.echo(f"{name or 'The server'} signs with a new key from now on.")


async def _rotate(name: str | None) -> None:
    from kith.federation.keys import service  # noqa: PLC0415 - loaded when first used
    from kith.social.accounts import store as accounts  # noqa: PLC0415

    async with house() as opened, opened.works.begin() as work:
        owner = None
        if name is not None:
            found = await accounts.find_named(work.db, name.strip().removeprefix("@"))
            if found is None or found.deleted_at is not None:
                raise NotFound(f"there is no account {name} here")
            owner = found.id
        await service.rotate(work, owner)
