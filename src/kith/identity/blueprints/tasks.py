"""Blueprints are applied by the worker: each in a transaction of its own, one after the other."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import msgspec

from kith.base.jobs import JobKind
from kith.base.logger import Logger
from kith.base.work import Work, Works
from kith.identity.blueprints import folder, service

__all__ = ["APPLY", "DISCOVER", "ApplyBlueprint", "DiscoverBlueprints", "watch_folder"]

EVERY_SECONDS = 3.0
_log = Logger()


class DiscoverBlueprints(msgspec.Struct):
    """Look through the folder, and apply what is new, changed or failed before."""


class ApplyBlueprint(msgspec.Struct):
    instance_uuid: str


async def discover(work: Work, _payload: DiscoverBlueprints) -> None:
    async with work.aside() as own:
        await own.db.hold("identity.blueprints")
        due = await service.discover(own)
    for id in due:
        await service.apply_instance(work, id)


async def apply_one(work: Work, payload: ApplyBlueprint) -> None:
    await service.apply_instance(work, payload.instance_uuid)


DISCOVER: JobKind[DiscoverBlueprints] = JobKind(
    name="blueprints.discover",
    payload=DiscoverBlueprints,
    handler=discover,
    outside=True,
    concurrency=1,
    patience=timedelta(minutes=30),
)
APPLY: JobKind[ApplyBlueprint] = JobKind(
    name="blueprints.apply",
    payload=ApplyBlueprint,
    handler=apply_one,
    outside=True,
    concurrency=1,
    patience=timedelta(minutes=30),
)


async def watch_folder(works: Works) -> None:
    """At the start, and whenever a file of the folder is new, changed or gone, have it looked through."""
    seen: list[folder.BlueprintFile] | None = None
    while True:
        files = await asyncio.to_thread(folder.found_files, folder.folder_of(works.settings))
        if files != (seen or []):
            try:
                async with works.begin() as work:
                    work.enqueue(DISCOVER, DiscoverBlueprints(), key="folder")
                seen = files
            except Exception as error:  # noqa: BLE001 - a database that is away for a moment; asked again
                _log.warning("blueprints.not_looked_at", error=repr(error))
        await asyncio.sleep(EVERY_SECONDS)
