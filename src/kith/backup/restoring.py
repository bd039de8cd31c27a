"""A server made of a backup, on a machine that has nothing of it."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path

import msgspec

from kith.backup import sqlite_moment
from kith.backup.copying.options import CopyOptions
from kith.backup.failures import NotEmpty
from kith.backup.making import BackupProgress, Silent, media_of
from kith.backup.manifest import FileEntry, Manifest
from kith.backup.recorded_settings import as_toml
from kith.backup.repository import Repository
from kith.backup.stored_files import put_back
from kith.base.settings import BadSettings, Settings
from kith.migrations import FIRST, HEAD, is_unknown
from kith.migrations.runner import upgrade

__all__ = ["count_restored", "differing", "refuse_filled", "restore"]

DRAFT = "restored-settings.toml"


async def refuse_filled(settings: Settings, manifest: Manifest) -> None:
    """Nothing is ever overwritten, but for what an interrupted restore of the same backup has left."""
    if manifest.revision > HEAD:
        raise BadSettings(
            f"the backup is of a newer version of Kith (it is at {manifest.revision}, this version knows {HEAD}): "
            "restore it with that version"
        )
    if is_unknown(manifest.revision):
        raise BadSettings(
            f"the backup is of a version before 0.1.0 (it is at {manifest.revision}): restore it with that version, "
            'and see "From before 0.1.0" in docs/upgrading.md'
        )
    mark = settings.restore_mark
    if mark.is_file() and mark.read_text("utf-8") == _mark_of(settings, manifest):
        return
    places = [settings.data / "keys", settings.data / "media"]
    for path in [*places, settings.sqlite_path] if settings.is_sqlite else places:
        if path.is_file() or (path.is_dir() and any(path.iterdir())):
            raise NotEmpty(f"there is something at {path}: a backup is restored to an empty place only")
    if not settings.is_sqlite:
        from kith.backup.postgres_moment import is_empty  # noqa: PLC0415 - loaded when first used

        if not await is_empty(settings.database):
            raise NotEmpty("there are tables in the database: a backup is restored to an empty one only")


def _mark_of(settings: Settings, manifest: Manifest) -> str:
    """The database is part of it: another one than that which was being filled must be empty, too."""
    return f"{manifest.id} {hashlib.sha256(settings.database.encode()).hexdigest()}"


async def restore(
    settings: Settings,
    repository: Repository,
    manifest: Manifest,
    progress: BackupProgress | None = None,
    *,
    files: list[FileEntry] | None = None,
    to_newest: bool = True,
    options: CopyOptions | None = None,
) -> list[str]:
    """Keys, database, files; what differs from the counts of the backup, which is nothing.

    Until it is done a mark in the data folder keeps any server from starting there. `files` are all, or those given.
    A database of the other kind is filled row by row, as `options` say.
    """
    tell = progress or Silent()
    await refuse_filled(settings, manifest)
    settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    settings.restore_mark.write_text(_mark_of(settings, manifest), "utf-8")
    for key in manifest.keys:
        await _key(repository, key, settings.data / "keys")
    tell.begin("Database", manifest.database_bytes)
    found = await _restore_database(settings, repository, manifest, tell, options or CopyOptions())
    differences = differing(manifest.counts, found)
    if files is None:
        files = await repository.files(manifest)
    tell.begin("Files", sum(file.size for file in files))
    await put_back(repository, files, media_of(settings), tell.advance)
    if to_newest and manifest.revision != HEAD:
        tell.begin("Newest schema")
        await upgrade(settings)
    _write(settings.data / DRAFT, as_toml(manifest.settings))
    if manifest.settings.file is not None:
        _write(settings.data / "restored-kith.toml", manifest.settings.file)
    settings.restore_mark.unlink()
    return differences


async def _restore_database(
    settings: Settings, repository: Repository, manifest: Manifest, tell: BackupProgress, options: CopyOptions
) -> dict[str, int]:
    if settings.is_sqlite != (manifest.engine == "sqlite"):
        # Reading and writing the other kind is loaded when first used.
        from kith.backup.copying.restoring import restore_other_kind  # noqa: PLC0415

        return await restore_other_kind(settings, repository, manifest, tell, options)
    await (_sqlite if settings.is_sqlite else _postgres)(settings, repository, manifest, tell)
    return await count_restored(settings)


async def _sqlite(settings: Settings, repository: Repository, manifest: Manifest, tell: BackupProgress) -> None:
    path = settings.sqlite_path
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    unfinished = path.with_name(f"{path.name}.restoring")
    for left in (unfinished, path):
        _drop_log(left)
    await sqlite_moment.load(repository, manifest.database, unfinished, tell.advance)
    await asyncio.to_thread(unfinished.rename, path)


def _drop_log(path: Path) -> None:
    """A log beside a database that is not there belongs to an earlier one, and SQLite would put its pages over this."""
    for ending in ("-wal", "-shm", "-journal"):
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)


async def _postgres(settings: Settings, repository: Repository, manifest: Manifest, tell: BackupProgress) -> None:
    from kith.backup.postgres_moment import fill, moment  # noqa: PLC0415 - loaded when first used

    async with moment(settings.database) as now:
        revision = await now.revision()
    if revision is not None and revision != max(manifest.revision, FIRST):
        raise NotEmpty(
            f"the restore that was interrupted had upgraded the database to {revision} already, and the rows of the "
            f"backup are of {manifest.revision}: give it an empty database"
        )
    await upgrade(settings, to=max(manifest.revision, FIRST))
    await fill(settings.database, repository, manifest.tables, manifest.sequences, tell.advance)


async def _key(repository: Repository, key: FileEntry, folder: Path) -> None:
    content = b"".join([await repository.get(name) for name in key.chunks])
    _write(folder / Path(key.key).name, content)


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())


async def count_restored(settings: Settings) -> dict[str, int]:
    if settings.is_sqlite:
        return sqlite_moment.count_file(settings.sqlite_path)
    from kith.backup.postgres_moment import count_rows  # noqa: PLC0415 - loaded when first used

    return await count_rows(settings.database)


def differing(expected: dict[str, int], found: dict[str, int]) -> list[str]:
    return [
        f"{name}: {expected.get(name, 0)} rows in the backup, {found.get(name, 0)} restored"
        for name in sorted({*expected, *found})
        if expected.get(name, 0) != found.get(name, 0)
    ]


def with_place(settings: Settings, data: Path, database: str) -> Settings:
    """The same settings for another place, where nothing is sent and no backup is made."""
    return msgspec.structs.replace(
        settings,
        data=data,
        database=database,
        database_replicas=(),
        media="",
        smtp="",
        backup="",
        backup_schedule="",
        worker=False,
    )
