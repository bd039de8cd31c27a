"""The database of a backup, restored to the other kind: its rows are copied, as those of a server that moves."""

from __future__ import annotations

import asyncio
import shutil

import msgspec

from kith.backup import sqlite_moment
from kith.backup.copying.backup_source import BackupRowSource
from kith.backup.copying.copying import RowCopier
from kith.backup.copying.moving import origin_of
from kith.backup.copying.options import CopyOptions
from kith.backup.copying.postgres_target import PostgresTarget
from kith.backup.copying.sqlite_source import SqliteRowSource
from kith.backup.copying.sqlite_target import SqliteTarget, drop_file
from kith.backup.making import BackupProgress
from kith.backup.manifest import Manifest
from kith.backup.repository import Repository
from kith.base.settings import Settings
from kith.migrations import FIRST
from kith.migrations.runner import upgrade

__all__ = ["restore_other_kind"]

_FOLDER = "restoring-database"


async def restore_other_kind(
    settings: Settings, repository: Repository, manifest: Manifest, tell: BackupProgress, options: CopyOptions
) -> dict[str, int]:
    """How many rows of each table were restored."""
    restore = _to_sqlite if settings.is_sqlite else _to_postgres
    return await restore(settings, repository, manifest, tell, options)


async def _to_postgres(
    settings: Settings, repository: Repository, manifest: Manifest, tell: BackupProgress, options: CopyOptions
) -> dict[str, int]:
    """By a file beside, which is upgraded there. An interrupted copy of it goes on."""
    folder = settings.data / _FOLDER
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        place = msgspec.structs.replace(settings, database=f"sqlite:///{folder.absolute()}/kith.sqlite3")
        await sqlite_moment.load(repository, manifest.database, place.sqlite_path, tell.advance)
        found = sqlite_moment.count_file(place.sqlite_path)
        await upgrade(place)
        with SqliteRowSource.open(place.sqlite_path, holding=True) as source:
            async with PostgresTarget.open(settings, rehearsing=False, may_be_filled=True) as target:
                await RowCopier(source, target, tell, options).copy(await origin_of(source))
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    return found


async def _to_sqlite(
    settings: Settings, repository: Repository, manifest: Manifest, tell: BackupProgress, options: CopyOptions
) -> dict[str, int]:
    """With the schema that the backup is of. One that was interrupted begins anew."""
    ending = "restoring"
    path = settings.sqlite_path
    for left in (path, path.with_name(f"{path.name}.{ending}")):
        drop_file(left)
    async with SqliteTarget.open(settings, ending=ending, revision=max(manifest.revision, FIRST)) as target:
        await target.make_tables()
        source = BackupRowSource(repository, manifest, target.tables())
        report = await RowCopier(source, target, tell, options).copy(manifest.id, source.tables)
    return {one.name: one.after for one in report.tables}
