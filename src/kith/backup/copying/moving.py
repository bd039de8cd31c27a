"""A whole server's rows moved to the other kind of database, while it stands still."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import msgspec

from kith.backup.copying.copying import CopyReport, RowCopier
from kith.backup.copying.failures import SourceInUse
from kith.backup.copying.options import CopyOptions
from kith.backup.copying.postgres_source import PostgresRowSource
from kith.backup.copying.postgres_target import PostgresTarget
from kith.backup.copying.sqlite_source import SqliteRowSource
from kith.backup.copying.sqlite_target import SqliteTarget, drop_file
from kith.backup.making import BackupProgress, alone_in
from kith.base.settings import BadSettings, Settings
from kith.migrations import HEAD

__all__ = ["move", "origin_of"]


async def move(
    settings: Settings, to: str, progress: BackupProgress, options: CopyOptions, *, is_anew: bool = False
) -> CopyReport:
    """Copy everything to `to`, which must be empty, or what an interrupted move of the same server has left.

    Nothing is written to the database that is moved. A rehearsal copies to a place that is thrown away, and needs
    nobody to stop.
    """
    _refuse_same_kind(settings, to)
    place = msgspec.structs.replace(settings, database=to, database_replicas=())
    with alone_in(settings.data, "a backup or another move of this server is under way"):
        async with (
            _open_source(settings, holding=not options.is_rehearsal) as source,
            _open_target(place, rehearsing=options.is_rehearsal) as target,
        ):
            if not options.is_rehearsal:
                _refuse_used(await source.leases())
                if is_anew and await target.marks() is not None:
                    await target.empty()
            return await RowCopier(source, target, progress, options).copy(await origin_of(source))


async def origin_of(source: SqliteRowSource | PostgresRowSource) -> str:
    """By which a source is known again, as long as no server has used it: each leases numbers for its ids first."""
    leases = {slot: until.astimezone(UTC).isoformat() for slot, until in (await source.leases()).items()}
    told = [source.dialect, HEAD, leases, await source.counts()]
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()


def _refuse_same_kind(settings: Settings, to: str) -> None:
    is_postgres = to.startswith(("postgresql://", "postgres://"))
    if not is_postgres and to != "sqlite" and not to.startswith("sqlite:///"):
        raise BadSettings("--to must be sqlite, sqlite:///PATH or postgresql://..., as KITH_DATABASE is")
    if settings.is_sqlite != is_postgres:
        kind = "SQLite" if settings.is_sqlite else "PostgreSQL"
        raise BadSettings(
            f"KITH_DATABASE and --to are both {kind}: this moves from one kind to the other. `kith backup` and "
            "`kith restore` bring a server to another place of the same kind"
        )


@asynccontextmanager
async def _open_source(settings: Settings, *, holding: bool) -> AsyncIterator[SqliteRowSource | PostgresRowSource]:
    if settings.is_sqlite:
        with SqliteRowSource.open(settings.sqlite_path, holding=holding) as file:
            yield file
        return
    async with PostgresRowSource.open(settings.database, holding=holding) as source:
        yield source


@asynccontextmanager
async def _open_target(place: Settings, *, rehearsing: bool) -> AsyncIterator[SqliteTarget | PostgresTarget]:
    if not place.is_sqlite:
        async with PostgresTarget.open(place, rehearsing=rehearsing) as target:
            yield target
        return
    ending = "rehearsal" if rehearsing else "moving"
    unfinished = place.sqlite_path.with_name(f"{place.sqlite_path.name}.{ending}")
    if rehearsing:
        drop_file(unfinished)
    try:
        async with SqliteTarget.open(place, ending=ending) as file:
            yield file
    finally:
        if rehearsing:
            drop_file(unfinished)


def _refuse_used(leases: dict[int, datetime]) -> None:
    if any(until > datetime.now(UTC) for until in leases.values()):
        raise SourceInUse(
            "a server, a worker or a command uses the database, or was killed less than half a minute ago: stop them "
            "all and try again. `--rehearse` needs nobody to stop"
        )
