from __future__ import annotations

import sys

import click
import msgspec

from kith.base.errors import Invalid
from kith.cli.inputs import COMMAND_LINE, WORDS, user_called
from kith.cli.running import as_json, house, run, say
from kith.identity.lockdown.service import Lockdown, LockdownCounts, lock


@click.command()
@click.argument("name", type=WORDS)
@click.option("--reason", required=True, type=WORDS, help="Why; it is kept in the audit trail.")
@click.option("--remove-factors", is_flag=True, help="Also remove passkeys, authenticator apps and recovery codes.")
@click.option("--no-mail", is_flag=True, help="Do not tell the person by mail.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@as_json
def lockdown(*, name: str, reason: str, remove_factors: bool, no_mail: bool, yes: bool, as_json: bool) -> None:
    """Disable NAME and end everything of theirs: sessions, tokens, apps, the password and linked accounts."""
    if not yes:
        if not sys.stdin.isatty():
            raise Invalid("cannot ask for confirmation without a terminal: use --yes")
        click.confirm(f"End everything of {name}?", abort=True)
    wanted = Lockdown(reason=reason, remove_factors=remove_factors, notify=not no_mail)

    async def end() -> tuple[str, LockdownCounts]:
        async with house() as opened, opened.works.begin() as work:
            user = await user_called(work.db, name)
            return user.username, await lock(work, user, wanted, by=None, by_name=COMMAND_LINE)

    username, ended = run(end())
    counts = msgspec.to_builtins(ended)
    if as_json:
        say({"username": username, **counts})
        return
    click.echo(f"Locked {username}. Ended: {', '.join(f'{number} {what}' for what, number in counts.items())}.")
    click.echo(f"To let them in again: kith users enable {username}, then kith recovery {username}")
