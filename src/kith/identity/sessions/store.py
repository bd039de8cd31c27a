from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, case, delete, false, or_, select, true, update

from kith.base.db import UID, Instant, alias_of, command, insert_into, query
from kith.base.db import Session as Db
from kith.identity.sessions.tables import LoginSession, impersonations, runs, sessions
from kith.identity.users.tables import is_active, users

# What a session's way of signing in begins with while somebody looks through another's eyes. It stands in the session
# itself: when the other row is gone, with the person behind it, this is still not a session of the one who is seen.
ACTING = "impersonation:"

FORGOTTEN_AT_ONCE = 20

_now = bindparam("now", type_=Instant())
_insert = command(insert_into(sessions))
_insert_acting = command(insert_into(impersonations))
_seen, _by = alias_of(users, "seen"), alias_of(users, "by")
_may_act = and_(is_active(_by), _by.c.role == "owner")
_is_open = case(
    (and_(sessions.c.user_id.is_not(None), ~is_active(_seen)), false()),
    (and_(impersonations.c.by_id.is_not(None), ~_may_act), false()),
    (and_(impersonations.c.by_id.is_(None), sessions.c.auth_method.startswith(ACTING)), false()),
    else_=true(),
)
_acting = (
    select(impersonations.c.session_uuid)
    .join(_by, _by.c.id == impersonations.c.by_id)
    .where(and_(impersonations.c.session_uuid == sessions.c.session_uuid, _may_act))
    .correlate(sessions)
    .exists()
)
# Whether a session is its person's own, or of somebody who may still look through their eyes; for statements that join
# sessions with whose they are.
SEEN_BY_RIGHT = or_(~sessions.c.auth_method.startswith(ACTING), _acting)
_whole = (
    select(
        sessions,
        impersonations.c.by_id,
        _by.c.username.label("by_name"),
        _seen.c.username,
        _is_open.label("is_open"),
        _seen.c.expires.label("user_expires"),
    )
    .outerjoin(_seen, _seen.c.id == sessions.c.user_id)
    .outerjoin(impersonations, impersonations.c.session_uuid == sessions.c.session_uuid)
    .outerjoin(_by, _by.c.id == impersonations.c.by_id)
)
_by_hash = query(
    _whole.where(and_(sessions.c.key_hash == bindparam("hash"), sessions.c.expires_at > _now)), LoginSession
)
# A person's own sessions, and those in which they impersonate somebody.
_theirs = or_(
    sessions.c.user_id == bindparam("user"),
    sessions.c.session_uuid.in_(
        select(impersonations.c.session_uuid).where(impersonations.c.by_id == bindparam("user"))
    ),
)
_of_user = query(
    _whole.where(and_(_theirs, sessions.c.expires_at > _now)).order_by(
        sessions.c.last_used_at.desc(), sessions.c.session_uuid
    ),
    LoginSession,
)
_is_there = query(
    select(sessions.c.session_uuid).where(sessions.c.session_uuid == bindparam("session", type_=UID())), str
)
_hold = query(
    select(sessions.c.session_uuid).where(sessions.c.key_hash == bindparam("hash")).with_for_update(read=True), str
)
_touch = command(
    update(sessions)
    .where(sessions.c.session_uuid == bindparam("session", type_=UID()))
    .values(
        last_used_at=_now,
        last_ip=bindparam("ip"),
        last_user_agent=bindparam("agent"),
        expires_at=bindparam("until", type_=Instant()),
    )
)
_change_key = command(
    update(sessions)
    .where(sessions.c.session_uuid == bindparam("session", type_=UID()))
    .values(key_hash=bindparam("hash"))
)
_end = command(delete(sessions).where(sessions.c.session_uuid == bindparam("session", type_=UID())))
_end_others = command(delete(sessions).where(and_(_theirs, sessions.c.session_uuid != bindparam("keep", type_=UID()))))
_end_all = command(delete(sessions).where(_theirs))
_expired = command(delete(sessions).where(sessions.c.expires_at <= _now))
_newest_spared = (
    select(sessions.c.created_at)
    .where(sessions.c.user_id.is_(None))
    .order_by(sessions.c.created_at.desc())
    .limit(1)
    .offset(bindparam("most"))
)
_anonymous = command(
    delete(sessions).where(
        and_(sessions.c.user_id.is_(None), sessions.c.created_at <= _newest_spared.scalar_subquery())
    )
)
# A few at a time: on a full disk even that takes room until it is done.
_some_anonymous = command(
    delete(sessions).where(
        sessions.c.session_uuid.in_(
            select(sessions.c.session_uuid)
            .where(and_(sessions.c.user_id.is_(None), sessions.c.created_at <= _newest_spared.scalar_subquery()))
            .order_by(sessions.c.created_at)
            .limit(FORGOTTEN_AT_ONCE)
        )
    )
)
_stale_runs = command(delete(runs).where(runs.c.updated_at < bindparam("before", type_=Instant())))

_run = query(
    select(runs.c.plan).where(
        and_(
            runs.c.session_uuid == bindparam("session", type_=UID()),
            runs.c.flow_uuid == bindparam("flow", type_=UID()),
        )
    ),
    str,
)
_ended_at = query(
    select(runs.c.updated_at).where(
        and_(
            runs.c.session_uuid == bindparam("session", type_=UID()),
            runs.c.flow_uuid == bindparam("flow", type_=UID()),
        )
    ),
    datetime,
)
_insert_run = command(insert_into(runs))
_of_flow = and_(
    runs.c.session_uuid == bindparam("session", type_=UID()), runs.c.flow_uuid == bindparam("flow", type_=UID())
)
_drop_run = command(delete(runs).where(_of_flow))
_drop_run_as = command(delete(runs).where(and_(_of_flow, runs.c.plan == bindparam("plan"))))
_move_runs = command(
    update(runs)
    .where(runs.c.session_uuid == bindparam("old", type_=UID()))
    .values(session_uuid=bindparam("new", type_=UID()))
)


async def insert(db: Db, session: LoginSession) -> None:
    await db.run(_insert, **{column.name: getattr(session, column.name) for column in sessions.c})


async def insert_acting(db: Db, session_uuid: str, *, by_id: int, reason: str, now: datetime) -> None:
    await db.run(_insert_acting, session_uuid=session_uuid, by_id=by_id, reason=reason, started_at=now)


async def find_live(db: Db, key_hash: str, now: datetime) -> LoginSession | None:
    return await db.one(_by_hash, hash=key_hash, now=now)


async def hold(db: Db, key_hash: str) -> bool:
    """Keep the session with this key as it is until the transaction ends; False if there is none."""
    return await db.one(_hold, hash=key_hash) is not None


async def of_user(db: Db, user_id: int, now: datetime) -> list[LoginSession]:
    return await db.all(_of_user, user=user_id, now=now)


async def is_there(db: Db, session_uuid: str) -> bool:
    return await db.one(_is_there, session=session_uuid) is not None


async def touch(db: Db, session: LoginSession, *, ip: str, agent: str, now: datetime, until: datetime) -> None:
    await db.run(_touch, session=session.session_uuid, ip=ip, agent=agent, now=now, until=until)


async def change_key(db: Db, session_uuid: str, key_hash: str) -> None:
    await db.run(_change_key, session=session_uuid, hash=key_hash)


async def end(db: Db, session_uuid: str) -> int:
    return await db.run(_end, session=session_uuid)


async def end_others(db: Db, user_id: int, keep: str) -> int:
    return await db.run(_end_others, user=user_id, keep=keep)


async def end_all(db: Db, user_id: int) -> int:
    return await db.run(_end_all, user=user_id)


async def delete_expired(db: Db, now: datetime, *, stale_before: datetime, most_anonymous: int) -> None:
    await db.run(_expired, now=now)
    await db.run(_anonymous, most=most_anonymous)
    await db.run(_stale_runs, before=stale_before)


async def forget_anonymous(db: Db, *, most: int) -> None:
    """Some of the sessions of nobody beyond the newest ones, and what was run in them."""
    await db.run(_some_anonymous, most=most)


async def find_run(db: Db, session_uuid: str, flow_uuid: str) -> str | None:
    return await db.one(_run, session=session_uuid, flow=flow_uuid)


async def run_changed_at(db: Db, session_uuid: str, flow_uuid: str) -> datetime | None:
    return await db.one(_ended_at, session=session_uuid, flow=flow_uuid)


async def save_run(db: Db, run_uuid: str, session_uuid: str, flow_uuid: str, plan: str, now: datetime) -> None:
    """In place of the session's former run of this flow."""
    await db.run(
        _insert_run, run_uuid=run_uuid, session_uuid=session_uuid, flow_uuid=flow_uuid, plan=plan, updated_at=now
    )


async def drop_run(db: Db, session_uuid: str, flow_uuid: str) -> None:
    await db.run(_drop_run, session=session_uuid, flow=flow_uuid)


async def drop_run_as(db: Db, session_uuid: str, flow_uuid: str, plan: str) -> bool:
    """Only as it was read; False where it is another by now."""
    return bool(await db.run(_drop_run_as, session=session_uuid, flow=flow_uuid, plan=plan))


async def move_runs(db: Db, old: str, new: str) -> None:
    await db.run(_move_runs, old=old, new=new)
