from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kith.base.errors import NotFound
from kith.cli.inputs import WORDS
from kith.cli.running import house, run

if TYPE_CHECKING:
    from kith.base.work import Work
    from kith.social.accounts.tables import Account

DONE = {
    "silence": "limited",
    "sensitive": "marked as sensitive",
    "disable": "disabled",
    "suspend": "suspended",
    "none": "warned",
}
BACK = {
    "unsilence": "not limited",
    "unsensitive": "not marked as sensitive",
    "enable": "enabled",
    "unsuspend": "not suspended",
}


@click.group()
def accounts() -> None:
    """Limit, disable and suspend accounts, and back."""


async def _called(work: Work, acct: str) -> Account:
    from kith.social.accounts import store  # noqa: PLC0415 - loaded when first used
    from kith.social.accounts.lookup import split_acct  # noqa: PLC0415

    name, domain = split_acct(work, acct)
    found = await store.find_named(work.db, name, domain)
    if found is None or found.deleted_at is not None:
        raise NotFound(f"there is no account called {acct}")
    return found


def _act(type: str, acct: str, text: str, *, mail: bool) -> None:
    from kith.social.moderation import actions  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def do() -> Account:
        async with house() as opened, opened.works.begin() as work:
            account = await _called(work, acct)
            await actions.act(work, OPERATOR, account, actions.Act(type=type, text=text, send_mail=mail))
            return account

    click.echo(f"{run(do()).acct} is {DONE[type]} now.")


def _lift(verb: str, acct: str) -> None:
    from kith.social.moderation import actions  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def do() -> Account:
        async with house() as opened, opened.works.begin() as work:
            account = await _called(work, acct)
            await getattr(actions, verb)(work, OPERATOR, account)
            return account

    click.echo(f"{run(do()).acct} is {BACK[verb]} now.")


def _acting(type: str, words: str) -> None:
    @accounts.command("warn" if type == "none" else type, help=words)
    @click.argument("acct", type=WORDS)
    @click.option("--text", default="", type=WORDS, help="What the person is told.")
    @click.option("--mail/--no-mail", default=True, help="Whether they get a mail about it.")
    def command(*, acct: str, text: str, mail: bool) -> None:
        _act(type, acct, text, mail=mail)


def _lifting(verb: str, words: str) -> None:
    @accounts.command(verb, help=words)
    @click.argument("acct", type=WORDS)
    def command(*, acct: str) -> None:
        _lift(verb, acct)


_acting("none", "Warn ACCT (a name, or name@domain), and do nothing else.")
_acting("silence", "Limit ACCT: only those who follow them see what they post.")
_lifting("unsilence", "Let everybody see ACCT again.")
_acting("sensitive", "Show all media of ACCT as sensitive.")
_lifting("unsensitive", "Show the media of ACCT as they mark it themselves.")
_acting("disable", "Shut ACCT out; their profile and posts stay.")
_lifting("enable", "Let ACCT in again.")
_acting("suspend", "Hide ACCT and all of theirs, end every sign-in, and delete the data after 30 days.")
_lifting("unsuspend", "Bring ACCT back, as long as the data is there.")
