from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, delete, select, update

from kith.base.db import UID, Instant, command, insert_into, query
from kith.base.db import Session as Db
from kith.identity.sessions.tables import Session, runs, sessions

_now = bindparam("now", type_=Instant())
_insert = command(insert_into(sessions))
_by_hash = query(
    select(sessions).where(and_(sessions.c.key_hash == bindparam("hash"), sessions.c.expires_at > _now)), Session
)
_of_user = query(
    select(sessions)
    .where(and_(sessions.c.user_id == bindparam("user"), sessions.c.expires_at > _now))
    .order_by(sessions.c.last_used_at.desc(), sessions.c.session_uuid),
    Session,
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
_end = command(delete(sessions).where(sessions.c.session_uuid == bindparam("session", type_=UID())))
_end_others = command(
    delete(sessions).where(
        and_(sessions.c.user_id == bindparam("user"), sessions.c.session_uuid != bindparam("keep", type_=UID()))
    )
)
_end_all = command(delete(sessions).where(sessions.c.user_id == bindparam("user")))
_expired = command(delete(sessions).where(sessions.c.expires_at <= _now))
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
_insert_run = command(insert_into(runs))
_drop_run = command(
    delete(runs).where(
        and_(
            runs.c.session_uuid == bindparam("session", type_=UID()),
            runs.c.flow_uuid == bindparam("flow", type_=UID()),
        )
    )
)
_move_runs = command(
    update(runs)
    .where(runs.c.session_uuid == bindparam("old", type_=UID()))
    .values(session_uuid=bindparam("new", type_=UID()))
)


async def insert(db: Db, session: Session) -> None:
    await db.run(_insert, **{name: getattr(session, name) for name in Session.__struct_fields__})


async def find_live(db: Db, key_hash: str, now: datetime) -> Session | None:
    return await db.one(_by_hash, hash=key_hash, now=now)


async def of_user(db: Db, user_id: int, now: datetime) -> list[Session]:
    return await db.all(_of_user, user=user_id, now=now)


async def touch(db: Db, session: Session, *, ip: str, agent: str, now: datetime, until: datetime) -> None:
    await db.run(_touch, session=session.session_uuid, ip=ip, agent=agent, now=now, until=until)


async def end(db: Db, session_uuid: str) -> int:
    return await db.run(_end, session=session_uuid)


async def end_others(db: Db, user_id: int, keep: str) -> int:
    return await db.run(_end_others, user=user_id, keep=keep)


async def end_all(db: Db, user_id: int) -> int:
    return await db.run(_end_all, user=user_id)


async def delete_expired(db: Db, now: datetime, *, stale_before: datetime) -> None:
    await db.run(_expired, now=now)
    await db.run(_stale_runs, before=stale_before)


async def find_run(db: Db, session_uuid: str, flow_uuid: str) -> str | None:
    return await db.one(_run, session=session_uuid, flow=flow_uuid)


async def save_run(db: Db, run_uuid: str, session_uuid: str, flow_uuid: str, plan: str, now: datetime) -> None:
    await drop_run(db, session_uuid, flow_uuid)
    await db.run(
        _insert_run, run_uuid=run_uuid, session_uuid=session_uuid, flow_uuid=flow_uuid, plan=plan, updated_at=now
    )


async def drop_run(db: Db, session_uuid: str, flow_uuid: str) -> None:
    await db.run(_drop_run, session=session_uuid, flow=flow_uuid)


async def move_runs(db: Db, old: str, new: str) -> None:
    await db.run(_move_runs, old=old, new=new)
