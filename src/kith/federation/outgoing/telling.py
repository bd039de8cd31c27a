"""What every way of telling somebody something needs."""

from __future__ import annotations

from kith.base.work import Work
from kith.federation.delivery.service import deliver
from kith.federation.outgoing import recipients
from kith.federation.vocabulary.outgoing.contexts import Doc
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId

__all__ = ["find_elsewhere", "find_here", "tell_followers", "tell_one"]


async def find_here(work: Work, id: AccountId) -> Account | None:
    """Somebody in whose name something can be told: they live here, and have not gone."""
    found = await accounts.find(work.db, id)
    return found if found is not None and found.is_local and found.deleted_at is None else None


async def find_elsewhere(work: Work, id: AccountId) -> Account | None:
    found = await accounts.find(work.db, id)
    return None if found is None or found.is_local or found.deleted_at is not None else found


async def tell_one(
    work: Work, me: Account, other: AccountId, activity: Doc, *, even_if_dead: bool = False, own_inbox: bool = False
) -> None:
    """One person elsewhere; whoever lives here has no such inbox."""
    inbox = await recipients.inbox_of(work.db, other, own=own_inbox)
    if inbox is not None:
        await deliver(work, activity=activity, sender=me.id, inboxes=[inbox], even_if_dead=even_if_dead)


async def tell_followers(work: Work, me: Account, activity: Doc) -> None:
    inboxes = await recipients.followers(work.db, me)
    if inboxes:
        await deliver(work, activity=activity, sender=me.id, inboxes=inboxes)
