"""Who used which tag on which day, counted from the posts of that day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, BindParameter, String, and_, bindparam, cast, delete, func, select

from kith.base.db import command, upsert
from kith.base.ids import at_of, id_at
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.statuses.access import is_no_boost, shown_to
from kith.social.statuses.facts import TagsRecounted
from kith.social.statuses.tables import PUBLIC, Status, statuses
from kith.social.tags import store as tags
from kith.social.tags.tables import status_tags, tag_days

__all__ = ["KEPT", "count", "recount"]

KEPT = timedelta(days=8)

_account: BindParameter[Any] = bindparam("account", type_=BigInteger())
_day: BindParameter[Any] = bindparam("day", type_=String())
# Posts that everybody can find, of one author and one day: as many as somebody writes in a day.
_said = and_(
    statuses.c.account_id == _account,
    statuses.c.id >= bindparam("first", type_=BigInteger()),
    statuses.c.id < bindparam("last", type_=BigInteger()),
    shown_to(statuses, PUBLIC),
    is_no_boost(statuses.c.reblog_of_id),
    statuses.c.deleted_at.is_(None),
)
_counted = (
    select(status_tags.c.tag_id, cast(_day, String), cast(_account, BigInteger), func.count())
    .select_from(statuses.join(status_tags, status_tags.c.status_id == statuses.c.id))
    .where(_said)
    .group_by(status_tags.c.tag_id)
)
_new = upsert(tag_days).from_select(["tag_id", "day", "account_id", "uses"], _counted)
_count = command(
    _new.on_conflict_do_update(
        index_elements=[tag_days.c.tag_id, tag_days.c.day, tag_days.c.account_id], set_={"uses": _new.excluded.uses}
    ).inline()
)
_still_used = (
    select(status_tags.c.tag_id)
    .select_from(statuses.join(status_tags, status_tags.c.status_id == statuses.c.id))
    .where(_said)
)
_forget_unused = command(
    delete(tag_days).where(
        and_(tag_days.c.account_id == _account, tag_days.c.day == _day, tag_days.c.tag_id.not_in(_still_used))
    )
)


def _of_day(status: Status) -> dict[str, Any]:
    at = at_of(status.id)
    midnight = datetime(at.year, at.month, at.day, tzinfo=UTC)
    first, last = id_at(midnight), id_at(midnight + timedelta(days=1))
    return {"account": status.account_id, "day": at.date().isoformat(), "first": first, "last": last}


async def _may_count(work: Work, status: Status) -> bool:
    """Whoever is limited or gone does not count."""
    author = await accounts.find(work.db, status.account_id)
    return author is not None and author.silenced_at is None and not author.is_gone


async def count(work: Work, status: Status) -> None:
    """A new post uses its tags. All of the author's day is counted, so that it makes no difference how often."""
    if await _may_count(work, status):
        await work.db.run(_count, **_of_day(status))
        await tags.touch(work.db, await tags.of_status(work.db, status.id), status.created_at)


async def recount(work: Work, status: Status) -> None:
    """After a post was edited or deleted: what it used then is no longer used by it."""
    if status.visibility != PUBLIC or status.reblog_of_id is not None or at_of(status.id) < work.now - KEPT:
        return
    day = _of_day(status)
    if await _may_count(work, status):
        await work.db.run(_count, **day)
    await work.db.run(_forget_unused, **day)
    work.announce(TagsRecounted(status_id=status.id))
