from __future__ import annotations

from collections.abc import Sequence

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts.facts import AccountDeleted
from kith.social.conversations import service, store
from kith.social.ids import AccountId
from kith.social.notifications.facts import MentionLetThrough, NotificationMade
from kith.social.relationships.facts import Blocked
from kith.social.statuses.facts import StatusDeleted, StatusPosted


async def add_own(work: Work, facts: Sequence[StatusPosted]) -> None:
    """Whoever writes a direct post has the conversation in their own inbox."""
    for fact in facts:
        if fact.is_direct:
            await service.add_post(work, fact.account_id, fact.status_id)


async def add_mentioned(work: Work, fact: NotificationMade) -> None:
    """Whoever is told of a direct post has it in their inbox; whoever does not want to be told has not."""
    if fact.type == "mention":
        await _add_told(work, fact.account_id, fact.notification_id)


async def add_let_through(work: Work, fact: MentionLetThrough) -> None:
    """What was held back of somebody comes into the inbox when they are accepted."""
    await _add_told(work, fact.account_id, fact.notification_id)


async def _add_told(work: Work, owner: AccountId, notification_id: int) -> None:
    status_id = await store.direct_post_told(work.db, notification_id)
    if status_id is not None:
        await service.add_post(work, owner, status_id)


async def drop_deleted(work: Work, fact: StatusDeleted) -> None:
    if fact.reblog_of_id is None:
        await service.drop_posts(work, [fact.status_id])


async def leave_blocked(work: Work, fact: Blocked) -> None:
    await service.leave(work, fact.account_id, fact.target_id)


async def forget_account(work: Work, fact: AccountDeleted) -> None:
    if await service.forget_account(work, fact.account_id):
        work.enqueue(FORGET_ACCOUNT, fact)


ADD_OWN: JobKind[StatusPosted] = JobKind(name="conversations.add_own", payload=StatusPosted, many=add_own)
FORGET_ACCOUNT: JobKind[AccountDeleted] = JobKind(
    name="conversations.forget_account", payload=AccountDeleted, handler=forget_account
)
