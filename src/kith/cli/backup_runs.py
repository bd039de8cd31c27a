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
from kith.backup.passphrase import find_key_file, find_passphrase, told_exposed
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

__all__ = [
    "MadeBackup",
    "RunSettings",
    "make_and_note",
    "make_before_upgrade",
    "rehearse_and_note",
    "settle",
    "store_schedule",
    "tell_damaged",
    "warn_of_readable_key",
    "warn_without_key",
]

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
    warn_of_readable_key(settings, key_file)
    return RunSettings(settings, target, find_passphrase(settings, key_file), is_current)


class _Outcome:
    """Filled in while something runs."""

    def __init__(self) -> None:
        self.started_at = self.ended_at = datetime.now(UTC)
        self.backup = ""
        self.is_encrypted = False
        self.size = self.new_bytes = 0
        self.words = ""


@asynccontextmanager
async def _noted(settled: RunSettings, kind: str) -> AsyncIterator[_Outcome]:
    """However it ends, that it did is written down; a failure is an event too."""
    outcome, failure = _Outcome(), None
    try:
        yield outcome
    except RepositoryInUse:
        raise
    except Exception as error:
        failure = error
        raise
    finally:
        outcome.ended_at = datetime.now(UTC)
        if settled.is_current and (failure is not None or outcome.backup):
            await _note(settled, kind, outcome, failure)


async def _note(settled: RunSettings, kind: str, outcome: _Outcome, failure: Exception | None) -> None:
    words = outcome.words if failure is None else in_plain_words(failure)
    async with house() as opened, opened.works.begin() as work:
        await store.add(
            work.db,
            BackupRun(
                id=work.new_id(),
                kind=kind,
                started_at=outcome.started_at,
                ended_at=outcome.ended_at,
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


def warn_of_readable_key(settings: Settings, key_file: Path | None) -> None:
    if words := told_exposed(find_key_file(settings, key_file)):
        click.echo(f"kith: {words}, and with it the backups: chmod o-rwx it", err=True)


def tell_damaged(ids: list[str]) -> None:
    for id in ids:
        click.echo(
            f"kith: {id} is damaged: its manifest is not what was written. No pieces are removed while it is there; "
            "`kith backup verify --drop-damaged` removes it",
            err=True,
        )


def warn_without_key(settled: RunSettings) -> None:
    if settled.passphrase is None:
        click.echo(
            "kith: without a key (--key-file or KITH_BACKUP_KEY_FILE) everybody who can read the backup can read the "
            "server's own keys in it, and with them everything that is stored encrypted",
            err=True,
        )


async def make_and_note(settled: RunSettings, progress: BackupProgress, *, is_pruning: bool = False) -> Manifest:
    return (await _make(settled, progress, is_pruning=is_pruning))[0]


class MadeBackup:
    """One that is there, and not written down where the database was too old to say so."""

    def __init__(self, settled: RunSettings, outcome: _Outcome) -> None:
        self._settled, self._outcome = settled, outcome
        self.id = outcome.backup

    async def note(self) -> None:
        """Write it down, now that the database has the newest schema."""
        if not self._settled.is_current:
            await _note(self._settled, BACKUP, self._outcome, None)


async def make_before_upgrade(settled: RunSettings, progress: BackupProgress) -> MadeBackup:
    _, outcome = await _make(settled, progress)
    return MadeBackup(settled, outcome)


async def _make(
    settled: RunSettings, progress: BackupProgress, *, is_pruning: bool = False
) -> tuple[Manifest, _Outcome]:
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
                tell_damaged((await prune_repository(repository, settings.backup_keep)).damaged_backups)
    return manifest, outcome


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
