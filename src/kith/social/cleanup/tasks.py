"""Old posts are deleted a few at a time, in turns, and only while nothing else waits.

A round asks for a turn of each of those whose time has come. A turn is a transaction of its own: it looks at a stretch
of somebody's old posts, from the oldest on, deletes some of them as their author would, and remembers how far it came.
Posts that stayed are looked at again after a day, since their author may have unpinned them, or taken a mark back.
"""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.ids import id_at
from kith.base.jobs import JobKind
from kith.base.jobs import store as jobs
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountDeleted
from kith.social.cleanup import store
from kith.social.cleanup.rules import stays
from kith.social.cleanup.tables import CleanupPolicy
from kith.social.ids import AccountId
from kith.social.statuses import store as statuses
from kith.social.statuses.service.remove import remove

PEOPLE = 10  # in a round
POSTS = 50  # that a round deletes, shared among the people whose turn it is
STRETCH = 200  # that one turn looks at
ROUND = timedelta(minutes=1)
REST = timedelta(hours=1)  # when there is nothing more to do
AGAIN = timedelta(days=1)
BEHIND = timedelta(seconds=10)  # what waits for longer than that goes first


class CleanupRound(msgspec.Struct):
    """Those whose time has come."""


class CleanupTurn(msgspec.Struct):
    account_id: AccountId
    posts: int  # to be deleted, at most


async def go_round(work: Work, _payload: CleanupRound) -> None:
    if await jobs.is_behind(work.db, work.now - BEHIND):
        return
    people = await store.due(work.db, work.now, PEOPLE)
    for account_id in people:
        work.enqueue(TURN, CleanupTurn(account_id=account_id, posts=POSTS // len(people)), key=str(account_id))


async def take_turn(work: Work, turn: CleanupTurn) -> None:
    await work.db.begin()
    policy = await store.find(work.db, turn.account_id)
    account = await accounts.find(work.db, turn.account_id)
    if policy is None or not policy.enabled or account is None or account.is_gone or account.memorial:
        return
    if policy.restarts_at <= work.now:
        policy.inspected_id, policy.restarts_at = 0, work.now + AGAIN
    inspected, is_done = await _delete_some(work, policy, turn.posts)
    await store.move(
        work.db, policy.account_id, inspected=inspected, restarts_at=policy.restarts_at,
        next_at=work.now + REST if is_done else work.now,
    )  # fmt: skip


async def _delete_some(work: Work, policy: CleanupPolicy, most: int) -> tuple[int, bool]:
    """The last post that was looked at, and whether there are no more for now."""
    before = id_at(work.now - timedelta(seconds=policy.min_status_age))
    seen = await store.old_posts(work.db, policy.account_id, after=policy.inspected_id, before=before, most=STRETCH)
    going = [post.id for post in seen if not stays(post, policy)]
    some = going[:most]
    for status in (await statuses.find_all(work.db, some)).values():
        await remove(work, status, with_media=True)
    if len(going) > most:
        return some[-1], False
    return (seen[-1].id if seen else policy.inspected_id), len(seen) < STRETCH


async def forget_account(work: Work, fact: AccountDeleted) -> None:
    await store.remove(work.db, fact.account_id)


GO_ROUND: JobKind[CleanupRound] = JobKind(
    name="cleanup.round", payload=CleanupRound, handler=go_round, is_harmless=True
)
TURN: JobKind[CleanupTurn] = JobKind(name="cleanup.turn", payload=CleanupTurn, handler=take_turn, is_harmless=True)
FORGET_ACCOUNT: JobKind[AccountDeleted] = JobKind(
    name="cleanup.forget_account", payload=AccountDeleted, handler=forget_account
)
