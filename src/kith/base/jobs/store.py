from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
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
    not_,
    null,
    or_,
    select,
    text,
    union_all,
    update,
)

from kith.base.clocks import SLACK
from kith.base.db import UID, Instant, Query, Session, add_once, any_of, command, query, upsert
from kith.base.jobs.due_at import DueAt
from kith.base.jobs.kinds import QUICK, JobKind, Payload
from kith.base.jobs.tables import (
    DEAD,
    IN_TURNS,
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
from kith.base.sealing import Sealer, is_sealed

MOST_DEATHS = 2
NO_DELAY = timedelta(seconds=10)  # by which the clocks of a database and a server may differ
LONGEST_HELD = timedelta(hours=1)
LONGEST_PAUSE = timedelta(days=2)  # before a job is tried again, and more
DEADLY = (
    "The process that ran this job ended twice in the middle of it, by itself or because it was killed. "
    "It is not started a third time, unless you say so: kith jobs retry"
)

UNKNOWN_FOR = timedelta(days=7)  # how long a job waits for a worker that knows its kind
_UNKNOWN = "no such kind of job: nobody has known it for a week"

_now = bindparam("now", type_=Instant())
_encode = msgspec.json.Encoder().encode
_PLACE = "base_jobs.payload"

# A job that waits under the same key stands for this one too, and whoever asked last waits for it: the first may have
# many before it. It is due when the earlier of both is: the first may have been asked for by a clock that was ahead.
# Writing to its row keeps workers from starting it before what asked for this one is committed.
_new = upsert(jobs).values(
    {column.name: bindparam(column.name, type_=column.type) for column in jobs.columns} | {"run_at": DueAt()}
)
add = command(
    _new.on_conflict_do_update(
        index_elements=[jobs.c.kind, jobs.c.key],
        index_where=text(KEYED),
        set_={
            "key": _new.excluded.key,
            "owner": _new.excluded.owner,
            "run_at": case((_new.excluded.run_at < jobs.c.run_at, _new.excluded.run_at), else_=jobs.c.run_at),
        },
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
# Of the lanes that are done in turns: who waits in one. The index is entered anew for each owner, so that it does not
# matter how many jobs somebody has.
_in_turns = and_(text(IN_TURNS), jobs.c.lane == bindparam("lane"), jobs.c.state == READY)
_first_owner = select(func.min(jobs.c.owner).label("owner")).where(_in_turns).cte("owners", recursive=True)
_owners = _first_owner.union_all(
    select(
        select(func.min(jobs.c.owner)).where(and_(_in_turns, jobs.c.owner > _first_owner.c.owner)).scalar_subquery()
    ).where(_first_owner.c.owner.is_not(None))
)
_due_since = (
    select(jobs.c.run_at)
    .where(and_(_in_turns, jobs.c.owner == _owners.c.owner, jobs.c.run_at <= _now, jobs.c.deaths == 0))
    .order_by(*_order)
    .limit(1)
    .scalar_subquery()
)
_waiting = query(select(_owners.c.owner, _due_since.label("since")).where(_owners.c.owner.is_not(None)), tuple)
_due_of_owner = (
    select(jobs.c.id)
    .where(and_(_in_turns, jobs.c.owner == bindparam("owner"), jobs.c.run_at <= _now, jobs.c.deaths == 0))
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
        .returning(
            jobs.c.id, jobs.c.kind, jobs.c.payload, jobs.c.attempts, jobs.c.created_at, jobs.c.owner, jobs.c.request
        ),
        Claimed,
    )


_claim, _claim_of, _claim_suspect = _claiming(_due), _claiming(_due_of_owner), _claiming(_suspect)
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
    .where(
        and_(
            jobs.c.state == RUNNING,
            or_(jobs.c.held_until < _now, jobs.c.held_until > bindparam("latest", type_=Instant())),
        )
    )
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

_later = and_(jobs.c.state == READY, jobs.c.run_at > _now)
_made_ahead = query(
    select(jobs.c.id, jobs.c.run_at, jobs.c.created_at).where(and_(_later, jobs.c.created_at > _now)),
    tuple,
)
_set_right = command(
    update(jobs)
    .where(and_(jobs.c.id == bindparam("job"), jobs.c.state == READY))
    .values(run_at=bindparam("new_run_at", type_=Instant()), created_at=_now)
)
_try_now = command(
    update(jobs)
    .where(
        and_(
            jobs.c.state == READY,
            jobs.c.attempts > 0,
            jobs.c.error.is_not(None),
            jobs.c.run_at > bindparam("latest", type_=Instant()),
        )
    )
    .values(run_at=_now)
)

_plan = command(add_once(schedules))
_planned = query(select(schedules.c.kind, schedules.c.next_at), tuple)
_tick: Query[str] = query(
    update(schedules)
    .where(
        and_(
            schedules.c.kind == bindparam("name"),
            or_(schedules.c.next_at <= _now, schedules.c.next_at > bindparam("latest", type_=Instant())),
        )
    )
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
_bury_unknown = command(
    update(jobs)
    .where(
        and_(
            jobs.c.state == READY,
            jobs.c.created_at < bindparam("before", type_=Instant()),
            not_(any_of(jobs.c.lane, "lanes")),
        )
    )
    .values(state=DEAD, error=_UNKNOWN)
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
    owner: str = "",
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
        "owner": owner[:255],
    }


def sealed(kind: JobKind[Any], row: dict[str, Any], sealer: Sealer) -> dict[str, Any]:
    """The row of a kind whose payload is secret, as it is kept."""
    return row | {"payload": sealer.seal(row["payload"], f"{_PLACE} {kind.name}")}


def read_payload(kind: JobKind[Payload], job: Claimed, sealer: Callable[[], Sealer]) -> Payload:
    """Payload of a job, unsealed where it was sealed: an earlier version kept secret ones as they were."""
    kept = sealer().open(job.payload, f"{_PLACE} {job.kind}") if is_sealed(job.payload) else job.payload
    return msgspec.json.decode(kept, type=kind.payload)


async def claim(db: Session, lane: str, *, most: int, worker: str, now: datetime, until: datetime) -> list[Claimed]:
    taken = await db.all(_claim, lane=lane, most=most, worker=worker, now=now, until=until)
    taken.sort(key=lambda job: job.id)
    return taken


async def waiting(db: Session, lane: str, now: datetime) -> dict[str, datetime]:
    """Whose jobs are due in a lane that is done in turns, and since when the first of them."""
    return {owner: since for owner, since in await db.all(_waiting, lane=lane, now=now) if since is not None}


async def claim_of(
    db: Session, lane: str, owner: str, *, most: int, worker: str, now: datetime, until: datetime
) -> list[Claimed]:
    taken = await db.all(_claim_of, lane=lane, owner=owner, most=most, worker=worker, now=now, until=until)
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


async def bury_unknown(db: Session, lanes: Sequence[str], now: datetime) -> None:
    """End old jobs that no worker would ever look at, because nobody knows their lane any more."""
    await db.run(_bury_unknown, lanes=list(lanes), before=now - UNKNOWN_FOR)


async def take_over(db: Session, now: datetime, *, everything: bool = False) -> list[TakenOver]:
    """Count a death for the jobs of dead workers; `everything` when no other worker can be alive.

    They become suspects, which are run one at a time; with the second death a job is dead itself. So are those held
    for longer than anybody alive does: by a worker that died while its clock was ahead.
    """
    return await (db.all(_take_over_all) if everything else db.all(_take_over, now=now, latest=now + LONGEST_HELD))


async def absolve(db: Session, ids: list[int]) -> None:
    """Jobs that were taken over, and are not to blame for the death of their worker."""
    await db.run(_absolve, ids=ids)


async def claim_suspect(db: Session, *, worker: str, now: datetime, until: datetime) -> Claimed | None:
    return await db.one(_claim_suspect, worker=worker, now=now, until=until)


async def next_suspect(db: Session) -> datetime | None:
    return await db.one(_next_suspect)


async def next_due(db: Session, lane: str) -> datetime | None:
    return await db.one(_next_due, lane=lane)


async def set_right(db: Session, now: datetime, *, by_own_clock: bool) -> None:
    """Moves jobs to when they were meant to be done, if a clock that was ahead when they were put down is set back.

    Whether it was to be done at once, later, or to be tried again. Where the database's clock says when a new job is
    due, and not our own, only what was to be done at once may have been put down wrong.
    """
    moved = []
    for id, run_at, created_at in await db.all(_made_ahead, now=now):
        delay = run_at - created_at
        if by_own_clock and delay > NO_DELAY:
            moved.append({"job": id, "new_run_at": now + delay, "now": now})
        elif abs(delay) <= NO_DELAY:
            moved.append({"job": id, "new_run_at": now, "now": now})
    if moved:
        await db.many(_set_right, moved)
    await db.run(_try_now, now=now, latest=now + LONGEST_PAUSE)


class DueLanes:
    """Which of these lanes have something to do: one look into the index for each, in one statement."""

    def __init__(self, lanes: Sequence[str]) -> None:
        self.lanes = tuple(lanes)
        self._query = _any_due(self.lanes)

    async def find(self, db: Session, now: datetime) -> list[str]:
        return await db.all(self._query, now=now)


@lru_cache(4)
def _any_due(lanes: tuple[str, ...]) -> Query[str]:
    return query(union_all(*(_lane_if_due(lane) for lane in lanes)), str)


def _lane_if_due(lane: str) -> Select[Any]:
    name: ColumnElement[str] = literal_column(f"'{lane}'", Text)  # a kind of ours, in words of ours
    return select(name).where(exists().where(and_(jobs.c.lane == name, _ready, jobs.c.deaths == 0)))


async def plan(db: Session, kind: str, at: datetime) -> None:
    await db.run(_plan, kind=kind, next_at=at)


async def due(db: Session, now: datetime, every: Mapping[str, timedelta]) -> set[str]:
    """Kinds whose time has come: mostly none, which is found out without writing."""
    return {
        kind
        for kind, next_at in await db.all(_planned)
        if kind in every and (next_at <= now or next_at > _latest(now, every[kind]))
    }


async def tick(db: Session, kind: str, *, now: datetime, every: timedelta) -> bool:
    """Whether it is time for `kind`, and this worker the one to say so."""
    return await db.one(_tick, name=kind, now=now, then=now + every, latest=_latest(now, every)) is not None


def _latest(now: datetime, every: timedelta) -> datetime:
    """Nobody whose clock is right plans further ahead. Whatever is planned for later is as good as due: it may be
    what ends somebody's access, and would not be done before then."""
    return now + 2 * every + SLACK


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
