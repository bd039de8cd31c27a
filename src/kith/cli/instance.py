from __future__ import annotations

from datetime import datetime
from typing import TextIO

import click

from kith.cli.inputs import WORDS
from kith.cli.running import as_json, house, reading, run, say
from kith.cli.showing import show_rows
from kith.social.instance import service, store
from kith.social.instance.tables import Rule
from kith.social.moderation import signups
from kith.social.staff import OPERATOR


@click.group()
def instance() -> None:
    """Edit the rules and pages of the community."""


@instance.command("reopen")
def reopen_signups() -> None:
    """Open sign-ups again after nobody of the team had been here for a week."""

    async def reopen() -> bool:
        async with house() as opened, opened.works.begin() as work:
            return await signups.reopen(work, OPERATOR)

    click.echo("Sign-ups are open again." if run(reopen()) else "Sign-ups are what the settings say.")


@instance.group()
def rules() -> None:
    """The rules of the community, in their order."""


@rules.command()
@click.argument("text", type=WORDS)
@click.option("--hint", default="", type=WORDS, help="A longer explanation of the rule.")
@as_json
def add(*, text: str, hint: str, as_json: bool) -> None:
    """Add TEXT as the last rule."""

    async def make() -> Rule:
        async with house() as opened, opened.works.begin() as work:
            return await service.add_rule(work, text, hint)

    rule = run(make())
    if as_json:
        say(_record(rule))
    else:
        click.echo(f"Added rule {rule.id}.")


@rules.command()
@click.argument("id", type=click.IntRange(1, (1 << 63) - 1))
def remove(*, id: int) -> None:
    """Remove the rule with this ID. `list` shows the IDs."""

    async def take() -> None:
        async with house() as opened, opened.works.begin() as work:
            await service.remove_rule(work, id)

    run(take())
    click.echo(f"Removed rule {id}.")


@rules.command("list")
@as_json
def list_rules(*, as_json: bool) -> None:
    """List all rules with their IDs."""

    async def read() -> list[Rule]:
        async with reading() as work:
            return await store.all_rules(work.db)

    found = run(read())
    if as_json:
        say([_record(rule) for rule in found])
    else:
        show_rows(["id", "rule", "hint"], [[rule.id, rule.text, rule.hint] for rule in found], nothing="No rules.")


def _record(rule: Rule) -> dict[str, str]:
    return {"id": str(rule.id), "text": rule.text, "hint": rule.hint}


@instance.command()
@click.argument("kind", type=click.Choice(service.KINDS))
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option(
    "--from", "begins", type=click.DateTime(["%Y-%m-%d"]), help="The date from which the terms apply. Default: today."
)
@click.option("--changelog", default="", type=WORDS, help="What has changed in these terms.")
def page(*, kind: service.PageKind, file: TextIO, begins: datetime | None, changelog: str) -> None:
    """Set the page KIND to the contents of FILE (- reads standard input): text, or HTML if it begins with a tag.

    An empty FILE removes the page.
    """
    try:
        text = file.read()
    except UnicodeDecodeError as error:
        raise click.ClickException("the file is not UTF-8 text") from error

    async def write() -> bool:
        async with house() as opened, opened.works.begin() as work:
            day = begins.date() if begins else None
            return await service.write_page(work, kind, text, begins=day, changelog=changelog)

    click.echo(f"{'Saved' if run(write()) else 'Removed'} {kind}.")
