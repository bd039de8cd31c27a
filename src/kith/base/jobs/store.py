from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import (
    CTE,
    ColumnElement,
    Select,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
    text,
    union_all,
    update,
)

from kith.base.db import UID, Instant, Query, Session, add_once, any_of, command, query, upsert
from kith.base.jobs.due_at import DueAt
from kith.base.jobs.kinds import QUICK, JobKind
from kith.base.jobs.tables import (
    DEAD,
    KEYED,
    READY,
    RUNNING,
    SUSPECT,
    Claimed,
    Job,
    TakenOver,
    jobs,
    schedules,
    workers,
)

MOST_DEATHS = 2
DEADLY = (
    "The process that ran this job ended twice in the middle of it, by itself or because it was killed. "
    "It is not started a third time, unless you say so: kith jobs retry"
)

_now = bindparam("now", type_=Instant())
_encode = msgspec.json.Encoder().encode

# A job that waits under the same key stands for this one too. Writing to its row, though it changes nothing,
# keeps workers from starting it before what asked for this one is committed.
_new = upsert(jobs).values(
    {column.name: bindparam(column.name, type_=column.type) for column in jobs.columns} | {"run_at": DueAt()}
)
add = command(
    _new.on_conflict_do_update(
        index_elements=[jobs.c.kind, jobs.c.key], index_where=text(KEYED), set_={"key": _new.excluded.key}
    ).inline()
)

_ready = and_(jobs.c.state == READY, jobs.c.run_at <= _now)
_order = (jobs.c.run_at, jobs.c.id)
_due = (
    select(jobs.c.id)
    .where(and_(jobs.c.lane == bindparam("lane"), _ready, jobs.c.deaths == 0))
    .order_by(*_order)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
    .cte("due")
)
# Written out, so that both databases see that the small index holds all there are.
_suspect = (
    select(jobs.c.id)
    .where(and_(text(SUSPECT), _ready))
    .order_by(*_order)
    .limit(1)
    .with_for_update(skip_locked=True)
    .cte("due")
)


def _claiming(due: CTE) -> Query[Claimed]:
    """A claimed job lets go of its key: what is asked for while it runs is a new job, never a lost one."""
    return query(
        update(jobs)
        .where(jobs.c.id == due.c.id)
        .values(
            state=RUNNING,
            attempts=jobs.c.attempts + 1,
            key=null(),
            held_by=bindparam("worker", type_=UID()),
            held_until=bindparam("until", type_=Instant()),
        )
        .returning(jobs.c.id, jobs.c.kind, jobs.c.payload, jobs.c.attempts, jobs.c.created_at, jobs.c.request),
        Claimed,
    )


_claim, _claim_suspect = _claiming(_due), _claiming(_suspect)
_next_suspect = query(select(func.min(jobs.c.run_at)).where(and_(text(SUSPECT), jobs.c.state == READY)), datetime)
_mine = and_(any_of(jobs.c.id, "ids"), jobs.c.state == RUNNING, jobs.c.held_by == bindparam("worker", type_=UID()))
_finish = command(delete(jobs).where(_mine))
_hold = command(update(jobs).where(_mine).values(held_until=bindparam("until", type_=Instant())))
_give_back = command(
    update(jobs).where(_mine).values(state=READY, held_by=null(), held_until=null(), attempts=jobs.c.attempts - 1)
)
_put_off = command(
    update(jobs)
    .where(and_(jobs.c.id == bindparam("job"), jobs.c.held_by == bindparam("worker", type_=UID())))
    .values(
        state=bindparam("new_state"),
        run_at=bindparam("again_at", type_=Instant()),
        error=bindparam("why"),
        deaths=0,
        held_by=null(),
        held_until=null(),
    )
)
_wait = command(
    update(jobs)
    .where(and_(jobs.c.id == bindparam("job"), jobs.c.held_by == bindparam("worker", type_=UID())))
    .values(
        state=READY,
        run_at=bindparam("again_at", type_=Instant()),
        error=bindparam("why"),
        attempts=jobs.c.attempts - 1,
        held_by=null(),
        held_until=null(),
    )
)
_is_second_death = jobs.c.deaths + 1 >= MOST_DEATHS
_after_a_death = {
    "state": case((_is_second_death, literal_column(str(DEAD))), else_=literal_column(str(READY))),
    "error": case((_is_second_death, cast(DEADLY, Text)), else_=jobs.c.error),
    "deaths": jobs.c.deaths + 1,
    "held_by": null(),
    "held_until": null(),
}
_taken_over = (jobs.c.id, jobs.c.kind, jobs.c.state)
_take_over = query(
    update(jobs)
    .where(and_(jobs.c.state == RUNNING, jobs.c.held_until < _now))
    .values(_after_a_death)
    .returning(*_taken_over),
    TakenOver,
)
_take_over_all = query(
    update(jobs).where(jobs.c.state == RUNNING).values(_after_a_death).returning(*_taken_over), TakenOver
)
_absolve = command(update(jobs).where(any_of(jobs.c.id, "ids")).values(state=READY, deaths=0, error=null()))
_next_due = query(
    select(func.min(jobs.c.run_at)).where(
        and_(jobs.c.lane == bindparam("lane"), jobs.c.state == READY, jobs.c.deaths == 0)
    ),
    datetime,
)

_make_due = command(
    update(jobs)
    .where(and_(jobs.c.state == READY, jobs.c.run_at > _now, jobs.c.run_at <= jobs.c.created_at))
    .values(run_at=_now)
)

_plan = command(add_once(schedules))
_planned = query(select(schedules.c.kind).where(schedules.c.next_at <= _now), str)
_tick: Query[str] = query(
    update(schedules)
    .where(and_(schedules.c.kind == bindparam("name"), schedules.c.next_at <= _now))
    .values(next_at=bindparam("then", type_=Instant()))
    .returning(schedules.c.kind),
    str,
)

_beat_insert = upsert(workers).values(
    id=bindparam("id", type_=UID()), name=bindparam("name"), seen_at=bindparam("seen_at", type_=Instant())
)
_beat = command(
    _beat_insert.on_conflict_do_update(
        index_elements=[workers.c.id], set_={"seen_at": _beat_insert.excluded.seen_at}
    ).inline()
)
_leave = command(delete(workers).where(workers.c.id == bindparam("worker", type_=UID())))
_forget = command(delete(workers).where(workers.c.seen_at < bindparam("before", type_=Instant())))
_last_beat = query(select(func.max(workers.c.seen_at)), datetime)

_listed = query(
    select(jobs)
    .where(
        and_(
            or_(jobs.c.state == bindparam("in_state"), literal(-1) == bindparam("in_state")),
            or_(jobs.c.kind == bindparam("of_kind"), literal("") == bindparam("of_kind")),
        )
    )
    .order_by(jobs.c.id)
    .limit(bindparam("most")),
    Job,
)
_retry = command(
    update(jobs)
    .where(and_(jobs.c.state == DEAD, or_(jobs.c.id == bindparam("job"), literal(-1) == bindparam("job"))))
    .values(state=READY, attempts=0, deaths=0, run_at=_now)
)
_discard = command(delete(jobs).where(and_(jobs.c.state == DEAD, jobs.c.id == bindparam("job"))))
_call_off = command(
    delete(jobs).where(
        and_(jobs.c.kind == bindparam("of_kind"), jobs.c.key == bindparam("its_key"), jobs.c.state == READY)
    )
)
_behind = query(
    select(jobs.c.id)
    .where(and_(jobs.c.lane == QUICK, jobs.c.state == READY, jobs.c.run_at < bindparam("before", type_=Instant())))
    .limit(1),
    int,
)
_counts = query(
    select(jobs.c.kind, jobs.c.state, func.count(), func.min(case((jobs.c.state == READY, jobs.c.run_at))))
    .group_by(jobs.c.kind, jobs.c.state)
    .order_by(jobs.c.kind, jobs.c.state),
    tuple,
)


def row_for(
    kind: JobKind[Any],
    payload: msgspec.Struct,
    *,
    id: int,
    at: datetime,
    now: datetime,
    key: str | None,
    request: str = "",
) -> dict[str, Any]:
    return {
        "id": id,
        "kind": kind.name,
        "lane": kind.lane,
        "payload": _encode(payload).decode(),
        "key": key,
        "state": READY,
        "run_at": at,
        "attempts": 0,
        "deaths": 0,
        "held_by": None,
        "held_until": None,
        "error": None,
        "created_at": now,
        "request": request[:100],
    }


async def claim(db: Session, lane: str, *, most: int, worker: str, now: datetime, until: datetime) -> list[Claimed]:
    taken = await db.all(_claim, lane=lane, most=most, worker=worker, now=now, until=until)
    taken.sort(key=lambda job: job.id)
    return taken


async def finish(db: Session, ids: list[int], worker: str) -> int:
    """End jobs that are done. Fewer than asked for means that another worker has taken some over."""
    return await db.run(_finish, ids=ids, worker=worker)


async def hold(db: Session, ids: list[int], worker: str, until: datetime) -> None:
    await db.run(_hold, ids=ids, worker=worker, until=until)


async def give_back(db: Session, ids: list[int], worker: str) -> None:
    """Return jobs unstarted, as if they had never been taken."""
    await db.run(_give_back, ids=ids, worker=worker)


async def put_off(db: Session, job: int, worker: str, *, at: datetime, why: str) -> None:
    await db.run(_put_off, job=job, worker=worker, new_state=READY, again_at=at, why=why)


async def wait(db: Session, job: int, worker: str, *, at: datetime, why: str) -> None:
    """Try again `at` a time, as if it had not been tried now."""
    await db.run(_wait, job=job, worker=worker, again_at=at, why=why)


async def bury(db: Session, job: int, worker: str, *, now: datetime, why: str) -> None:
    await db.run(_put_off, job=job, worker=worker, new_state=DEAD, again_at=now, why=why)


async def take_over(db: Session, now: datetime, *, everything: bool = False) -> list[TakenOver]:
    """Count a death for the jobs of dead workers; `everything` when no other worker can be alive.

    They become suspects, which are run one at a time; with the second death a job is dead itself.
    """
    return await (db.all(_take_over_all) if everything else db.all(_take_over, now=now))


async def absolve(db: Session, ids: list[int]) -> None:
    """Jobs that were taken over, and are not to blame for the death of their worker."""
    await db.run(_absolve, ids=ids)


async def claim_suspect(db: Session, *, worker: str, now: datetime, until: datetime) -> Claimed | None:
    return await db.one(_claim_suspect, worker=worker, now=now, until=until)


async def next_suspect(db: Session) -> datetime | None:
    return await db.one(_next_suspect)


async def next_due(db: Session, lane: str) -> datetime | None:
    return await db.one(_next_due, lane=lane)


async def make_due(db: Session, now: datetime) -> None:
    """What was to be done at once by a clock that was ahead, and has been set back."""
    await db.run(_make_due, now=now)


class DueLanes:
    """Which of these lanes have something to do: one look into the index for each, in one statement."""

    def __init__(self, lanes: Sequence[str]) -> None:
        self._query = query(union_all(*(_lane_if_due(lane) for lane in lanes)), str)

    async def find(self, db: Session, now: datetime) -> list[str]:
        return await db.all(self._query, now=now)


def _lane_if_due(lane: str) -> Select[Any]:
    name: ColumnElement[str] = literal_column(f"'{lane}'", Text)  # a kind of ours, in words of ours
    return select(name).where(exists().where(and_(jobs.c.lane == name, _ready, jobs.c.deaths == 0)))


async def plan(db: Session, kind: str, at: datetime) -> None:
    await db.run(_plan, kind=kind, next_at=at)


async def due(db: Session, now: datetime) -> set[str]:
    """Kinds whose time has come: mostly none, which is found out without writing."""
    return set(await db.all(_planned, now=now))


async def tick(db: Session, kind: str, *, now: datetime, then: datetime) -> bool:
    """Whether it is time for `kind`, and this worker the one to say so."""
    return await db.one(_tick, name=kind, now=now, then=then) is not None


async def beat(db: Session, worker: str, name: str, now: datetime) -> None:
    await db.run(_beat, id=worker, name=name, seen_at=now)


async def leave(db: Session, worker: str, *, forget_before: datetime) -> None:
    await db.run(_leave, worker=worker)
    await db.run(_forget, before=forget_before)


async def last_beat(db: Session) -> datetime | None:
    return await db.one(_last_beat)


async def listed(db: Session, *, state: int | None, kind: str | None = None, most: int) -> list[Job]:
    return await db.all(_listed, in_state=-1 if state is None else state, of_kind=kind or "", most=most)


async def retry(db: Session, job: int | None, now: datetime) -> int:
    """Bring one dead job back, or all of them."""
    return await db.run(_retry, job=-1 if job is None else job, now=now)


async def discard(db: Session, job: int) -> int:
    return await db.run(_discard, job=job)


async def call_off(db: Session, kind: str, key: str) -> int:
    """Remove the job that waits under this key."""
    return await db.run(_call_off, of_kind=kind, its_key=key)


async def is_behind(db: Session, before: datetime) -> bool:
    """Whether something that was due before then still waits for a worker."""
    return await db.one(_behind, before=before) is not None


async def counts(db: Session) -> list[tuple[str, int, int, datetime | None]]:
    return await db.all(_counts)
