"""Posting later: checked now, kept, and posted on time, once."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, func, select, update

from kith.base.db import Instant, command, query
from kith.base.errors import Complaint, Invalid, NotFound, Problem, Unavailable
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.identity import for_social as identity
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.media import service as media
from kith.social.statuses import store
from kith.social.statuses.access import ME
from kith.social.statuses.service.post import Ready, StatusDraft, Unexpected, prepare
from kith.social.statuses.service.post import put as put_status
from kith.social.statuses.tables import Scheduled, scheduled

SOONEST = timedelta(minutes=5)
MOST_A_DAY, MOST = 25, 300

_count = query(select(func.count()).select_from(scheduled).where(scheduled.c.account_id == ME), int)
_count_between = query(
    select(func.count())
    .select_from(scheduled)
    .where(
        and_(
            scheduled.c.account_id == ME,
            scheduled.c.scheduled_at >= bindparam("start", type_=Instant()),
            scheduled.c.scheduled_at < bindparam("end", type_=Instant()),
        )
    ),
    int,
)
_move = command(
    update(scheduled)
    .where(and_(scheduled.c.account_id == ME, scheduled.c.id == bindparam("id")))
    .values(scheduled_at=bindparam("at", type_=Instant()))
)
_drop = command(delete(scheduled).where(and_(scheduled.c.account_id == ME, scheduled.c.id == bindparam("id"))))


class Publish(msgspec.Struct):
    id: int
    account_id: AccountId
    at: datetime


def is_later(work: Work, at: datetime | None) -> bool:
    """What is to be posted in the past is posted now; what is too soon for a plan is refused."""
    if at is None or at <= work.now:
        return False
    _check_time(work, at)
    return True


def _check_time(work: Work, at: datetime) -> None:
    if at < work.now + SOONEST:
        raise Invalid(fields={"scheduled_at": [Complaint("date must be in the future")]})


async def put(
    work: Work,
    author: Account,
    draft: StatusDraft,
    ready: Ready,
    at: datetime,
    *,
    application: dict[str, Any] | None,
    app_id: int | None,
) -> Scheduled:
    """Keep what was prepared, to be posted at its time."""
    await _check_room(work, author.id, at)
    params = {
        **msgspec.to_builtins(draft),
        "text": draft.status,
        "application": application,
        "application_id": app_id,
    }
    planned = Scheduled(
        id=work.new_id(),
        account_id=author.id,
        scheduled_at=at,
        params=params,
        media_ids=ready.attached,
        created_at=work.now,
    )
    await store.insert_scheduled(work.db, planned)
    await media.reserve(work, ready.attached, planned.id)
    _enqueue(work, planned)
    return planned


async def _check_room(work: Work, me: AccountId, at: datetime) -> None:
    await work.db.hold(f"scheduled:{me}")
    if (await work.db.one(_count, me=me) or 0) >= MOST:
        raise _full(f"You have exceeded the limit of {MOST} scheduled posts")
    await _check_day(work, me, at)


async def _check_day(work: Work, me: AccountId, at: datetime) -> None:
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    same_day = await work.db.one(_count_between, me=me, start=day, end=day + timedelta(days=1)) or 0
    if same_day >= MOST_A_DAY:
        raise _full(f"You have exceeded the limit of {MOST_A_DAY} scheduled posts for today")


def _full(words: str) -> Invalid:
    return Invalid(fields={"": [Complaint(words)]})


def _enqueue(work: Work, planned: Scheduled) -> None:
    payload = Publish(id=planned.id, account_id=planned.account_id, at=planned.scheduled_at)
    work.enqueue(PUBLISH, payload, at=planned.scheduled_at, key=str(planned.id))


async def reschedule(work: Work, me: AccountId, id: int, at: datetime | None) -> Scheduled:
    planned = await _own(work, me, id)
    if at is None or at <= work.now:
        raise Invalid(fields={"scheduled_at": [Complaint("date must be in the future")]})
    _check_time(work, at)
    await work.db.hold(f"scheduled:{me}")
    if at.date() != planned.scheduled_at.date():
        await _check_day(work, me, at)
    await work.db.run(_move, me=me, id=id, at=at)
    planned.scheduled_at = at
    await work.call_off(PUBLISH, str(id))
    _enqueue(work, planned)
    return planned


async def _own(work: Work, me: AccountId, id: int) -> Scheduled:
    planned = await store.find_scheduled(work.db, me, id)
    if planned is None:
        raise NotFound
    return planned


find_own = _own


async def cancel(work: Work, me: AccountId, id: int) -> None:
    await _set_free(work, await _own(work, me, id))


async def _set_free(work: Work, planned: Scheduled) -> None:
    """The plan is gone; its media have a day to find another place."""
    await work.db.run(_drop, me=planned.account_id, id=planned.id)
    await work.call_off(PUBLISH, str(planned.id))
    await media.detach(work, planned.media_ids)


async def publish(work: Work, payload: Publish) -> None:
    """At its time. One that was moved has another job; one that is gone, or cannot be posted any more, is dropped."""
    planned = await store.find_scheduled(work.db, payload.account_id, payload.id)
    author = await accounts.find(work.db, payload.account_id)
    if planned is None or author is None or planned.scheduled_at != payload.at or planned.scheduled_at > work.now:
        return
    is_barred = author.user_id is not None and await identity.is_shut_out(work, author.user_id)
    if author.is_gone or not author.is_listed or is_barred:
        await _set_free(work, planned)
        return
    try:
        ready = await prepare(work, author, msgspec.convert(planned.params, StatusDraft), held_by=planned.id)
        async with work.db.savepoint():
            await put_status(work, author, ready, planned.params.get("application"))
    except Unavailable:
        raise
    except (Problem, Unexpected):
        await _set_free(work, planned)
    else:
        await work.db.run(_drop, me=author.id, id=planned.id)


PUBLISH: JobKind[Publish] = JobKind(name="statuses.publish", payload=Publish, handler=publish)
