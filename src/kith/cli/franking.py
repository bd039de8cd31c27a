from __future__ import annotations

import click

from kith.base.errors import Invalid
from kith.base.keys import Keys
from kith.base.work import Work
from kith.cli.inputs import WORDS
from kith.cli.running import as_json, house, run, say
from kith.social.accounts import store as accounts
from kith.social.encryption.franking import Franking, open_seal
from kith.social.ids import AccountId

UNKNOWN = "this server has not sealed it, or longer ago than three weeks"


@click.command()
@click.argument("token", type=WORDS)
@as_json
def franking(*, token: str, as_json: bool) -> None:
    """Tell who sent a reported encrypted message, to whom and when.

    TOKEN is the message_franking that came with the message. Compare the digest with that of the message.
    """

    async def look() -> tuple[Franking, str, str]:
        async with house() as opened, opened.works.begin() as work:
            found = open_seal(work.find(Keys).encryption, token, work.now)
            if found is None:
                raise Invalid(UNKNOWN)
            return found, await _name(work, found.source_account_id), await _name(work, found.target_account_id)

    found, sender, recipient = run(look())
    told = {"from": sender, "to": recipient, "at": found.timestamp, "digest": found.hmac}
    if as_json:
        say(told)
        return
    for word, value in told.items():
        click.echo(f"{word}: {value}")


async def _name(work: Work, account_id: int) -> str:
    account = await accounts.find(work.db, AccountId(account_id))
    if account is None:
        return f"{account_id} (not here any more)"
    return f"@{account.username}@{account.domain}" if account.domain else f"@{account.username}"
