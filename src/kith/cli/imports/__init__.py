"""`kith import`: people, posts and whole servers that move in."""

from __future__ import annotations

import click

from kith.cli.imports.archive import archive
from kith.cli.imports.authentik import authentik
from kith.cli.imports.mastodon import mastodon
from kith.cli.imports.people import people

__all__ = ["imports"]


@click.group(name="import")
def imports() -> None:
    """Move people, posts and whole servers in."""


imports.add_command(mastodon)
imports.add_command(authentik)
imports.add_command(archive)
imports.add_command(people)
