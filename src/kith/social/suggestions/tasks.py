"""What people do counts for whom they are suggested; following, muting or blocking somebody ends that."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts.facts import AccountDeleted
from kith.social.relationships.facts import Blocked, Followed, Muted
from kith.social.statuses.facts import StatusFavourited, StatusPosted
from kith.social.suggestions import store
from kith.social.suggestions.reading import KEPT


class ForgetInteractions(msgspec.Struct):
    """Those that are too old to count."""


async def count_posts(work: Work, facts: Sequence[StatusPosted]) -> None:
    acts = await store.acts_of_posts(work.db, [fact.status_id for fact in facts])
    await store.count(work.db, acts, work.now)


async def count_favourite(work: Work, fact: StatusFavourited) -> None:
    author = await store.author_not_followed(work.db, fact.account_id, fact.status_id)
    if author is not None:
        await store.count(work.db, [store.Interaction(fact.account_id, author, store.FAVOURITED)], work.now)


async def forget(work: Work, fact: Followed | Muted | Blocked) -> None:
    await store.forget(work.db, fact.account_id, fact.target_id)


async def forget_old(work: Work, _payload: ForgetInteractions) -> None:
    await store.forget_before(work.db, work.now - KEPT)


async def forget_account(work: Work, fact: AccountDeleted) -> None:
    await store.forget_account(work.db, fact.account_id)


COUNT_POSTS: JobKind[StatusPosted] = JobKind(name="suggestions.posts", payload=StatusPosted, many=count_posts)
COUNT_FAVOURITE: JobKind[StatusFavourited] = JobKind(
    name="suggestions.favourite", payload=StatusFavourited, handler=count_favourite
)
FORGET_FOLLOWED: JobKind[Followed] = JobKind(name="suggestions.followed", payload=Followed, handler=forget)
FORGET_MUTED: JobKind[Muted] = JobKind(name="suggestions.muted", payload=Muted, handler=forget)
FORGET_BLOCKED: JobKind[Blocked] = JobKind(name="suggestions.blocked", payload=Blocked, handler=forget)
FORGET_OLD: JobKind[ForgetInteractions] = JobKind(
    name="suggestions.forget_old", payload=ForgetInteractions, handler=forget_old
)
FORGET_ACCOUNT: JobKind[AccountDeleted] = JobKind(
    name="suggestions.forget_account", payload=AccountDeleted, handler=forget_account
)
