"""What is left of somebody who is gone: a name that nobody else may take."""

from __future__ import annotations

from typing import Any

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity.for_social import UserDeleted
from kith.social.accounts import remote_pictures, store
from kith.social.accounts.facts import AccountDeleted
from kith.social.accounts.tables import Account

BATCH = 100


class DeleteAccounts(msgspec.Struct):
    """Somebody's record was deleted. It took the way to their account with it, so all such accounts are meant."""


async def part(work: Work, _payload: DeleteAccounts | UserDeleted) -> None:
    orphans = await store.find_orphans(work.db, BATCH)
    for account in orphans:
        await empty(work, account)
    if len(orphans) == BATCH:
        work.enqueue(PART, DeleteAccounts(), key="more")


async def empty(work: Work, account: Account) -> None:
    """Whom nobody ever saw leaves no name behind, either."""
    if not account.is_listed and not account.statuses_count:
        await store.delete_row(work.db, account.id)
        return
    changed: dict[str, Any] = {
        "deleted_at": work.now,
        "display_name": "",
        "note": "",
        "note_html": "",
        "fields": [],
        "avatar": "",
        "avatar_static": "",
        "avatar_description": "",
        "header": "",
        "header_static": "",
        "header_description": "",
        "attribution_domains": [],
        "also_known_as": [],
        "discoverable": False,
        "indexable": False,
    }
    await store.change(work.db, account.id, changed, work.now)
    await remote_pictures.forget(work, account, changed)
    work.announce(AccountDeleted(account_id=account.id))


PART: JobKind[DeleteAccounts] = JobKind(name="accounts.part", payload=DeleteAccounts, handler=part)
