"""What somebody can ask for: everything on offer that they do not have."""

from __future__ import annotations

import msgspec

from kith.base.work import Work
from kith.identity.access_requests import grants, store
from kith.identity.access_requests.tables import AccessOffer
from kith.identity.expressions import subjects


class OfferedAccess(msgspec.Struct, frozen=True):
    """`is_open`: they have asked for it already, and nobody has decided yet."""

    offer: AccessOffer
    is_open: bool


async def for_person(work: Work, user_id: int) -> list[OfferedAccess]:
    """Policies are evaluated: call it before any write."""
    waiting = await store.open_offers(work.db, user_id, work.now)
    person = await subjects.get(work, user_id)
    found = [one for one in await store.offered(work.db) if not await grants.has_already(work, one, person)]
    return [OfferedAccess(one, one.offer_uuid in waiting) for one in found]
