"""What becomes of statuses later: tags are counted, polls end, what is over is forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import msgspec
from sqlalchemy import and_, bindparam, exists, or_, select

from kith.base.db import any_of, query
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountSensitized
from kith.social.feeds import store as feeds
from kith.social.ids import AccountId
from kith.social.statuses import store, tag_uses
from kith.social.statuses.cards import service as cards
from kith.social.statuses.facts import BoostWithdrawn, StatusDeleted, StatusEdited, StatusPosted
from kith.social.statuses.service import poll
from kith.social.statuses.tables import PUBLIC, Status, statuses
from kith.social.tags import store as tags
from kith.social.tags.tables import status_tags

BATCH = 200
MOST_POLLS = 100
SHOWN_AT_ONCE = 1000
REMEMBERED = timedelta(hours=1)

_boosts = query(
    select(statuses.c.id, statuses.c.account_id)
    .where(and_(statuses.c.reblog_of_id == bindparam("status"), statuses.c.deleted_at.is_(None)))
    .order_by(statuses.c.id)
    .limit(BATCH),
    tuple,
)
# Own words with something behind them; of most posts there is nothing to follow up.
_with_links = query(
    select(statuses)
    .where(
        and_(
            any_of(statuses.c.id, "ids"),
            statuses.c.reblog_of_id.is_(None),
            statuses.c.deleted_at.is_(None),
            or_(
                statuses.c.content.like("%<a %"),
                exists(select(status_tags.c.tag_id).where(status_tags.c.status_id == statuses.c.id)),
            ),
        )
    )
    .order_by(statuses.c.id),
    Status,
)


class EndPolls(msgspec.Struct):
    """Polls whose time is over."""


class ShowAnew(msgspec.Struct):
    """What is shown of an account's posts is another from now on."""

    account_id: AccountId
    after: int = 0


class SweepStatuses(msgspec.Struct):
    """What nobody asks for any more."""


async def follow_up(work: Work, facts: Sequence[StatusPosted]) -> None:
    """What a new post brings with it: tags that were used, a link that has a page behind it."""
    for status in await work.db.all(_with_links, ids=[fact.status_id for fact in facts]):
        await cards.look(work, status)
        if status.visibility == PUBLIC and status.tag_names:
            await tag_uses.count(work, status)


async def look_again(work: Work, fact: StatusEdited) -> None:
    status = await store.find(work.db, fact.status_id)
    if status is not None:
        await cards.look(work, status)
        await tag_uses.recount(work, status)


async def clear_up(work: Work, fact: StatusDeleted) -> None:
    """Whatever hung on a status that is gone: its tags, and the boosts of it, a stretch at a time."""
    status = await store.find(work.db, fact.status_id)
    if status is not None and status.tag_names:
        await tag_uses.recount(work, status)
    await tags.unlink_all(work.db, fact.status_id)
    boosts = await work.db.all(_boosts, status=fact.status_id)
    for boost_id, account_id in boosts:
        if await store.remove(work.db, boost_id, work.now):
            await accounts.count(work.db, account_id, statuses=-1)
            await feeds.drop_status(work.db, boost_id)
            work.announce(BoostWithdrawn(status_id=boost_id, account_id=account_id))
    if len(boosts) == BATCH:
        work.enqueue(CLEAR_UP, fact)


async def end_polls(work: Work, _payload: EndPolls) -> None:
    if await poll.end_polls(work) == MOST_POLLS:
        work.enqueue(END_POLLS, EndPolls(), key="more")


async def show_anew(work: Work, payload: ShowAnew) -> None:
    """A stretch at a time, each a job of its own."""
    last = await store.show_anew(work.db, payload.account_id, payload.after, SHOWN_AT_ONCE)
    if last is not None:
        work.enqueue(SHOW_ANEW, ShowAnew(account_id=payload.account_id, after=last))


async def begin_to_show_anew(work: Work, fact: AccountSensitized) -> None:
    await show_anew(work, ShowAnew(account_id=fact.account_id))


async def sweep(work: Work, _payload: SweepStatuses) -> None:
    await store.forget_idempotent(work.db, work.now - REMEMBERED)
    await tags.forget_days(work.db, (work.now - tag_uses.KEPT).date().isoformat())


FOLLOW_UP: JobKind[StatusPosted] = JobKind(name="statuses.follow_up", payload=StatusPosted, many=follow_up)
LOOK_AGAIN: JobKind[StatusEdited] = JobKind(name="statuses.look_again", payload=StatusEdited, handler=look_again)
CLEAR_UP: JobKind[StatusDeleted] = JobKind(name="statuses.clear_up", payload=StatusDeleted, handler=clear_up)
END_POLLS: JobKind[EndPolls] = JobKind(name="statuses.end_polls", payload=EndPolls, handler=end_polls)
SHOW_ANEW: JobKind[ShowAnew] = JobKind(name="statuses.show_anew", payload=ShowAnew, handler=show_anew)
SWEEP: JobKind[SweepStatuses] = JobKind(name="statuses.sweep", payload=SweepStatuses, handler=sweep)
