"""Whether there is a backup, how old it is, and whether it could be restored."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kith.backup.failures import BackupFailed
from kith.backup.passphrase import find_key_file, find_passphrase, told_exposed
from kith.backup.places import BackupPlace
from kith.backup.repository import Repository
from kith.base.backups import store
from kith.base.backups.schedule import is_overdue
from kith.base.backups.tables import BACKUP, REHEARSAL
from kith.base.db import Session
from kith.base.settings import BadSettings, Settings
from kith.base.stored_settings import effective, read_stored
from kith.cli.check.findings import Finding, cause, ok, problem, warning
from kith.cli.showing import cell

OLD = timedelta(days=8)


async def _stored(settings: Settings) -> AsyncIterator[Finding]:
    """What is in the folder of backups, if that is where they go."""
    if not settings.backup or "://" in settings.backup or not _is_filled(Path(settings.backup)):
        return
    try:
        repository = await Repository.open(BackupPlace(settings.backup, settings), find_passphrase(settings))
        manifests, damaged = await repository.readable()
    except (BackupFailed, BadSettings, OSError) as error:
        yield problem("backups", cause(error), "mend that, or set KITH_BACKUP to another place")
        return
    for id in damaged:
        yield problem(
            "backups", f"the backup {id} is damaged", "`kith backup verify --drop-damaged` removes it; make another one"
        )
    if manifests:
        yield ok("backups", f"backups at {settings.backup} that can be read: {len(manifests)}")


def _is_filled(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.R_OK | os.X_OK) and any(folder.iterdir())


async def backups(settings: Settings, db: Session) -> AsyncIterator[Finding]:
    settings = effective(settings, await read_stored(db))
    try:
        find_passphrase(settings)
    except BadSettings as error:
        yield problem("backups", cause(error), "put the key there, or correct KITH_BACKUP_KEY_FILE")
        return
    if words := told_exposed(find_key_file(settings)):
        yield warning("backups", f"{words}, and with it the backups", f"chmod o-rwx {settings.backup_key_file}")
    async for finding in _stored(settings):
        yield finding
    async for finding in _runs(settings, db):
        yield finding


async def _runs(settings: Settings, db: Session) -> AsyncIterator[Finding]:
    """How those went that were made here."""
    now = datetime.now(UTC)
    good, tried = await store.last_success(db, BACKUP, now), await store.last(db, BACKUP, now)
    rehearsed = await store.last(db, REHEARSAL, now)
    if tried is not None and not tried.succeeded:
        yield problem("backups", f"the last backup failed: {tried.words}", "mend that, then run `kith backup`")
    if good is None:
        if settings.backups:
            yield ok("backups", "backups are made by other means, says KITH_BACKUPS")
        else:
            yield warning("backups", "this server has never been backed up", "set KITH_BACKUP and KITH_BACKUP_SCHEDULE")
        return
    words = f"the last backup is of {cell(good.started_at)}"
    if is_overdue(settings, good.started_at, now):
        yield problem("backups", f"{words}, which is older than the schedule allows", "see `kith jobs list`")
    elif now - good.started_at > OLD:
        yield warning("backups", words, "set KITH_BACKUP_SCHEDULE, so that the worker makes them")
    else:
        yield ok("backups", words)
    if not good.is_encrypted:
        yield warning(
            "backups",
            "backups hold the server's keys and are not encrypted",
            "set KITH_BACKUP_KEY_FILE",
        )
    if rehearsed is None:
        yield warning("backups", "no backup has ever been restored, even to try", "run `kith backup rehearse`")
    elif rehearsed.succeeded:
        yield ok("backups", f"{rehearsed.backup} was restored to try on {cell(rehearsed.ended_at)}: {rehearsed.words}")
    else:
        yield problem("backups", f"a backup could not be restored: {rehearsed.words}", "run `kith backup verify`")
