"""Somebody elsewhere is gone for good, by the word of their own server."""

from __future__ import annotations

from kith.base.work import Work
from kith.federation.people import store
from kith.social.accounts import deletion
from kith.social.accounts.tables import Account

__all__ = ["leave"]


async def leave(work: Work, account: Account) -> None:
    """What was theirs goes, as it does for people who lived here; nothing that they signed is believed any more."""
    await store.set_keys(work.db, account.id, [])
    await deletion.empty(work, account)
