"""What relays say to us."""

from __future__ import annotations

from kith.base.work import Work
from kith.federation.people import store as people
from kith.federation.relays import store
from kith.social.accounts.tables import Account

__all__ = ["answer", "is_relay"]


async def answer(work: Work, sender: Account, follow_uri: str, *, accepted: bool) -> bool:
    """An Accept or a Reject of a Follow: False when it is no relay's, and somebody else has to look at it.

    Only whoever has the inbox that was asked can answer, and nobody else on that host.
    """
    found = await store.find_by_follow(work.db, follow_uri)
    if found is None:
        return False
    actor = await people.find_actor(work.db, sender.id)
    if actor is not None and actor.inbox == found.inbox:
        await store.answer(work.db, found.id, "enabled" if accepted else "refused", work.now)
    return True


async def is_relay(work: Work, sender: Account) -> bool:
    """Whether what `sender` announces is only a hint at something to fetch."""
    return not sender.is_local and await store.is_relay(work.db, sender.id)
