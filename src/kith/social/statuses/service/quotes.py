"""Who may quote a status, and taking a quote back."""

from __future__ import annotations

from kith.base.errors import Complaint, Forbidden, Invalid, NotFound
from kith.base.work import Work
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import store
from kith.social.statuses.facts import QuoteRevoked, StatusEdited
from kith.social.statuses.tables import PUBLIC, UNLISTED

POLICIES = ("public", "followers", "nobody")


async def change_policy(work: Work, me: AccountId, status_id: StatusId, policy: str) -> None:
    status = await store.find_visible(work.db, status_id, me)
    if status is None or status.account_id != me:
        raise NotFound
    if policy not in POLICIES:
        raise Invalid(fields={"quote_approval_policy": [Complaint("is not included in the list", "inclusion")]})
    kept = policy if status.visibility in (PUBLIC, UNLISTED) else "nobody"
    if kept != status.quote_policy:
        await store.change(work.db, status.id, {"quote_policy": kept})
        work.announce(StatusEdited(status_id=status.id, account_id=me))


async def revoke(work: Work, me: AccountId, status_id: StatusId, quoting_id: StatusId) -> None:
    """By whoever was quoted, whether or not they may see the quoting status."""
    status = await store.find_visible(work.db, status_id, me)
    quoting = await store.find(work.db, quoting_id)
    if status is None or quoting is None or quoting.quoted_id != status.id:
        raise NotFound
    if status.account_id != me:
        raise Forbidden
    if quoting.quote_state == "accepted":
        await store.change(work.db, quoting.id, {"quote_state": "revoked"})
        await store.count(work.db, status.id, quotes=-1)
        work.announce(StatusEdited(status_id=quoting.id, account_id=quoting.account_id))
        work.announce(QuoteRevoked(status_id=quoting.id, quoted_id=status.id, account_id=me))
