"""Bringing a database to the shape this program knows, once, however many processes start together."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from kith.base.settings import BadSettings, Settings
from kith.migrations import FIRST, LAST_UNRELEASED, is_unknown, told_unknown

_FOLDER = Path(__file__).parent
_LOCK = 0x6B697468  # an advisory lock of our own on PostgreSQL


async def upgrade(settings: Settings, *, to: str = "head", schema: str | None = None) -> None:
    """In one transaction: whatever ends it early, the database is as it was, and the next try begins there.

    `schema` is one of PostgreSQL that is used instead of the usual one.
    """
    if settings.is_sqlite:
        _upgrade_sqlite(settings.sqlite_path, to)
    else:
        await _upgrade_postgres(settings.database, to, schema)


def _upgrade_sqlite(path: Path, to: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    engine = sa.create_engine(f"sqlite:///{path}", poolclass=NullPool)

    @sa.event.listens_for(engine, "connect")
    def _plain(connection: sa.engine.interfaces.DBAPIConnection, _record: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")

    with _file_lock(path.with_suffix(".migrating")), engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            run(connection, to)
        except BaseException:
            connection.exec_driver_sql("ROLLBACK")
            raise
        connection.exec_driver_sql("COMMIT")
    path.chmod(0o600)


async def _upgrade_postgres(url: str, to: str, schema: str | None) -> None:
    given = {} if schema is None else {"search_path": f"{schema}, public"}
    engine = create_async_engine(sqlalchemy_url(url), poolclass=NullPool, connect_args={"server_settings": given})
    try:
        async with engine.begin() as connection:
            await connection.execute(sa.text("SET LOCAL lock_timeout = '30s'"))
            await connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            await connection.execute(sa.text("SET LOCAL lock_timeout = '5s'"))
            await connection.run_sync(run, to)
    finally:
        await engine.dispose()


def run(connection: sa.Connection, to: str = "head") -> None:
    config = alembic_config(connection)
    revision = _revision(connection)
    if is_unknown(revision):
        raise BadSettings(told_unknown(str(revision)))
    if revision == LAST_UNRELEASED:
        command.stamp(config, FIRST, purge=True)
    command.upgrade(config, to)


def _revision(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return found


def alembic_config(connection: sa.Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    config.attributes["connection"] = connection
    return config


def sqlalchemy_url(url: str) -> str:
    return "postgresql+asyncpg://" + url.split("://", 1)[1]


def known_revisions() -> set[str]:
    return {path.stem.split("_")[0] for path in (_FOLDER / "versions").glob("[0-9]*.py")}


@contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
