"""What is over: the posts of somebody who left are deleted, and deleted posts leave the database after a while.

A deleted post is not there for anybody from the moment it was deleted. Its row stays for as long as others may still
have to be told, or moderators may have to look at it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Protocol

import msgspec
from sqlalchemy import BindParameter, and_, bindparam, delete, select, update

from kith.base.db import Instant, any_of, command, query
from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts.facts import AccountDeleted
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import polls, store
from kith.social.statuses.facts import StatusDeleted
from kith.social.statuses.service.remove import uncount
from kith.social.statuses.tables import Status, bookmarks, favourites, scheduled, statuses
from kith.social.versions import changed

__all__ = ["GO_ALONG", "GRACE", "LEAVE", "PURGE", "Held", "Purge"]

GRACE = timedelta(days=30)
BATCH = 100

_account: BindParameter[Any] = bindparam("account")
_left_by = query(
    select(statuses)
    .where(and_(statuses.c.account_id == _account, statuses.c.id > bindparam("after"), statuses.c.deleted_at.is_(None)))
    .order_by(statuses.c.id)
    .limit(BATCH),
    Status,
)
_liked_by = query(
    select(favourites.c.status_id).where(favourites.c.account_id == _account).order_by(favourites.c.id).limit(BATCH),
    StatusId,
)
_unmark, _unplan = (command(delete(table).where(table.c.account_id == _account)) for table in (bookmarks, scheduled))

_over = query(
    select(statuses.c.id)
    .where(and_(statuses.c.deleted_at < bindparam("before", type_=Instant()), ~any_of(statuses.c.id, "held")))
    .order_by(statuses.c.deleted_at)
    .limit(BATCH),
    int,
)
_quote_nothing = command(
    update(statuses).where(any_of(statuses.c.quoted_id, "ids")).values(quoted_id=None, version=changed(statuses))
)
_purge = command(delete(statuses).where(and_(any_of(statuses.c.id, "ids"), statuses.c.deleted_at.is_not(None))))


class Held(Protocol):
    """Which posts are still needed although they were deleted: a port. Rooms above know."""

    async def held(self, work: Work) -> list[int]:
        """Those of open reports, which the team may have to look at."""
        ...


class Purge(msgspec.Struct):
    """Posts that were deleted long ago."""


class Rest(msgspec.Struct):
    """What somebody who left has posted after a given post, and all they favoured."""

    account_id: AccountId
    after: int = 0


async def leave(work: Work, fact: AccountDeleted) -> None:
    await go_along(work, Rest(account_id=fact.account_id))


async def go_along(work: Work, payload: Rest) -> None:
    """Whatever somebody posted and favoured goes with them, a stretch at a time, each a job of its own."""
    account_id = payload.account_id
    await work.db.begin()
    posted = await work.db.all(_left_by, account=account_id, after=payload.after)
    for status in posted:
        if await store.remove(work.db, status.id, work.now):
            await uncount(work, status)
            if status.poll_id is not None:
                await polls.remove(work.db, status.poll_id)
            work.announce(StatusDeleted(status.id, status.account_id, status.reblog_of_id))
    liked = await work.db.all(_liked_by, account=account_id)
    for status_id in liked:
        if await store.unmark(work.db, "favourites", account_id, status_id):
            await store.count(work.db, status_id, favourites=-1)
    if BATCH in (len(posted), len(liked)):
        work.enqueue(GO_ALONG, Rest(account_id=account_id, after=posted[-1].id if posted else payload.after))
        return
    await work.db.run(_unmark, account=account_id)
    await work.db.run(_unplan, account=account_id)


async def purge(work: Work, _payload: Purge) -> None:
    """All that hangs on a row goes with it; a quote of it quotes something that was deleted from then on."""
    held = await work.find(Held).held(work)  # type: ignore[type-abstract]
    ids = await work.db.all(_over, before=work.now - GRACE, held=held)
    if not ids:
        return
    await work.db.run(_quote_nothing, ids=ids)
    await work.db.run(_purge, ids=ids)
    if len(ids) == BATCH:
        work.enqueue(PURGE, Purge(), key="more")


LEAVE: JobKind[AccountDeleted] = JobKind(name="statuses.leave", payload=AccountDeleted, handler=leave)
GO_ALONG: JobKind[Rest] = JobKind(name="statuses.go_along", payload=Rest, handler=go_along)
PURGE: JobKind[Purge] = JobKind(name="statuses.purge", payload=Purge, handler=purge)
