"""What the commands share: settings, an open house, and saying things to people or to programs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import click
import msgspec

from kith.app import House, open_house
from kith.base.db import connect
from kith.base.settings import BadSettings, Settings, load
from kith.migrations import HEAD

Result = TypeVar("Result")

as_json = click.option("--json", "as_json", is_flag=True, help="Say it in JSON, for scripts.")


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(coroutine)


def say(value: object) -> None:
    """One JSON value on one line."""
    click.echo(msgspec.json.encode(value).decode())


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    """For a command beside a running server, or without one."""
    settings = load()
    await refuse_other_schema(settings)
    async with open_house(settings, connections=2) as opened:
        yield opened


async def refuse_other_schema(settings: Settings) -> None:
    if settings.is_sqlite and not settings.sqlite_path.exists():
        raise BadSettings(f"there is no database at {settings.sqlite_path} yet: run `kith migrate` or `kith serve`")
    if await revision_of(settings) != HEAD:
        raise BadSettings("the database is older than this Kith: run `kith migrate`")


async def revision_of(settings: Settings) -> str | None:
    """Where the database stands; one that is newer than this program is refused and left alone."""
    database = await connect(settings, connections=1)
    try:
        revision = await database.revision()
    finally:
        await database.close()
    if revision is not None and revision > HEAD:
        raise BadSettings(newer(revision))
    return revision


def newer(revision: str) -> str:
    return (
        f"the database is newer than this Kith (it is at {revision}, this program knows {HEAD}): "
        "start the version that made it, or a later one"
    )
