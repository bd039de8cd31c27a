"""Synchronisations as jobs: by hand, at every save, and every two hours."""

from __future__ import annotations

import uuid
from datetime import timedelta

import msgspec
import structlog

from kith.base.db import Dangling
from kith.base.jobs import JobKind, Periodic
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.sources.ldap import store
from kith.identity.sources.ldap.directory import DirectoryFailed
from kith.identity.sources.ldap.settings import find_directory
from kith.identity.sources.ldap.sync import begin_run, synchronise

EVERY = timedelta(hours=2)
_log = structlog.get_logger()


class DirectorySync(msgspec.Struct):
    """`run` is the name of the run: the job takes it up again if its process dies."""

    source: str
    run: str


class AllDirectories(msgspec.Struct):
    """Begins a run of every enabled directory."""


async def _sync(work: Work, payload: DirectorySync) -> None:
    directory = await find_directory(work, payload.source)
    if directory is None or not directory.source.enabled:
        return
    try:
        async with work.aside() as aside:
            run = await begin_run(aside, payload.source, payload.run)
    except Dangling:
        return  # the source was deleted meanwhile
    if run is None:
        return  # another one is under way
    try:
        await synchronise(work, directory, run)
    except DirectoryFailed as error:
        _log.warning("ldap.sync_failed", source=directory.source.slug, reason=str(error))
        context = {
            "message": "The directory could not be copied.",
            "error": str(error)[:500],
            "source": {"pk": directory.source.pbm_uuid, "name": directory.source.name},
        }
        await audit.record(work, "configuration_error", "sources.ldap", context=context)


async def _sync_all(work: Work, _payload: AllDirectories) -> None:
    for source in await store.enabled_directories(work.db):
        start(work, source)


def start(work: Work, source: str) -> None:
    """Have a directory copied soon; while one waits, another is not added."""
    work.enqueue(SYNC, DirectorySync(source, str(uuid.uuid4())), key=f"ldap:{source}")


SYNC: JobKind[DirectorySync] = JobKind(
    name="identity.ldap_sync",
    payload=DirectorySync,
    handler=_sync,
    outside=True,
    concurrency=2,
    attempts=4,
    patience=timedelta(hours=2),
)
SYNC_ALL: JobKind[AllDirectories] = JobKind(name="identity.ldap_sync_all", payload=AllDirectories, handler=_sync_all)
PERIODIC = Periodic(kind=SYNC_ALL, every=EVERY, payload=AllDirectories())
