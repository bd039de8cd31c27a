"""What the commands share: settings, an open database, and saying things to people or to programs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from kith.base.command_news import Written
from kith.base.db import Database, connect
from kith.base.ids import IDs
from kith.base.late import LateNews, LateParts, Once
from kith.base.settings import BadSettings, Settings, load
from kith.base.stored_settings import load_stored
from kith.base.work import Work, Works
from kith.migrations import HEAD, MOVING, is_unknown, told_moving, told_unknown

if TYPE_CHECKING:
    from kith.base.relay import Relay

Result = TypeVar("Result")
Service = TypeVar("Service")

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(coroutine)


def say(value: object) -> None:
    """One JSON value on one line."""
    click.echo(msgspec.json.encode(value).decode())


class Opened:
    """The database, opened for one command. Rooms are loaded when a part is asked for or a fact is announced."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.ids = IDs(database)
        self.furnish = Once(self._load_rooms)
        news, parts = LateNews(self.furnish), LateParts(self.furnish)
        self.works = Works(settings, database, self.ids, news, parts)

    def _load_rooms(self) -> None:
        from kith.app import furnish  # noqa: PLC0415 - every room there is, loaded when first used

        furnish(self.works)

    def find(self, kind: type[Service]) -> Service:
        """One of the server's own parts, by its type."""
        found: Service = self.works.services[kind]
        return found

    def relay(self) -> Relay | None:
        """Who tells running servers what happened, and their workers of jobs; on SQLite they look for themselves."""
        if self.works.settings.is_sqlite:
            self.works.news.relay = Written()
            return None
        from kith.base.relay import relay_for  # noqa: PLC0415 - the driver of PostgreSQL is loaded when first used

        return relay_for(self.works.database, self.works.news)

    async def close(self) -> None:
        if self.furnish.is_done:
            from kith.app import clear  # noqa: PLC0415 - loaded by now

            await clear(self.works)


@asynccontextmanager
async def house(settings: Settings | None = None) -> AsyncIterator[Opened]:
    """For a command that writes, beside a running server or without one.

    Loading every room takes seconds. It is done before anything is written: a transaction in which it was done would
    keep everybody else from writing for as long.
    """
    async with _opened(settings) as opened:
        opened.furnish()
        await opened.ids.lease()
        keeping = asyncio.create_task(opened.ids.keep())
        relay = opened.relay()
        try:
            yield opened
        finally:
            if relay is not None:
                await relay.deliver()
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            await opened.ids.release()


@asynccontextmanager
async def reading() -> AsyncIterator[Work]:
    """For a command that only looks: it makes no ids, so it need not write that it may."""
    async with _opened() as opened, opened.works.begin() as work:
        yield work


@asynccontextmanager
async def _opened(settings: Settings | None = None) -> AsyncIterator[Opened]:
    settings = settings or load()
    refuse_missing(settings)
    database = await connect(settings, connections=2)
    try:
        refuse_older(await database.revision())
        opened = Opened(settings, database)
        await load_stored(opened.works)
        try:
            yield opened
        finally:
            await opened.close()
    finally:
        await database.close()


async def refuse_other_schema(settings: Settings) -> None:
    refuse_missing(settings)
    refuse_older(await revision_of(settings))


def refuse_missing(settings: Settings) -> None:
    refuse_half_restored(settings)
    if settings.is_sqlite and not settings.sqlite_path.exists():
        raise BadSettings(f"there is no database at {settings.sqlite_path} yet: run `kith migrate` or `kith serve`")


def refuse_older(revision: str | None) -> None:
    """Also one that is newer, which `known` refuses with other words."""
    if known(revision) != HEAD:
        raise BadSettings("the database is older than this version of Kith: run `kith migrate`")


def refuse_half_restored(settings: Settings) -> None:
    """What an interrupted restore has left looks like a server, and is none."""
    if settings.restore_mark.is_file():
        raise BadSettings(
            f"a backup is being restored to {settings.data}, or that was interrupted: run `kith restore` once more "
            "for the same backup, or empty the folder"
        )


async def revision_of(settings: Settings) -> str | None:
    """Where the database stands; one that is newer than this program is refused and left alone."""
    refuse_half_restored(settings)
    database = await connect(settings, connections=1)
    try:
        return known(await database.revision())
    finally:
        await database.close()


def known(revision: str | None) -> str | None:
    if revision == MOVING:
        raise BadSettings(told_moving())
    if revision is not None and revision > HEAD:
        raise BadSettings(newer(revision))
    if revision is not None and is_unknown(revision):
        raise BadSettings(told_unknown(revision))
    return revision


def newer(revision: str) -> str:
    return (
        f"the database is newer than this version of Kith (it is at {revision}, this version knows {HEAD}): "
        "start the version that made it, or a later one"
    )
