from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Table, and_, bindparam, delete, select, update

from kith.base.db import Instant, Session, alias_of, any_row, command, query, upsert
from kith.social.accounts.tables import accounts
from kith.social.cleanup.tables import CleanupPolicy, OldPost, cleanup_policies
from kith.social.ids import AccountId, StatusId
from kith.social.statuses.tables import bookmarks, favourites, pins, statuses

_account: BindParameter[Any] = bindparam("account")
_now = bindparam("now", type_=Instant())
_FIELDS = CleanupPolicy.__struct_fields__
_one = query(select(cleanup_policies).where(cleanup_policies.c.account_id == _account), CleanupPolicy)
_new = upsert(cleanup_policies).values({name: bindparam(name, type_=cleanup_policies.c[name].type) for name in _FIELDS})
_save = command(
    _new.on_conflict_do_update(
        index_elements=[cleanup_policies.c.account_id],
        set_={name: _new.excluded[name] for name in _FIELDS if name != "account_id"},
    ).inline()
)
_move = command(
    update(cleanup_policies)
    .where(cleanup_policies.c.account_id == _account)
    .values(
        inspected_id=bindparam("inspected"),
        restarts_at=bindparam("restarts", type_=Instant()),
        next_at=bindparam("next", type_=Instant()),
    )
)
_remove = command(delete(cleanup_policies).where(cleanup_policies.c.account_id == _account))
# Whoever is shut out or has died keeps what they posted.
_due = query(
    select(cleanup_policies.c.account_id)
    .join(accounts, accounts.c.id == cleanup_policies.c.account_id)
    .where(
        and_(
            cleanup_policies.c.enabled,
            cleanup_policies.c.next_at <= _now,
            accounts.c.suspended_at.is_(None),
            accounts.c.deleted_at.is_(None),
            ~accounts.c.memorial,
        )
    )
    .order_by(cleanup_policies.c.next_at, cleanup_policies.c.account_id)
    .limit(bindparam("most")),
    AccountId,
)


def _own(marks: Table) -> ColumnElement[bool]:
    own = alias_of(marks)
    return any_row(own, and_(own.c.account_id == statuses.c.account_id, own.c.status_id == statuses.c.id))


_old = query(
    select(
        statuses.c.id,
        statuses.c.visibility,
        statuses.c.poll_id.is_not(None).label("has_poll"),
        statuses.c.media_ids,
        statuses.c.favourites_count,
        statuses.c.reblogs_count,
        _own(pins).label("is_pinned"),
        _own(favourites).label("is_favourited"),
        _own(bookmarks).label("is_bookmarked"),
    )
    .where(
        and_(
            statuses.c.account_id == _account,
            statuses.c.id > bindparam("after"),
            statuses.c.id < bindparam("before"),
            statuses.c.deleted_at.is_(None),
        )
    )
    .order_by(statuses.c.id)
    .limit(bindparam("most")),
    OldPost,
)


async def find(db: Session, account_id: AccountId) -> CleanupPolicy | None:
    return await db.one(_one, account=account_id)


async def save(db: Session, policy: CleanupPolicy) -> None:
    await db.run(_save, **{name: getattr(policy, name) for name in _FIELDS})


async def move(db: Session, account_id: AccountId, *, inspected: int, restarts_at: datetime, next_at: datetime) -> None:
    """How far somebody's posts have been looked at, and when that goes on."""
    await db.run(_move, account=account_id, inspected=inspected, restarts=restarts_at, next=next_at)


async def remove(db: Session, account_id: AccountId) -> None:
    await db.run(_remove, account=account_id)


async def due(db: Session, now: datetime, most: int) -> list[AccountId]:
    return await db.all(_due, now=now, most=most)


async def old_posts(db: Session, account_id: AccountId, *, after: int, before: int, most: int) -> list[OldPost]:
    """From the oldest on, by their ids, which tell when they were posted."""
    return await db.all(_old, account=account_id, after=StatusId(after), before=before, most=most)
