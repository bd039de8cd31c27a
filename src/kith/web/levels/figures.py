"""What takes a look into the database to know, told to whoever watches: by every process that does jobs."""

from __future__ import annotations

import asyncio
import shutil
from datetime import datetime, timedelta

import structlog
from sqlalchemy import bindparam, func, select

from kith.base.db import METADATA, Instant, query
from kith.base.errors import Unavailable
from kith.base.jobs import store as jobs
from kith.base.jobs.tables import DEAD, READY
from kith.base.metrics import (
    DATABASE_BYTES,
    DELIVERIES_WAITING,
    DISK_FREE,
    DISK_SIZE,
    HOSTS_UNAVAILABLE,
    JOBS_DEAD,
    JOBS_OLDEST,
    JOBS_WAITING,
    PEOPLE,
)
from kith.base.work import Work, Works

__all__ = ["tell_forever"]

LOOK_SECONDS = 10.0
EVERY_SO_MANY = 12  # looks: what is dearer, and changes more slowly

_log = structlog.get_logger()

# Tables are named, for pages know neither people nor federation by their rows.
_deliveries = query(lambda: select(func.count()).select_from(METADATA.tables["federation_deliveries"]), int)
_unavailable = query(
    lambda: (
        select(func.count())
        .select_from(METADATA.tables["federation_hosts"])
        .where(METADATA.tables["federation_hosts"].c.unavailable_since.is_not(None))
    ),
    int,
)
_people = query(lambda: select(func.count()).select_from(METADATA.tables["identity_users"]), int)
_seen = query(
    lambda: (
        select(func.count())
        .select_from(METADATA.tables["identity_users"])
        .where(METADATA.tables["identity_users"].c.last_seen_at >= bindparam("since", type_=Instant()))
    ),
    int,
)


class DatabaseFigures:
    def __init__(self, works: Works) -> None:
        self._works = works
        self._kinds: set[str] = set()  # of jobs that have waited

    async def tell_jobs(self, work: Work) -> None:
        waiting: dict[str, int] = dict.fromkeys(self._kinds, 0)
        dead, oldest = 0, work.now
        for kind, state, count, due in await jobs.counts(work.db):
            if state == DEAD:
                dead += count
            else:
                waiting[kind] = waiting.get(kind, 0) + count
                oldest = min(oldest, due) if state == READY and due is not None else oldest
        self._kinds |= waiting.keys()
        for kind, count in waiting.items():
            JOBS_WAITING.labels(kind).set(count)
        JOBS_DEAD.set(dead)
        JOBS_OLDEST.set((work.now - oldest).total_seconds())

    async def tell_rest(self, work: Work) -> None:
        disk = shutil.disk_usage(work.settings.data)
        DISK_FREE.set(disk.free)
        DISK_SIZE.set(disk.total)
        DATABASE_BYTES.set(await self._works.database.size())
        DELIVERIES_WAITING.set((await work.db.slow(_deliveries))[0])
        HOSTS_UNAVAILABLE.set((await work.db.slow(_unavailable))[0])
        PEOPLE.labels("all").set((await work.db.slow(_people))[0])
        for state, days in (("day", 1), ("week", 7), ("month", 30)):
            PEOPLE.labels(state).set((await work.db.slow(_seen, since=_before(work.now, days)))[0])


def _before(now: datetime, days: int) -> datetime:
    return now - timedelta(days=days)


async def tell_forever(works: Works) -> None:
    figures, looks = DatabaseFigures(works), 0
    while True:
        try:
            work = works.open()
            await figures.tell_jobs(work)
            if looks % EVERY_SO_MANY == 0:
                await figures.tell_rest(work)
            await work.rollback()
        except (Unavailable, OSError) as error:
            _log.warning("figures.not_told", cause=str(error)[:300])
        looks += 1
        await asyncio.sleep(LOOK_SECONDS)
