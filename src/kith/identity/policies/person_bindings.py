"""Bindings that let one person in until a moment, as they are given on request."""

from __future__ import annotations

import uuid
from datetime import datetime

import msgspec
from sqlalchemy import Integer, and_, bindparam, func, select, update

from kith.base.db import UID, Instant, Session, command, insert_into, query
from kith.identity.policies.bindings import bindings

ORDER = 1000  # after those that others have set


class PersonBinding(msgspec.Struct):
    policy_binding_uuid: str
    expires: datetime | None


_target, _user = bindparam("target", type_=UID()), bindparam("user", type_=Integer())
_is_it = bindings.c.policy_binding_uuid == bindparam("binding", type_=UID())
# The one that lasts longest; one that was turned around or off was meant otherwise.
_own = query(
    select(bindings.c.policy_binding_uuid, bindings.c.expires)
    .where(
        and_(bindings.c.target == _target, bindings.c.user == _user, bindings.c.enabled, bindings.c.negate.is_(False))
    )
    .order_by(bindings.c.expires.desc().nulls_first())
    .limit(1),
    PersonBinding,
)
_count = query(select(func.count()).select_from(bindings).where(bindings.c.target == _target), int)
_insert = command(insert_into(bindings))
_extend = command(
    update(bindings)
    .where(_is_it)
    .values(expires=bindparam("until", type_=Instant()), ended_at=None, updated_at=bindparam("now", type_=Instant()))
)


async def find(db: Session, target: str, user_id: int) -> PersonBinding | None:
    return await db.one(_own, target=target, user=user_id)


async def has_any(db: Session, target: str) -> bool:
    """Whether anything is bound to the target at all: everybody passes one without bindings."""
    return (await db.one(_count, target=target) or 0) > 0


async def add(db: Session, target: str, user_id: int, until: datetime, now: datetime) -> None:
    await db.run(
        _insert,
        policy_binding_uuid=str(uuid.uuid4()),
        ended_at=None,
        gone_at=None,
        gone_kind=None,
        gone_name=None,
        policy=None,
        group=None,
        user=user_id,
        target=target,
        negate=False,
        enabled=True,
        order=ORDER,
        timeout=30,
        failure_result=False,
        expires=until,
        created_at=now,
        updated_at=now,
    )


async def extend(db: Session, binding: str, until: datetime, now: datetime) -> None:
    await db.run(_extend, binding=binding, until=until, now=now)
