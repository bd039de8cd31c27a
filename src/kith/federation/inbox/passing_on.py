"""What people here have boosted is changed or deleted elsewhere: those who have it by their boosts are told, too.

Its author's server does not know them. They get what was said here, word for word, and believe nothing of it but
where to ask (`inbox/forwarded.py`).
"""

from __future__ import annotations

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.delivery.service import DeliveryPriority, deliver
from kith.federation.outgoing import recipients
from kith.federation.vocabulary.incoming import parse_document
from kith.social.ids import StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import UNLISTED, Status

__all__ = ["PASS_ON", "pass_on"]


class PassOn(msgspec.Struct):
    status_id: StatusId
    activity: str


async def pass_on(work: Work, before: Status | None, activity: str) -> None:
    """Once for every change that was taken in: who says the same again changes nothing."""
    if before is None or before.local or before.visibility > UNLISTED or before.reblog_of_id is not None:
        return
    now = await statuses.find(work.db, before.id)
    if now is None or (now.edited_at, now.deleted_at) != (before.edited_at, before.deleted_at):
        work.enqueue(PASS_ON, PassOn(before.id, activity))


async def tell_of_boosted(work: Work, payload: PassOn) -> None:
    booster, inboxes = await recipients.of_boosters(work.db, payload.status_id)
    if booster is not None:
        await deliver(
            work,
            activity=parse_document(payload.activity.encode()),
            sender=booster,
            inboxes=inboxes,
            priority=DeliveryPriority.LOW,
        )


PASS_ON: JobKind[PassOn] = JobKind(
    name="federation_inbox.pass_on", payload=PassOn, handler=tell_of_boosted, is_harmless=True
)
