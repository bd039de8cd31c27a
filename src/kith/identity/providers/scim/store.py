"""Statements on what other services hold, and what they wait for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Integer, String, and_, bindparam, case, cast, delete, exists, func, null, or_, select, update

from kith.base.db import UID, Document, Instant, Session, add_once, any_of, command, insert_into, query, upsert
from kith.identity.groups.tables import groups
from kith.identity.providers.family import providers
from kith.identity.providers.scim import group_store
from kith.identity.providers.scim.tables import (
    RemoteResource,
    TargetState,
    WaitingResource,
    remotes,
    targets,
    waiting,
)
from kith.identity.users.tables import users

PAGE = 200

_provider = bindparam("of", type_=Integer())
_now = bindparam("now", type_=Instant())
_me = bindparam("me", type_=UID())
_kind = bindparam("of_kind", type_=String())
_local = bindparam("local", type_=String())

_all = query(select(providers.c.id).where(providers.c.kind == "scim").order_by(providers.c.id), int)
_target = query(select(targets).where(targets.c.provider == _provider), TargetState)
_add_target = command(add_once(targets))
_free = or_(targets.c.held_until.is_(None), targets.c.held_until <= _now, targets.c.held_by == _me)
_take = command(
    update(targets)
    .where(and_(targets.c.provider == _provider, _free))
    .values(held_by=_me, held_until=bindparam("until", type_=Instant()))
)
_release = command(
    update(targets)
    .where(and_(targets.c.provider == _provider, targets.c.held_by == _me))
    .values(held_by=null(), held_until=null())
)
_pause = command(
    update(targets)
    .where(targets.c.provider == _provider)
    .values(paused_until=bindparam("until", type_=Instant()), failures=targets.c.failures + 1, error=bindparam("why"))
)
_go_on = command(
    update(targets).where(targets.c.provider == _provider).values(paused_until=null(), failures=0, error=null())
)
_learn = command(
    update(targets)
    .where(targets.c.provider == _provider)
    .values(config=bindparam("told", type_=Document()), config_at=bindparam("at", type_=Instant()))
)
_sweep = command(
    update(targets)
    .where(targets.c.provider == _provider)
    .values(
        sweep=func.coalesce(targets.c.sweep, bindparam("begin")),
        sweep_again=targets.c.sweep.is_not(None),
        started_at=case((targets.c.sweep.is_(None), _now), else_=targets.c.started_at),
    )
)
_move_sweep = command(update(targets).where(targets.c.provider == _provider).values(sweep=bindparam("at")))
_end_sweep = command(
    update(targets)
    .where(targets.c.provider == _provider)
    .values(
        sweep=case((targets.c.sweep_again, bindparam("begin", type_=String())), else_=null()),
        sweep_again=False,
        started_at=case((targets.c.sweep_again, _now), else_=targets.c.started_at),
    )
)
_finish = command(update(targets).where(targets.c.provider == _provider).values(finished_at=_now))

_new_waiting = upsert(waiting).values(
    provider=bindparam("provider"),
    kind=bindparam("kind"),
    local_id=bindparam("local_id"),
    mark=bindparam("mark"),
    attempts=0,
    run_at=bindparam("run_at", type_=Instant()),
    error=null(),
)
_wait = command(
    _new_waiting.on_conflict_do_update(
        index_elements=[waiting.c.provider, waiting.c.kind, waiting.c.local_id],
        set_={"mark": _new_waiting.excluded.mark, "run_at": _new_waiting.excluded.run_at, "attempts": 0},
    )
)
_wait_once = command(
    _new_waiting.on_conflict_do_nothing(index_elements=[waiting.c.provider, waiting.c.kind, waiting.c.local_id])
)
# People come before groups, whose members they are.
_next = query(
    select(waiting.c.kind, waiting.c.local_id, waiting.c.mark, waiting.c.attempts, waiting.c.error)
    .where(and_(waiting.c.provider == _provider, waiting.c.run_at <= _now))
    .order_by(waiting.c.kind.desc(), waiting.c.run_at, waiting.c.local_id)
    .limit(bindparam("most")),
    WaitingResource,
)
_soonest = query(select(func.min(waiting.c.run_at)).where(waiting.c.provider == _provider), datetime)
_is_it = and_(
    waiting.c.provider == _provider,
    waiting.c.kind == _kind,
    waiting.c.local_id == _local,
    waiting.c.mark == bindparam("marked"),
)
_done = command(delete(waiting).where(_is_it))
_put_off = command(
    update(waiting)
    .where(_is_it)
    .values(attempts=bindparam("tried"), run_at=bindparam("at", type_=Instant()), error=bindparam("why"))
)
_count_waiting = query(select(func.count()).select_from(waiting).where(waiting.c.provider == _provider), int)
_failing = query(
    select(waiting.c.kind, waiting.c.local_id, waiting.c.mark, waiting.c.attempts, waiting.c.error)
    .where(and_(waiting.c.provider == _provider, waiting.c.attempts > 0))
    .order_by(waiting.c.run_at)
    .limit(20),
    WaitingResource,
)

_remote_columns = [remotes.c[name] for name in RemoteResource.__struct_fields__]
_of_provider = and_(remotes.c.provider == _provider, remotes.c.kind == _kind)
_remote = query(select(*_remote_columns).where(and_(_of_provider, remotes.c.local_id == _local)), RemoteResource)
_some_remotes = query(
    select(*_remote_columns).where(and_(_of_provider, any_of(remotes.c.local_id, "ids"))), RemoteResource
)
_add_remote = command(insert_into(remotes))
_forget_remote = command(delete(remotes).where(and_(_of_provider, remotes.c.local_id == _local)))
_forget_digests = command(update(remotes).where(remotes.c.provider == _provider).values(digest=""))
_count_remotes = query(
    select(remotes.c.kind, func.count())
    .where(and_(remotes.c.provider == _provider, remotes.c.is_active))
    .group_by(remotes.c.kind),
    tuple,
)
_gone_users = query(
    select(remotes.c.local_id)
    .where(
        and_(
            remotes.c.provider == _provider,
            remotes.c.kind == "user",
            ~exists().where(users.c.id == cast(remotes.c.local_id, Integer)),
        )
    )
    .limit(bindparam("most")),
    str,
)
_group_remotes = query(
    select(remotes.c.local_id)
    .where(and_(remotes.c.provider == _provider, remotes.c.kind == "group", remotes.c.local_id > bindparam("after")))
    .order_by(remotes.c.local_id)
    .limit(PAGE),
    str,
)

_people = query(
    select(users.c.id, users.c.updated_at).where(users.c.id > bindparam("after")).order_by(users.c.id).limit(PAGE),
    tuple,
)
_group_page = query(
    select(groups.c.group_uuid, groups.c.updated_at)
    .where(groups.c.group_uuid > bindparam("after", type_=UID()))
    .order_by(groups.c.group_uuid)
    .limit(PAGE),
    tuple,
)


async def all_providers(db: Session) -> list[int]:
    return await db.all(_all)


async def state(db: Session, provider: int) -> TargetState | None:
    return await db.one(_target, of=provider)


async def ensure_target(db: Session, provider: int) -> None:
    await db.run(
        _add_target,
        provider=provider,
        held_by=None,
        held_until=None,
        paused_until=None,
        failures=0,
        error=None,
        config={},
        config_at=None,
        sweep=None,
        sweep_again=False,
        started_at=None,
        finished_at=None,
    )


async def take(db: Session, provider: int, me: str, now: datetime, until: datetime) -> bool:
    return await db.run(_take, of=provider, me=me, now=now, until=until) == 1


async def release(db: Session, provider: int, me: str) -> None:
    await db.run(_release, of=provider, me=me)


async def pause(db: Session, provider: int, until: datetime, why: str) -> None:
    await db.run(_pause, of=provider, until=until, why=why)


async def go_on(db: Session, provider: int) -> None:
    await db.run(_go_on, of=provider)


async def learn(db: Session, provider: int, config: dict[str, Any], at: datetime | None) -> None:
    await db.run(_learn, of=provider, told=config, at=at)


async def sweep(db: Session, provider: int, begin: str, now: datetime) -> None:
    """Look at everybody; if that is under way already, once more after it."""
    await db.run(_sweep, of=provider, begin=begin, now=now)


async def move_sweep(db: Session, provider: int, at: str) -> None:
    await db.run(_move_sweep, of=provider, at=at)


async def end_sweep(db: Session, provider: int, begin: str, now: datetime) -> None:
    await db.run(_end_sweep, of=provider, begin=begin, now=now)


async def finish(db: Session, provider: int, now: datetime) -> None:
    await db.run(_finish, of=provider, now=now)


async def wait(
    db: Session, rows: Sequence[tuple[int, str, str]], mark: int, now: datetime, *, anew: bool = True
) -> None:
    """Rows of provider, kind and id, always in the same order, so that two works do not wait for each other.

    `anew`: what waits already, because the service has refused it, is tried now and counts as new.
    """
    await db.many(
        _wait if anew else _wait_once,
        [
            {"provider": provider, "kind": kind, "local_id": local_id, "mark": mark, "run_at": now}
            for provider, kind, local_id in sorted(set(rows))
        ],
    )


async def next_waiting(db: Session, provider: int, now: datetime, most: int) -> list[WaitingResource]:
    return await db.all(_next, of=provider, now=now, most=most)


async def soonest(db: Session, provider: int) -> datetime | None:
    return await db.one(_soonest, of=provider)


async def done(db: Session, provider: int, one: WaitingResource) -> None:
    await db.run(_done, of=provider, of_kind=one.kind, local=one.local_id, marked=one.mark)


async def put_off(db: Session, provider: int, one: WaitingResource, at: datetime, why: str) -> None:
    await db.run(
        _put_off,
        of=provider,
        of_kind=one.kind,
        local=one.local_id,
        marked=one.mark,
        tried=one.attempts + 1,
        at=at,
        why=why,
    )


async def count_waiting(db: Session, provider: int) -> int:
    return await db.one(_count_waiting, of=provider) or 0


async def failing(db: Session, provider: int) -> list[WaitingResource]:
    return await db.all(_failing, of=provider)


async def find_remote(db: Session, provider: int, kind: str, local_id: str) -> RemoteResource | None:
    return await db.one(_remote, of=provider, of_kind=kind, local=local_id)


async def some_remotes(db: Session, provider: int, kind: str, ids: Sequence[str]) -> dict[str, RemoteResource]:
    found = await db.all(_some_remotes, of=provider, of_kind=kind, ids=list(ids))
    return {one.local_id: one for one in found}


async def keep_remote(db: Session, provider: int, remote: RemoteResource) -> None:
    await db.run(_forget_remote, of=provider, of_kind=remote.kind, local=remote.local_id)
    await db.run(
        _add_remote,
        provider=provider,
        kind=remote.kind,
        local_id=remote.local_id,
        remote_id=remote.remote_id,
        name=remote.name,
        digest=remote.digest,
        is_active=remote.is_active,
        pushed_at=remote.pushed_at,
    )


async def forget_remote(db: Session, provider: int, kind: str, local_id: str) -> None:
    await db.run(_forget_remote, of=provider, of_kind=kind, local=local_id)
    if kind == "group":
        await group_store.forget_group_members(db, provider, local_id)
    else:
        await group_store.forget_person(db, provider, int(local_id))


async def forget_digests(db: Session, provider: int) -> None:
    await db.run(_forget_digests, of=provider)


async def count_remotes(db: Session, provider: int) -> dict[str, int]:
    return dict(await db.all(_count_remotes, of=provider))


async def gone_users(db: Session, provider: int) -> list[str]:
    return await db.all(_gone_users, of=provider, most=10_000)


async def remote_groups(db: Session, provider: int, after: str) -> list[str]:
    return await db.all(_group_remotes, of=provider, after=after)


async def people_page(db: Session, after: int) -> list[tuple[int, datetime]]:
    return await db.all(_people, after=after)


async def group_page(db: Session, after: str) -> list[tuple[str, datetime]]:
    return await db.all(_group_page, after=after)
