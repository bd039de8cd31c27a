"""Runs of commands and of the worker: with which settings, and how they went, written down for everybody to see."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from kith.backup.failures import BadRepository, RepositoryInUse, in_plain_words
from kith.backup.listing import prune_repository
from kith.backup.making import BackupProgress, make
from kith.backup.manifest import Manifest
from kith.backup.passphrase import find_passphrase
from kith.backup.places import BackupPlace, shown
from kith.backup.repository import Repository
from kith.base.backups import store
from kith.base.backups.retention import read_keep
from kith.base.backups.schedule import read_schedule
from kith.base.backups.tables import BACKUP, REHEARSAL, BackupRun
from kith.base.db import connect
from kith.base.settings import BadSettings, Settings, load
from kith.base.stored_settings import effective, read_stored, store_settings
from kith.base.work import Work
from kith.cli.running import house, refuse_missing
from kith.identity.audit import service as audit
from kith.migrations import HEAD

__all__ = ["RunSettings", "make_and_note", "rehearse_and_note", "settle", "store_schedule", "warn_without_key"]

_LONGEST_WORDS = 2000


class RunSettings(msgspec.Struct, frozen=True):
    """What counts for a run. `is_current`: whether the database has the newest schema, so that runs are noted there."""

    settings: Settings
    target: str
    passphrase: bytes | None
    is_current: bool


async def settle(target: str | None, key_file: Path | None) -> RunSettings:
    settings, is_current = load(), False
    given = settings.given
    if not settings.is_sqlite or settings.sqlite_path.is_file():
        database = await connect(settings, connections=1)
        try:
            is_current = await database.revision() == HEAD
            if is_current:
                settings = effective(settings, await read_stored(database.session()))
        finally:
            await database.close()
    settings.__dict__["given"] = given
    target = target or settings.backup
    if not target:
        raise BadSettings("say where the backup is: `kith backup TARGET`, or set KITH_BACKUP")
    return RunSettings(settings, target, find_passphrase(settings, key_file), is_current)


class _Outcome:
    """Filled in while something runs."""

    def __init__(self) -> None:
        self.backup = ""
        self.is_encrypted = False
        self.size = self.new_bytes = 0
        self.words = ""


@asynccontextmanager
async def _noted(settled: RunSettings, kind: str) -> AsyncIterator[_Outcome]:
    """However it ends, that it did is written down; a failure is an event too."""
    started_at, outcome, failure = datetime.now(UTC), _Outcome(), None
    try:
        yield outcome
    except RepositoryInUse:
        raise
    except Exception as error:
        failure = error
        raise
    finally:
        if settled.is_current and (failure is not None or outcome.backup):
            await _note(settled, kind, started_at, outcome, failure)


async def _note(
    settled: RunSettings, kind: str, started_at: datetime, outcome: _Outcome, failure: Exception | None
) -> None:
    words = outcome.words if failure is None else in_plain_words(failure)
    async with house() as opened, opened.works.begin() as work:
        await store.add(
            work.db,
            BackupRun(
                id=work.new_id(),
                kind=kind,
                started_at=started_at,
                ended_at=work.now,
                succeeded=failure is None,
                target=shown(settled.target),
                backup=outcome.backup,
                is_encrypted=settled.passphrase is not None,
                size=outcome.size,
                new_bytes=outcome.new_bytes,
                words=words[:_LONGEST_WORDS],
            ),
        )
        if failure is not None:
            await _tell(work, kind, words)


async def _tell(work: Work, kind: str, words: str) -> None:
    await audit.record(work, f"{kind}_failed", "kith.backups", context={"message": words, "kind": kind})


def warn_without_key(settled: RunSettings) -> None:
    if settled.passphrase is None:
        click.echo(
            "kith: without a key (--key-file or KITH_BACKUP_KEY_FILE) everybody who can read the backup can read the "
            "server's own keys in it, and with them everything that is stored encrypted",
            err=True,
        )


async def make_and_note(settled: RunSettings, progress: BackupProgress, *, is_pruning: bool = False) -> Manifest:
    settings = settled.settings
    refuse_missing(settings)
    async with _noted(settled, BACKUP) as outcome:
        place = BackupPlace(settled.target, settings)
        _refuse_inside(place, settings)
        async with place.lock():
            repository = await Repository.open_or_create(place, settled.passphrase)
            manifest = await make(settings, repository, progress)
            outcome.backup, outcome.size, outcome.new_bytes = manifest.id, manifest.size, manifest.new_bytes
            if is_pruning:
                await prune_repository(repository, settings.backup_keep)
    return manifest


def _refuse_inside(place: BackupPlace, settings: Settings) -> None:
    """A backup among the files that it is of would be backed up in turn."""
    if place.folder is not None and place.folder.is_relative_to((settings.data / "media").absolute()):
        raise BadSettings(f"{place.folder} is in the folder of media: put backups somewhere else")


async def rehearse_and_note(settled: RunSettings) -> str:
    from kith.backup.rehearsal import rehearse  # noqa: PLC0415 - the whole server, loaded when it is to be started

    async with _noted(settled, REHEARSAL) as outcome:
        repository = await Repository.open(BackupPlace(settled.target, settled.settings), settled.passphrase)
        async with repository.place.lock(shared=True):
            manifest = await repository.newest()
            if manifest is None:
                raise BadRepository(f"there are no backups at {shown(settled.target)}")
            outcome.words = await rehearse(settled.settings, repository, manifest)
        outcome.backup, outcome.size = manifest.id, manifest.size
    return outcome.words


async def store_schedule(when: str | None, target: str | None, keep: str | None) -> dict[str, str]:
    """Have the worker make backups from now on; what is not given stays. What counts then."""
    given: dict[str, Any] = {"backup_schedule": when, "backup": target, "backup_keep": keep}
    given = {name: value for name, value in given.items() if value is not None}
    read_schedule(when or "")
    read_keep(keep or "")
    async with house() as opened:
        fixed = sorted(given.keys() & opened.works.operator_settings.given)
        if fixed:
            raise BadSettings(f"KITH_{fixed[0].upper()} is set where the server is started: change it there")
        if given:
            if target is not None:
                given["backup"] = _absolute(target)
            async with opened.works.begin() as work:
                await store_settings(work, given, work.now)
        settings = effective(opened.works.operator_settings, await read_stored(opened.works.open().db))
        if given.get("backup_schedule") and not settings.backup:
            raise BadSettings("say where scheduled backups go: --to TARGET, or set KITH_BACKUP")
    return {
        "schedule": settings.backup_schedule or "off",
        "target": shown(settings.backup) or "-",
        "keep": settings.backup_keep,
        "rehearsal": settings.backup_rehearsal,
        "encrypted": "yes" if settings.backup_key or settings.backup_key_file else "no",
    }


def _absolute(target: str) -> str:
    """The worker may have been started in another folder."""
    return target if "://" in target else str(Path(target).absolute())
