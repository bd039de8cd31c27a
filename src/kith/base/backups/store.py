from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import bindparam, delete, select

from kith.base.backups.tables import BackupRun, backup_runs
from kith.base.clocks import SLACK
from kith.base.db import Instant, Session, command, insert_into, query

__all__ = ["add", "forget", "last", "last_success", "listed"]

_of_kind = select(backup_runs).where(backup_runs.c.kind == bindparam("kind"))
_newest_first = backup_runs.c.started_at.desc(), backup_runs.c.id.desc()

_add = command(insert_into(backup_runs))
_listed = query(_of_kind.order_by(*_newest_first).limit(bindparam("most")), BackupRun)
# What was written down by a clock that was ahead would be the newest for as long, and nothing would be due.
_begun = _of_kind.where(backup_runs.c.started_at <= bindparam("latest", type_=Instant())).order_by(*_newest_first)
_last = query(_begun.limit(1), BackupRun)
_last_success = query(_begun.where(backup_runs.c.succeeded).limit(1), BackupRun)
_forget = command(delete(backup_runs).where(backup_runs.c.started_at < bindparam("before", type_=Instant())))


async def add(db: Session, run: BackupRun) -> None:
    await db.run(_add, **msgspec.structs.asdict(run))


async def listed(db: Session, kind: str, most: int) -> list[BackupRun]:
    """The newest first."""
    return await db.all(_listed, kind=kind, most=most)


async def last(db: Session, kind: str, now: datetime) -> BackupRun | None:
    return await db.one(_last, kind=kind, latest=now + SLACK)


async def last_success(db: Session, kind: str, now: datetime) -> BackupRun | None:
    return await db.one(_last_success, kind=kind, latest=now + SLACK)


async def forget(db: Session, before: datetime) -> None:
    await db.run(_forget, before=before)
