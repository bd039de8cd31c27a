"""What relays say to us."""

from __future__ import annotations

from kith.base.work import Work
from kith.federation.relays import store
from kith.federation.vocabulary.incoming.ids import same_domain
from kith.social.accounts.tables import Account

__all__ = ["answer", "is_relay"]


async def answer(work: Work, sender: Account, follow_uri: str, *, accepted: bool) -> bool:
    """An Accept or a Reject of a Follow: False when it is no relay's, and somebody else has to look at it.

    Only the host that was asked can answer.
    """
    found = await store.find_by_follow(work.db, follow_uri)
    if found is None:
        return False
    if same_domain(found.inbox, sender.uri):
        await store.answer(work.db, found.id, "enabled" if accepted else "refused", work.now)
    return True


async def is_relay(work: Work, sender: Account) -> bool:
    """Whether what `sender` announces is only a hint at something to fetch."""
    return not sender.is_local and await store.is_relay(work.db, sender.id)
