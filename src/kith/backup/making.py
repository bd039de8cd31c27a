"""Making a backup while the server runs."""

from __future__ import annotations

import asyncio
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from kith import __version__
from kith.backup import sqlite_moment
from kith.backup.failures import BadRepository, RepositoryInUse
from kith.backup.manifest import FileEntry, Manifest, new_id
from kith.backup.recorded_settings import record
from kith.backup.repository import Repository
from kith.backup.stored_files import Gatherer
from kith.base.blobs import Blobs, blobs
from kith.base.settings import Settings
from kith.migrations import MOVING, told_moving

__all__ = ["BackupProgress", "Silent", "alone_in", "make", "media_of"]

_WORK = "backup-in-progress"


class BackupProgress(Protocol):
    """Told what is being done, and of every piece that is done."""

    def begin(self, words: str, total: int | None = None) -> None: ...

    def advance(self, amount: int) -> None: ...


class Silent:
    def begin(self, words: str, total: int | None = None) -> None: ...

    def advance(self, amount: int) -> None: ...


def media_of(settings: Settings) -> Blobs:
    return blobs(
        settings.media,
        settings.data / "media",
        access_key=settings.media_access_key,
        secret_key=settings.media_secret_key,
    )


async def make(settings: Settings, repository: Repository, progress: BackupProgress | None = None) -> Manifest:
    """Files, then the database at one moment, then the files that came meanwhile; the manifest last.

    Everything that was written is read back before the manifest says that it is there.
    """
    tell = progress or Silent()
    await repository.learn()
    gatherer = Gatherer(repository, media_of(settings))
    before = await _newest_readable(repository)
    await gatherer.learn(before)
    tell.begin("Files")
    await gatherer.gather(tell.advance)
    tell.begin("Database")
    parts = await (_sqlite if settings.is_sqlite else _postgres)(settings, repository, tell)
    tell.begin("Files since")
    await gatherer.gather(tell.advance)
    files, count, size = await gatherer.publish()
    keys = tuple([await _key(repository, *key) for key in _read_keys(settings.data / "keys")])
    tell.begin("Reading back", len(repository.written))
    damaged = await repository.check(repository.written, tell.advance)
    if damaged:
        await repository.remove(damaged)
        raise BadRepository(
            f"{len(damaged)} of the pieces that were written are not what was read back: "
            "the disk or the bucket cannot be trusted"
        )
    manifest = Manifest(
        id=new_id(parts["made_at"], secrets.token_hex(2)),
        version=__version__,
        base_url=settings.base_url,
        domain=settings.domain,
        files=files,
        files_count=count,
        files_bytes=size,
        files_gone=gatherer.gone,
        keys=keys,
        settings=record(settings),
        new_chunks=len(repository.written),
        new_bytes=repository.written_bytes,
        **parts,
    )
    await repository.publish(manifest)
    return manifest


async def _newest_readable(repository: Repository) -> Manifest | None:
    """A damaged one is told of by `verify`; it must not keep new ones from being made."""
    for id in reversed(await repository.ids()):
        with suppress(BadRepository):
            return await repository.manifest(id)
    return None


@contextmanager
def alone_in(folder: Path, words: str) -> Iterator[None]:
    """One run at a time; any other is told `words`."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RepositoryInUse(words) from error
        yield
    finally:
        os.close(handle)


@contextmanager
def work_folder(beside: Path) -> Iterator[Path]:
    """Where the database is copied to, by one run at a time: another one, to another place, would copy over it."""
    with alone_in(beside, "another backup of this server is being made"):
        folder = beside / _WORK
        shutil.rmtree(folder, ignore_errors=True)  # what a run left that was killed
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


async def _sqlite(settings: Settings, repository: Repository, tell: BackupProgress) -> dict[str, Any]:
    with work_folder(settings.sqlite_path.parent) as folder:
        moment = await asyncio.to_thread(sqlite_moment.copy_moment, settings.sqlite_path, folder / "kith.sqlite3")
        made_at = datetime.now(UTC)
        chunks = await sqlite_moment.store(repository, moment.path, tell.advance)
        return {
            "engine": "sqlite",
            "made_at": made_at,
            "revision": moment.revision,
            "counts": moment.counts,
            "database": chunks,
            "database_bytes": moment.size,
        }


async def _postgres(settings: Settings, repository: Repository, tell: BackupProgress) -> dict[str, Any]:
    from kith.backup.postgres_moment import moment  # noqa: PLC0415 - the driver of PostgreSQL is loaded when first used

    async with moment(settings.database) as now:
        revision = await now.revision()
        made_at = datetime.now(UTC)
        if revision is None:
            raise BadRepository("there is nothing to back up: the database has no tables yet")
        if revision == MOVING:
            raise BadRepository(told_moving())
        tables = await now.store(repository, tell.advance)
        return {
            "engine": "postgresql",
            "made_at": made_at,
            "revision": revision,
            "counts": now.counts,
            "tables": tables,
            "sequences": await now.sequences(),
            "database_bytes": now.size,
        }


async def _key(repository: Repository, name: str, content: bytes) -> FileEntry:
    return FileEntry(name, len(content), "", (await repository.add(content),))


def _read_keys(folder: Path) -> list[tuple[str, bytes]]:
    return [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.key"))]
