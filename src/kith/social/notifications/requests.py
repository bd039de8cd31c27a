"""What people decide about notifications from those they have little to do with."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kith.base.errors import Invalid, NotFound
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.ids import AccountId
from kith.social.notifications import policy, request_store
from kith.social.notifications.facts import MentionLetThrough, NotificationsMerged
from kith.social.notifications.tables import NotificationPolicy, NotificationRequest

STRETCH = 200


class PolicyChange(msgspec.Struct, kw_only=True):
    """What is left out stays as it is."""

    for_not_following: str | None = None
    for_not_followers: str | None = None
    for_new_accounts: str | None = None
    for_private_mentions: str | None = None
    for_limited_accounts: str | None = None
    for_bots: str | None = None


class Merge(msgspec.Struct):
    """What is held back of one sender is let through."""

    account_id: AccountId
    from_id: AccountId


async def change_policy(work: Work, me: AccountId, change: PolicyChange) -> NotificationPolicy:
    given = {name: choice for name, choice in msgspec.structs.asdict(change).items() if choice is not None}
    wrong = {name: ["is not included in the list"] for name, choice in given.items() if choice not in policy.CHOICES}
    if wrong:
        raise Invalid(fields=wrong)
    await work.db.begin()
    changed = msgspec.structs.replace(await request_store.policy_of(work.db, me), **given)
    if given:
        await request_store.set_policy(work.db, me, changed)
    return changed


async def find(work: Work, me: AccountId, id: int) -> NotificationRequest:
    found = await request_store.find(work.db, me, id)
    if found is None:
        raise NotFound
    return found


async def accept(work: Work, me: AccountId, ids: Sequence[int]) -> None:
    """Their senders pass from now on, and what is held back of them is let through soon."""
    await work.db.begin()
    for from_id in await request_store.senders(work.db, me, ids):
        await request_store.permit(work.db, me, from_id)
        work.enqueue(MERGE, Merge(me, from_id))
    await request_store.drop(work.db, me, ids)


async def dismiss(work: Work, me: AccountId, ids: Sequence[int]) -> None:
    """What is held back of their senders is forgotten; what they do next makes a new request."""
    await work.db.begin()
    await request_store.forget_held(work.db, me, await request_store.senders(work.db, me, ids))
    await request_store.drop(work.db, me, ids)


async def merge(work: Work, job: Merge) -> None:
    """A stretch at a time, oldest first; direct posts come into conversations."""
    await work.db.hold(f"notifications.merge:{job.account_id}")  # so that the last one knows that it is the last
    held = await request_store.held_back(work.db, job.account_id, job.from_id, STRETCH)
    await request_store.let_through(work.db, [id for id, _ in held])
    for id, type in held:
        if type == "mention":
            work.announce(MentionLetThrough(notification_id=id, account_id=job.account_id))
    if len(held) == STRETCH:
        work.enqueue(MERGE, job)
        return
    await request_store.end_merging(work.db, job.account_id, job.from_id)
    if not await request_store.is_merging(work.db, job.account_id):
        work.announce(NotificationsMerged(account_id=job.account_id))


MERGE: JobKind[Merge] = JobKind(name="notifications.merge", payload=Merge, handler=merge)
