from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kith.base.errors import Conflict, Forbidden, NotFound
from kith.cli.inputs import WORDS
from kith.cli.running import as_json, house, run, say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kith.base.work import Work
    from kith.social.accounts.tables import Account

    Change = Callable[[Work, Account], Awaitable[object]]

DONE = {
    "silence": "limited",
    "sensitive": "marked as sensitive",
    "disable": "disabled",
    "suspend": "suspended",
    "none": "warned",
}
# What a verb makes of an account, and why it may not be able to.
OTHERS = {
    "unsilence": ("not limited", ""),
    "unsensitive": ("not marked as sensitive", ""),
    "enable": ("enabled", "lives elsewhere or is suspended"),
    "unsuspend": ("not suspended", "is not suspended"),
    "approve": ("approved", "does not wait for approval"),
    "reject": ("rejected", "does not wait for approval"),
    "delete": ("deleted", "is not suspended, which it must be first"),
}


@click.group()
def accounts() -> None:
    """Limit, disable and suspend accounts, and back; let people in who wait."""


async def _called(work: Work, acct: str) -> Account:
    from kith.social.accounts import store  # noqa: PLC0415 - loaded when first used
    from kith.social.accounts.lookup import split_acct  # noqa: PLC0415

    name, domain = split_acct(work, acct)
    found = await store.find_named(work.db, name, domain)
    if found is None or found.deleted_at is not None:
        raise NotFound(f"there is no account called {acct}")
    return found


async def _changed(acct: str, change: Change) -> dict[str, Any]:
    from kith.social.accounts import store  # noqa: PLC0415 - loaded when first used

    async with house() as opened, opened.works.begin() as work:
        account = await _called(work, acct)
        await change(work, account)
        now = await store.find(work.db, account.id) or account
        states = {name: getattr(now, f"{name}_at") is not None for name in ("silenced", "sensitized", "suspended")}
        return {"id": str(account.id), "acct": account.acct, **states}


def _tell(record: dict[str, Any], words: str, *, as_json: bool) -> None:
    say(record) if as_json else click.echo(f"{record['acct']} is {words} now.")


def _act(type: str, acct: str, text: str, *, mail: bool, as_json: bool) -> None:
    from kith.social.moderation import actions  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    async def change(work: Work, account: Account) -> None:
        if type == "disable" and not account.is_local:
            raise Conflict(f"{account.acct} lives elsewhere and cannot be disabled here")
        await actions.act(work, OPERATOR, account, actions.Act(type=type, text=text, send_mail=mail))

    _tell(run(_changed(acct, change)), DONE[type], as_json=as_json)


def _do(verb: str, acct: str, *, as_json: bool) -> None:
    from kith.social.moderation import actions  # noqa: PLC0415 - loaded when first used
    from kith.social.staff import OPERATOR  # noqa: PLC0415

    words, why_not = OTHERS[verb]

    async def change(work: Work, account: Account) -> None:
        try:
            await getattr(actions, verb)(work, OPERATOR, account)
        except Forbidden as error:
            raise Conflict(f"{account.acct} {why_not}") from error

    _tell(run(_changed(acct, change)), words, as_json=as_json)


def _acting(type: str, words: str) -> None:
    @accounts.command("warn" if type == "none" else type, help=words)
    @click.argument("acct", type=WORDS)
    @click.option("--text", default="", type=WORDS, help="What the person is told.")
    @click.option("--mail/--no-mail", default=True, help="Whether they get a mail about it.")
    @as_json
    def command(*, acct: str, text: str, mail: bool, as_json: bool) -> None:
        _act(type, acct, text, mail=mail, as_json=as_json)


def _doing(verb: str, words: str) -> None:
    @accounts.command(verb, help=words)
    @click.argument("acct", type=WORDS)
    @as_json
    def command(*, acct: str, as_json: bool) -> None:
        _do(verb, acct, as_json=as_json)


_acting("none", "Warn ACCT (a name, or name@domain), and do nothing else.")
_acting("silence", "Limit ACCT: only those who follow them see what they post.")
_doing("unsilence", "Let everybody see ACCT again.")
_acting("sensitive", "Show all media of ACCT as sensitive.")
_doing("unsensitive", "Show the media of ACCT as they mark it themselves.")
_acting("disable", "Shut ACCT out; their profile and posts stay. Apps are refused until they are let in again.")
_doing("enable", "Let ACCT in again.")
_acting("suspend", "Hide ACCT and all of theirs, end every sign-in, and delete the data after 30 days.")
_doing("unsuspend", "Bring ACCT back, as long as the data is there.")
_doing("approve", "Let ACCT in, who waits for approval.")
_doing("reject", "Turn ACCT down, who waits for approval; the account is deleted.")
_doing("delete", "Delete all data of ACCT, who is suspended, for good.")
