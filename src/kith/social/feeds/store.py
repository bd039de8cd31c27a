"""Entries of home and list feeds. What belongs in a feed is decided above; here it is kept, and kept short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, delete, literal_column, select, update

from kith.base.breath import Breath
from kith.base.db import Instant, Session, add_once, any_of, command, query, upsert
from kith.social.feeds.tables import FeedState, feed_states, feeds
from kith.social.ids import AccountId, StatusId

MOST = 800
TRIMMED = 64  # one in so many feeds that a status comes into
TOGETHER = 100
BUILDING, READY = "building", "ready"


def _literal(number: int) -> ColumnElement[Any]:
    return literal_column(str(number))


_owner: BindParameter[Any] = bindparam("owner")
_now = bindparam("now", type_=Instant())
_add = command(add_once(feeds))
_trim = command(
    delete(feeds).where(
        and_(
            feeds.c.owner == _owner,
            feeds.c.status_id
            < select(feeds.c.status_id)
            .where(feeds.c.owner == _owner)
            .order_by(feeds.c.status_id.desc())
            .offset(MOST - 1)
            .limit(1)
            .scalar_subquery(),
        )
    )
)
# Whose turn it is differs from status to status, for an id begins with its moment.
_turn = feeds.c.owner + feeds.c.owner.bitwise_rshift(_literal(16)) + feeds.c.status_id.bitwise_rshift(_literal(16))
_in_turn = query(
    select(feeds.c.owner)
    .distinct()
    .where(and_(any_of(feeds.c.status_id, "statuses"), _turn.bitwise_and(_literal(TRIMMED - 1)) == _literal(0))),
    int,
)
_newest = query(
    select(feeds.c.status_id, feeds.c.original_id, feeds.c.author_id)
    .where(feeds.c.owner == _owner)
    .order_by(feeds.c.status_id.desc())
    .limit(bindparam("most")),
    tuple,
)
_drop_status = command(delete(feeds).where(feeds.c.status_id == bindparam("status")))
_brought = and_(any_of(feeds.c.owner, "owners"), any_of(feeds.c.author_id, "authors"), ~feeds.c.by_tag)
_drop_authors = command(delete(feeds).where(_brought))
_drop_boosts = command(delete(feeds).where(and_(_brought, feeds.c.status_id != feeds.c.original_id)))
_drop_these = command(delete(feeds).where(and_(feeds.c.owner == _owner, any_of(feeds.c.status_id, "ids"))))
_clear = command(delete(feeds).where(feeds.c.owner == _owner))
_clear_many = command(delete(feeds).where(any_of(feeds.c.owner, "owners")))

_state = query(select(feed_states).where(feed_states.c.account_id == bindparam("account")), FeedState)
_new_state = upsert(feed_states).values(
    account_id=bindparam("account"), state=bindparam("state"), active_at=_now, changed_at=_now
)
_set_state = command(
    _new_state.on_conflict_do_update(
        index_elements=[feed_states.c.account_id],
        set_={
            "state": _new_state.excluded.state,
            "active_at": _new_state.excluded.active_at,
            "changed_at": _new_state.excluded.changed_at,
        },
    ).inline()
)
_ready = command(
    update(feed_states).where(feed_states.c.account_id == bindparam("account")).values(state=READY, changed_at=_now)
)
_asked = command(
    update(feed_states)
    .where(and_(feed_states.c.account_id == bindparam("account"), feed_states.c.state == BUILDING))
    .values(changed_at=_now)
)
_seen = command(update(feed_states).where(feed_states.c.account_id == bindparam("account")).values(active_at=_now))
_idle = query(
    select(feed_states.c.account_id)
    .where(feed_states.c.active_at < bindparam("before", type_=Instant()))
    .limit(bindparam("most")),
    AccountId,
)
_forget = command(delete(feed_states).where(any_of(feed_states.c.account_id, "accounts")))


class FeedEntry(dict[str, int | bool]):
    """One status in one feed."""


def entry(
    owner: int, status_id: StatusId, *, original_id: StatusId, author_id: AccountId, by_tag: bool = False
) -> FeedEntry:
    return FeedEntry(owner=owner, status_id=status_id, original_id=original_id, author_id=author_id, by_tag=by_tag)


async def add(db: Session, entries: Sequence[FeedEntry]) -> None:
    """Each once, however often it is added."""
    if entries:
        await db.many(_add, list(entries))


async def trim(db: Session, owners: Iterable[int]) -> None:
    await db.many(_trim, [{"owner": owner} for owner in owners])


async def trim_in_turn(db: Session, status_ids: Sequence[StatusId]) -> None:
    """Some of the feeds that these statuses came into. So each has its turn, and none is looked for among all."""
    owners = sorted(await db.all(_in_turn, statuses=list(status_ids)))
    breath = Breath()
    for start in range(0, len(owners), TOGETHER):
        await trim(db, owners[start : start + TOGETHER])
        await breath.take()


async def newest(db: Session, owner: int, most: int) -> list[tuple[int, int, int]]:
    """Status, what it shows (itself, or what it boosts) and who brought it, newest first."""
    return await db.all(_newest, owner=owner, most=most)


async def drop_status(db: Session, status_id: StatusId) -> int:
    """From every feed it is in; in how many it was."""
    return await db.run(_drop_status, status=status_id)


async def drop_authors(db: Session, owners: Sequence[int], author_ids: Sequence[AccountId]) -> None:
    """What these authors brought into these feeds; what a tag brought stays."""
    if owners and author_ids:
        await db.run(_drop_authors, owners=list(owners), authors=list(author_ids))


async def drop_boosts(db: Session, owners: Sequence[int], author_id: AccountId) -> None:
    """What an author brought into these feeds by boosting it."""
    await db.run(_drop_boosts, owners=list(owners), authors=[author_id])


async def drop_these(db: Session, owner: int, ids: Sequence[int]) -> None:
    if ids:
        await db.run(_drop_these, owner=owner, ids=list(ids))


async def clear(db: Session, owner: int) -> None:
    await db.run(_clear, owner=owner)


async def clear_many(db: Session, owners: Sequence[int]) -> None:
    if owners:
        await db.run(_clear_many, owners=list(owners))


async def find_state(db: Session, account_id: AccountId) -> FeedState | None:
    return await db.one(_state, account=account_id)


async def set_state(db: Session, account_id: AccountId, state: str, now: datetime) -> None:
    await db.run(_set_state, account=account_id, state=state, now=now)


async def become_ready(db: Session, account_id: AccountId, now: datetime) -> None:
    await db.run(_ready, account=account_id, now=now)


async def note_asking(db: Session, account_id: AccountId, now: datetime) -> None:
    """That a feed which is still being built was asked for again."""
    await db.run(_asked, account=account_id, now=now)


async def note_presence(db: Session, account_id: AccountId, now: datetime) -> None:
    await db.run(_seen, account=account_id, now=now)


async def idle_since(db: Session, before: datetime, *, most: int) -> list[AccountId]:
    """Whose feeds nobody has looked at since."""
    return await db.all(_idle, before=before, most=most)


async def forget(db: Session, account_ids: Sequence[AccountId]) -> None:
    """They get nothing any more, and a new feed when they return."""
    await clear_many(db, account_ids)
    if account_ids:
        await db.run(_forget, accounts=list(account_ids))
