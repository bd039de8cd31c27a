"""What becomes of attachments later: they are processed, swept up, and their files forgotten."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from kith.base.blobs import Blobs
from kith.base.errors import NotFound
from kith.base.ids import at_of
from kith.base.jobs import MAKES_ROOM, JobKind
from kith.base.work import Work
from kith.social.files.decoder_processes import BadFile, DecoderProcesses, Fill
from kith.social.files.keys import UPLOADS, folder_of, id_of_upload
from kith.social.files.sniff import Sniffed
from kith.social.media import store
from kith.social.media.processed_files import SHELF, fill_in, put_away
from kith.social.media.store import WAITING
from kith.social.media.tables import Media

__all__ = ["FORGET", "PROCESS", "SWEEP", "Process", "RemoveFiles", "SweepMedia", "forget_folders"]

LOOSE_DAYS = 1
BATCH = 500


class Process(msgspec.Struct):
    media_id: int


class RemoveFiles(msgspec.Struct):
    """Files to remove, now that no row speaks of them: by name, and all below a folder."""

    keys: list[str] = []
    folders: list[str] = []


class SweepMedia(msgspec.Struct):
    """What has belonged to nothing for a day, and what a crash left in the way."""


async def process(work: Work, payload: Process) -> None:
    """Make an upload ready. Started twice, it makes the same files twice, and one row of them once."""
    row = await store.find(work.db, payload.media_id)
    if row is None or row.state != WAITING:
        return
    file = Sniffed(row.mime, "image" if row.mime == "image/gif" else "moving")
    source = row.source
    name = source.rpartition("/")[2]
    try:
        async with work.find(DecoderProcesses).make(
            "attachment", file, _fetching(work, source), moving=True, of=row.account_id
        ) as made:
            keys = await put_away(work, row, made, name)
    except (BadFile, NotFound) as error:
        await store.fail(work.db, row.id, error.message)
        work.enqueue(FORGET, RemoveFiles(keys=[source]))
        return
    held = await store.hold(work.db, row.id)
    if held is None:  # it was deleted meanwhile, and its folder with it, perhaps too early
        forget_folders(work, [row.id])
    elif held.state == WAITING:
        fill_in(held, made, keys)
        await _finish(work, held)
    work.enqueue(FORGET, RemoveFiles(keys=[source]))


async def _finish(work: Work, row: Media) -> None:
    await store.finish(
        work.db,
        row.id,
        kind=row.kind,
        file=row.file,
        preview=row.preview,
        mime=row.mime,
        meta=row.meta,
        blurhash=row.blurhash,
    )


def _fetching(work: Work, key: str) -> Fill:
    async def fill(path: Path) -> None:
        pieces = await work.find(Blobs).stream(key)
        with path.open("xb") as file:
            async for piece in pieces:
                await asyncio.to_thread(file.write, piece)

    return fill


def forget_folders(work: Work, ids: list[int]) -> None:
    """Have all files of these attachments removed, once their rows are gone."""
    for start in range(0, len(ids), 100):
        folders = [folder_of(SHELF, id) for id in ids[start : start + 100]]
        work.enqueue(FORGET, RemoveFiles(folders=folders))


async def forget(work: Work, payload: RemoveFiles) -> None:
    blobs = work.find(Blobs)
    await blobs.delete(payload.keys)
    for folder in payload.folders:
        await blobs.delete([key async for key in blobs.list(folder)])


async def sweep(work: Work, _payload: SweepMedia) -> None:
    before = work.now - timedelta(days=LOOSE_DAYS)
    await asyncio.to_thread(work.find(DecoderProcesses).clear)
    stale = await _stale_uploads(work, before)
    loose = await store.orphans(work.db, before, BATCH)
    gone = await store.delete_loose(work.db, loose)
    forget_folders(work, gone)
    if stale:
        known = await store.known(work.db, list(stale))
        forget_folders(work, [id for id in stale if id not in known])
        work.enqueue(FORGET, RemoveFiles(keys=[key for keys in stale.values() for key in keys]))
    if len(loose) == BATCH:
        work.enqueue(SWEEP, SweepMedia(), key="more")


async def _stale_uploads(work: Work, before: datetime) -> dict[int, list[str]]:
    """What has waited for longer than a day for a row that never came, or no longer needs it."""
    found: dict[int, list[str]] = {}
    async for key in work.find(Blobs).list(UPLOADS):
        id = id_of_upload(key)
        if id is not None and at_of(id) < before:
            found.setdefault(id, []).append(key)
    waiting = await store.waiting(work.db, list(found)) if found else set()
    return {id: keys for id, keys in found.items() if id not in waiting}


PROCESS: JobKind[Process] = JobKind(
    name="media.process",
    payload=Process,
    handler=process,
    outside=True,
    concurrency=2,
    **MAKES_ROOM,
    attempts=4,
    patience=timedelta(minutes=70),
)
FORGET: JobKind[RemoveFiles] = JobKind(
    name="media.forget", payload=RemoveFiles, handler=forget, outside=True, concurrency=2
)
SWEEP: JobKind[SweepMedia] = JobKind(
    name="media.sweep", payload=SweepMedia, handler=sweep, outside=True, concurrency=1, patience=timedelta(minutes=30)
)
