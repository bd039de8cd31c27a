"""What people here have boosted is changed or deleted elsewhere: those who have it by their boosts are told, too.

Its author's server does not know them. They get what was said here, word for word, and believe nothing of it but
where to ask (`inbox/forwarded.py`). It is signed with a key of ours, so what could be read in another way than we have
read it is not passed on: then they are told in our words. So they are of what is long: one who edits pays for one
request, and each of those who are told gets as many bytes.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.delivery.service import DeliveryPriority, deliver
from kith.federation.outgoing import recipients
from kith.federation.vocabulary.incoming import parse_document
from kith.federation.vocabulary.outgoing.contexts import PUBLIC, Doc, has_one_reading
from kith.social.accounts import store as accounts
from kith.social.ids import StatusId
from kith.social.statuses import store as statuses
from kith.social.statuses.tables import UNLISTED, Status

__all__ = ["PASS_ON", "PassOn", "pass_on"]


LONGEST = 64 * 1024  # bytes that are passed on word for word
TOGETHER = timedelta(seconds=30)  # of changes to one post within them the last is told, at their end


class PassOn(msgspec.Struct):
    """`activity` is empty where it is told in our words."""

    status_id: StatusId
    activity: str


async def pass_on(work: Work, before: Status | None, activity: str) -> None:
    """Changes that were taken in: who says the same again changes nothing."""
    if before is None or before.local or before.visibility > UNLISTED or before.reblog_of_id is not None:
        return
    now = await statuses.find(work.db, before.id)
    if now is not None and (now.edited_at, now.deleted_at) == (before.edited_at, before.deleted_at):
        return
    is_gone = now is None or now.deleted_at is not None
    at_once = is_gone or before.fetched_at is None or before.fetched_at <= work.now - TOGETHER
    payload = PassOn(before.id, activity if len(activity.encode()) <= LONGEST else "")
    ends_at = _end_of_turn(work.now)
    key = f"{before.id} {int(ends_at.timestamp())}"
    await work.call_off(PASS_ON, key)  # it is told in place of what waits
    work.enqueue(PASS_ON, payload, at=work.now if at_once else ends_at, key=key)


def _end_of_turn(now: datetime) -> datetime:
    seconds = int(TOGETHER.total_seconds())
    return datetime.fromtimestamp((int(now.timestamp()) // seconds + 1) * seconds, UTC)


async def tell_of_boosted(work: Work, payload: PassOn) -> None:
    booster, inboxes = await recipients.of_boosters(work.db, payload.status_id)
    told = _word_for_word(payload.activity) or await _in_our_words(work, payload.status_id)
    if booster is not None and told is not None:
        await deliver(work, activity=told, sender=booster, inboxes=inboxes, priority=DeliveryPriority.LOW)


def _word_for_word(activity: str) -> Doc | None:
    """What an earlier version has left to be done may be of any length."""
    if not activity or len(activity.encode()) > LONGEST:
        return None
    document = parse_document(activity.encode())
    return document if has_one_reading(document) else None


async def _in_our_words(work: Work, status_id: StatusId) -> Doc | None:
    """Only whose post it is, and whether it was changed or deleted."""
    status = await statuses.find(work.db, status_id)
    author = None if status is None else await accounts.find(work.db, status.account_id)
    if status is None or author is None:
        return None
    kind = "Update" if status.deleted_at is None else "Delete"
    return {"type": kind, "actor": author.uri, "object": status.uri, "to": [PUBLIC]}


PASS_ON: JobKind[PassOn] = JobKind(
    name="federation_inbox.pass_on", payload=PassOn, handler=tell_of_boosted, is_harmless=True
)
