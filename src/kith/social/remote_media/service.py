"""Attachments of posts from elsewhere: fetched when somebody looks at them, made ready like an upload, and kept.

A picture is fetched at once. What plays takes long to make ready: a job does that, and until it is done whoever looks
is sent to where it came from.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from datetime import timedelta
from weakref import WeakValueDictionary

import msgspec

from kith.base.blobs import Blobs
from kith.base.errors import NotFound, Unavailable
from kith.base.http import OutgoingError
from kith.base.jobs import MAKES_ROOM, JobKind
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.admission import store as admission
from kith.social.files import limits
from kith.social.files.decoder_processes import BadFile, DecoderProcesses, Made, copying
from kith.social.files.fetches import FileFetches, download
from kith.social.files.processing import is_moving, sniffed
from kith.social.media import store
from kith.social.media.processed_files import fill_in, put_away
from kith.social.media.tables import Media
from kith.social.media.tasks import forget_folders
from kith.social.remote_media import store as fetched_files

__all__ = ["FETCH", "Arrivals", "FetchRemoteMedia", "bring", "is_rejected"]

PICTURE_SECONDS = 15.0
FILM_SECONDS = 600.0
_PLAYING = ("video", "gifv", "audio")
_FOR_NOW = ("timeout", "connect", "protocol", "busy")


class Arrivals:
    """What is being fetched, so that two who look fetch it once."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    def of(self, media_id: int) -> asyncio.Lock:
        return self._locks.setdefault(media_id, asyncio.Lock())


class FetchRemoteMedia(msgspec.Struct):
    media_id: int


async def bring(work: Work, row: Media) -> Media | None:
    """The attachment with its files; None for one that plays and is not here yet. Call it before the first write."""
    if row.file:
        return row
    kind = row.withheld_kind or row.kind
    if row.remote_url is None or kind == "unknown" or await is_from_rejected(work, row):
        raise NotFound
    found = None if kind in _PLAYING else await _picture(work, row.id)
    if found is None:
        work.enqueue(FETCH, FetchRemoteMedia(media_id=row.id), key=str(row.id))
    return found


async def is_from_rejected(work: Work, row: Media) -> bool:
    owner = await accounts.find(work.db, row.account_id)
    return owner is not None and bool(owner.domain) and await is_rejected(work, owner.domain)


async def is_rejected(work: Work, domain: str) -> bool:
    """Whether the team wants no files of a server, or nothing of it at all."""
    if work.settings.is_allow_list and await admission.find_allow(work.db, domain) is None:
        return True
    found = await admission.blocks_of(work.db, domain)
    return bool(found) and (found[0].reject_media or found[0].severity == "suspend")


async def _picture(work: Work, media_id: int) -> Media | None:
    """None for one that turns out to play."""
    async with work.find(Arrivals).of(media_id):
        row = await store.find(work.db, media_id)
        if row is None:
            raise NotFound
        if row.file:
            return row
        try:
            async with work.find(FileFetches).picture(row.remote_url or ""):
                made = await _fetched(work, row, seconds=PICTURE_SECONDS, most=limits.IMAGE_BYTES, may_play=False)
        except OutgoingError as error:
            raise (Unavailable if error.reason in _FOR_NOW else NotFound) from error
        except BadFile as error:
            raise NotFound from error
        if made is None:
            return None
        async with work.aside() as aside:  # so that whoever waits finds it kept
            kept = await _keep(aside, row.id, *made)
    if kept is None:
        raise NotFound
    return kept


async def fetch(work: Work, payload: FetchRemoteMedia) -> None:
    row = await store.find(work.db, payload.media_id)
    if row is None or row.file or row.remote_url is None or await is_from_rejected(work, row):
        return
    try:
        async with work.find(FileFetches).film(row.remote_url):
            made = await _fetched(work, row, seconds=FILM_SECONDS, most=limits.MOVING_BYTES, may_play=True)
    except BadFile:
        return
    except OutgoingError as error:
        if error.reason in _FOR_NOW:
            raise
        return
    if made is not None:
        await _keep(work, row.id, *made)


async def _fetched(
    work: Work, row: Media, *, seconds: float, most: int, may_play: bool
) -> tuple[Made, dict[str, str], int] | None:
    """What was made of it, where that is kept and how large it is; None for what plays and must not.

    Fetched twice, it lies under the same name, so that nothing is left behind by whoever came too late.
    """
    url = row.remote_url or ""
    name = hashlib.sha256(f"{row.id} {url}".encode()).hexdigest()[:32]
    with tempfile.SpooledTemporaryFile(1 << 20) as file:
        await download(work, url, file, seconds=seconds, most=most, headers={})
        found = await sniffed(file)
        if found is None:
            raise BadFile
        moving = await is_moving(file, found)
        if moving and not may_play:
            return None
        async with work.find(DecoderProcesses).make("attachment", found, copying(file), moving=moving) as made:
            keys = await put_away(work, row, made, name)
            return made, keys, sum([await work.find(Blobs).size(key) for key in keys.values() if key])


async def _keep(work: Work, media_id: int, made: Made, keys: dict[str, str], size: int) -> Media | None:
    await work.db.begin()
    row = await store.hold(work.db, media_id)
    if row is None:  # it was deleted meanwhile, and its folder with it, perhaps too early
        forget_folders(work, [media_id])
        return None
    if not row.file:
        row.meta = {name: value for name, value in row.meta.items() if name == "focus"}
        fill_in(row, made, keys)
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
        await fetched_files.arrived(work.db, row.id, size, work.now)
    return row


FETCH: JobKind[FetchRemoteMedia] = JobKind(
    name="media.fetch",
    payload=FetchRemoteMedia,
    handler=fetch,
    outside=True,
    concurrency=2,
    **MAKES_ROOM,
    attempts=4,
    patience=timedelta(minutes=70),
)
