"""Backups are made by the worker, each in a process of its own that gives way to everybody else."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import msgspec

from kith.base.backups import store
from kith.base.backups.schedule import is_due, read_schedule
from kith.base.backups.tables import BACKUP, REHEARSAL, BackupRun
from kith.base.jobs import Give, JobKind
from kith.base.logger import Logger
from kith.base.metrics import (
    BACKUP_NEW_BYTES,
    BACKUP_REHEARSAL_OK,
    BACKUP_REHEARSED_AT,
    BACKUP_SIZE,
    BACKUP_SUCCEEDED_AT,
    BACKUPS_FAILED,
)
from kith.base.settings import BadSettings
from kith.base.work import Work

__all__ = ["IN_USE", "LOOK", "RUN", "LookForDue", "StartRun", "start_now"]

IN_USE = 75  # the exit code of one that found another at work
KEPT = timedelta(days=400)
_KITH = (sys.executable, "-c", "import sys; from kith.cli import main; sys.exit(main())")
_REHEARSALS = {"daily": timedelta(days=1), "weekly": timedelta(days=7), "monthly": timedelta(days=30)}
_REHEARSAL_RETRY = timedelta(hours=6)
_log = Logger()


class StartRun(msgspec.Struct):
    kind: str = BACKUP


class LookForDue(msgspec.Struct):
    """Whether a backup or a rehearsal is due; and the numbers that are watched."""


async def look(work: Work, _payload: LookForDue) -> None:
    settings = work.settings
    good = await store.last_success(work.db, BACKUP, work.now)
    tried = await store.last(work.db, BACKUP, work.now)
    rehearsed = await store.last(work.db, REHEARSAL, work.now)
    _tell(good, tried, rehearsed)
    try:
        schedule = read_schedule(settings.backup_schedule)
    except BadSettings as error:
        _log.error("backups.bad_schedule", cause=str(error))
        return
    if schedule is None or not settings.backup:
        return
    succeeded_at = good.started_at if good is not None else None
    tried_at = tried.started_at if tried is not None else None
    if is_due(schedule, work.now, succeeded_at=succeeded_at, tried_at=tried_at):
        start_now(work, BACKUP)
    elif good is not None and _is_rehearsal_due(work, rehearsed):
        start_now(work, REHEARSAL)
    await store.forget(work.db, work.now - KEPT)


def _is_rehearsal_due(work: Work, last: BackupRun | None) -> bool:
    every = _REHEARSALS.get(work.settings.backup_rehearsal)
    if every is None:
        return False
    return last is None or work.now - last.started_at >= (every if last.succeeded else _REHEARSAL_RETRY)


def _tell(good: BackupRun | None, tried: BackupRun | None, rehearsed: BackupRun | None) -> None:
    if good is not None:
        BACKUP_SUCCEEDED_AT.set(good.ended_at.timestamp())
        BACKUP_SIZE.set(good.size)
        BACKUP_NEW_BYTES.set(good.new_bytes)
    BACKUPS_FAILED.set(int(tried is not None and not tried.succeeded))
    if rehearsed is not None:
        BACKUP_REHEARSED_AT.set(rehearsed.ended_at.timestamp())
        BACKUP_REHEARSAL_OK.set(int(rehearsed.succeeded))


def start_now(work: Work, kind: str) -> None:
    """One of each kind waits at most."""
    work.enqueue(RUN, StartRun(kind), key=kind)


async def run(work: Work, payload: StartRun) -> None:
    """The process writes down by itself how it went; only for one that could not is it done here."""
    words = ("rehearse",) if payload.kind == REHEARSAL else ("make", "--prune")
    process = await asyncio.create_subprocess_exec(
        *_KITH, "backup", *words, "--gently", stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        code = await process.wait()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
    if code == IN_USE:
        raise Give("another backup is under way", later=timedelta(minutes=5))
    last = await store.last(work.db, payload.kind, datetime.now(UTC))
    if code and (last is None or last.succeeded or last.ended_at < work.now):
        await store.add(
            work.db,
            BackupRun(
                id=work.new_id(),
                kind=payload.kind,
                started_at=work.now,
                ended_at=work.now,
                succeeded=False,
                target="",
                backup="",
                is_encrypted=False,
                size=0,
                new_bytes=0,
                words=f"the process ended with {code} before it could say why; the log may tell",
            ),
        )


LOOK: JobKind[LookForDue] = JobKind(name="backups.look", payload=LookForDue, handler=look)
RUN: JobKind[StartRun] = JobKind(
    name="backups.run",
    payload=StartRun,
    handler=run,
    outside=True,
    concurrency=1,
    is_harmless=True,
    patience=timedelta(hours=24),
)
