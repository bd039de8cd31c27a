"""Posts that are scheduled, and keys that keep a request from posting twice."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, delete, select

from kith.base.db import Instant, Session, command, insert_into, query
from kith.social.ids import AccountId, StatusId
from kith.social.statuses.access import ME
from kith.social.statuses.tables import Scheduled, idempotency, scheduled

_now = bindparam("now", type_=Instant())
_insert_scheduled = command(insert_into(scheduled))
_scheduled = query(
    select(scheduled).where(and_(scheduled.c.id == bindparam("id"), scheduled.c.account_id == ME)), Scheduled
)
_idempotent = query(
    select(idempotency.c.status_id, idempotency.c.scheduled_id).where(
        and_(idempotency.c.account_id == ME, idempotency.c.key == bindparam("key"), idempotency.c.created_at > _now)
    ),
    tuple,
)
_remember = command(insert_into(idempotency))
_forget = command(delete(idempotency).where(idempotency.c.created_at <= _now))
_forget_one = command(
    delete(idempotency).where(
        and_(idempotency.c.account_id == ME, idempotency.c.key == bindparam("key"), idempotency.c.created_at <= _now)
    )
)


async def insert_scheduled(db: Session, planned: Scheduled) -> None:
    await db.run(_insert_scheduled, **{name: getattr(planned, name) for name in Scheduled.__struct_fields__})


async def find_scheduled(db: Session, me: AccountId, id: int) -> Scheduled | None:
    return await db.one(_scheduled, me=me, id=id)


async def find_idempotent(
    db: Session, me: AccountId, key: str, since: datetime
) -> tuple[StatusId | None, int | None] | None:
    """What this key led to: a status, or a scheduled one."""
    return await db.one(_idempotent, me=me, key=key, now=since)


async def remember(
    db: Session,
    me: AccountId,
    key: str,
    now: datetime,
    since: datetime,
    *,
    status_id: StatusId | None,
    scheduled_id: int | None,
) -> None:
    """Raises `Taken` when another request with this key was quicker."""
    await db.run(_forget_one, me=me, key=key, now=since)
    await db.run(_remember, account_id=me, key=key, status_id=status_id, scheduled_id=scheduled_id, created_at=now)


async def forget_idempotent(db: Session, before: datetime) -> None:
    await db.run(_forget, now=before)
