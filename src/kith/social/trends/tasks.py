"""What is reckoned every few minutes, and at once when somebody or something is gone."""

from __future__ import annotations

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountChanged, AccountDeleted
from kith.social.statuses import store as statuses
from kith.social.statuses.facts import StatusDeleted, TagsRecounted
from kith.social.trends import refreshing, requests, store


class RefreshTrends(msgspec.Struct):
    """All scores, from what people did."""


class RequestReview(msgspec.Struct):
    """Of what would stand among the first."""


async def refresh(work: Work, _payload: RefreshTrends) -> None:
    """Where there are no trends, nothing is reckoned."""
    if (await store.settings(work.db)).enabled:
        await refreshing.refresh(work)


async def request_review(work: Work, _payload: RequestReview) -> None:
    await requests.ask_for_review(work)


def refresh_soon(work: Work) -> None:
    """Once, however much is gone."""
    work.enqueue(REFRESH, RefreshTrends(), key="soon")


async def without_uses(work: Work, fact: TagsRecounted) -> None:
    """A post that made a tag a trend does so no more."""
    status = await statuses.find(work.db, fact.status_id)
    if status is not None and await store.any_trending_tag(work.db, status.tag_names):
        refresh_soon(work)


async def without_share(work: Work, fact: StatusDeleted) -> None:
    """The same of a link; a boost shares that of what it boosted."""
    known = await statuses.find_all(work.db, [id for id in (fact.status_id, fact.reblog_of_id) if id is not None])
    cards = [one.card_id for one in known.values() if one.card_id is not None]
    if cards and await store.link_peaks(work.db, cards):
        refresh_soon(work)


async def without_account(work: Work, fact: AccountChanged | AccountDeleted) -> None:
    """Whoever is limited or gone does not count any more."""
    account = await accounts.find(work.db, fact.account_id)
    if account is None or account.is_gone or account.silenced_at is not None:
        refresh_soon(work)


# Both run by themselves, as what takes long does, so that nobody waits to write while they count.
REFRESH: JobKind[RefreshTrends] = JobKind(
    name="trends.refresh", payload=RefreshTrends, handler=refresh, outside=True, concurrency=1
)
REQUEST_REVIEW: JobKind[RequestReview] = JobKind(
    name="trends.request_review", payload=RequestReview, handler=request_review, outside=True, concurrency=1
)
WITHOUT_USES: JobKind[TagsRecounted] = JobKind(name="trends.without_uses", payload=TagsRecounted, handler=without_uses)
WITHOUT_SHARE: JobKind[StatusDeleted] = JobKind(
    name="trends.without_share", payload=StatusDeleted, handler=without_share
)
WITHOUT_CHANGED: JobKind[AccountChanged] = JobKind(
    name="trends.without_changed", payload=AccountChanged, handler=without_account
)
WITHOUT_ACCOUNT: JobKind[AccountDeleted] = JobKind(
    name="trends.without_account", payload=AccountDeleted, handler=without_account
)
