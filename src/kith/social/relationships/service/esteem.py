"""What one shows of one's liking for others, and what one notes down about them for oneself."""

from __future__ import annotations

from kith.base.errors import Complaint, Invalid
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.relationships import store
from kith.social.relationships.facts import Endorsed
from kith.social.relationships.service.common import RelationshipRefused, hold, target

LONGEST_NOTE = 2000
NOT_FOLLOWED = "Validation failed: You must be already following the person you want to endorse"


async def endorse(work: Work, actor: Account, target_id: AccountId) -> None:
    other = await target(work, target_id)
    await hold(work, actor.id, other.id)
    if not await store.is_following(work.db, actor.id, other.id):
        raise RelationshipRefused(NOT_FOLLOWED)
    if await store.endorse(work.db, actor.id, other.id, id=work.new_id(), now=work.now):
        work.announce(Endorsed(account_id=actor.id, target_id=other.id, endorsed=True))


async def unendorse(work: Work, actor: Account, target_id: AccountId) -> None:
    other = await target(work, target_id)
    if await store.unendorse(work.db, actor.id, other.id):
        work.announce(Endorsed(account_id=actor.id, target_id=other.id, endorsed=False))


async def note(work: Work, actor: Account, target_id: AccountId, comment: str) -> None:
    """For one's own eyes. A blank one is taken away."""
    other = await target(work, target_id)
    comment = comment.strip()
    if len(comment) > LONGEST_NOTE:
        words = f"is too long (maximum is {LONGEST_NOTE} characters)"
        raise Invalid(fields={"comment": [Complaint(words, "too_long")]})
    await store.save_note(work.db, actor.id, other.id, comment)
