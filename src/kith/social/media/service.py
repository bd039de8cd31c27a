"""Attachments: uploaded, described, given to a status, or gone after a day."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from typing import IO

import msgspec

from kith.base.blobs import Blobs
from kith.base.errors import Complaint, Invalid, NotFound
from kith.base.work import Work
from kith.social.files import limits
from kith.social.files.decoder_processes import BadFile, DecoderProcesses, copying
from kith.social.files.keys import new_name, upload_key
from kith.social.files.processing import is_moving, size_of, sniffed
from kith.social.files.sniff import Sniffed
from kith.social.ids import AccountId, StatusId
from kith.social.media import store
from kith.social.media.processed_files import dress, fill_in, put_away, wear
from kith.social.media.store import FAILED, READY, WAITING
from kith.social.media.tables import Media
from kith.social.media.tasks import FORGET, PROCESS, Process, RemoveFiles, forget_folders

__all__ = [
    "ALONE",
    "CannotAttach",
    "MediaChange",
    "NewMedia",
    "attach",
    "change",
    "claimable",
    "delete",
    "delete_some_of",
    "delete_with",
    "detach",
    "find_own",
    "reserve",
    "upload",
]

TOO_MANY = f"Cannot attach more than {limits.PER_STATUS} files"
MIXED = "Cannot attach a video to a post that already contains images"
UNFINISHED = "Cannot attach files that have not finished processing. Try again in a moment!"
IN_USE = "Media attachment is currently used by a status"
NOT_TAKEN = "Validation failed: File content type is invalid, File is invalid"
FAILURE = "Error processing thumbnail for uploaded media"

ALONE = ("video", "audio")
_PIECE = 256 * 1024
STRETCH = 200


class CannotAttach(BadFile):
    code = "cannot_attach"


class InUse(BadFile):
    code = "in_use"
    message = IN_USE


class NewMedia(msgspec.Struct, frozen=True):
    file: IO[bytes] | None
    thumbnail: IO[bytes] | None = None
    description: str | None = None
    focus: str | None = None


class MediaChange(msgspec.Struct, frozen=True):
    """What is None stays as it is."""

    description: str | None = None
    focus: str | None = None
    thumbnail: IO[bytes] | None = None


# Taking in


async def upload(work: Work, account_id: AccountId, new: NewMedia, *, wait: bool) -> Media:
    """Take a file in. A picture is ready at once; what plays is processed later, unless one can `wait`."""
    description, focus = _description(new.description), _focus(new.focus)
    if new.file is None:
        raise Invalid(file=Complaint("can't be blank", "blank"))
    found = await _accepted(new.file)
    moving = await is_moving(new.file, found)
    row = _blank(work, account_id, found)
    row.description = description
    row.meta = {"focus": focus} if focus else {}
    if moving and not wait:
        await _take_in(work, row, new.file, new.thumbnail)
    else:
        await _make_now(work, row, found, new, moving=moving)
    return row


async def _accepted(file: IO[bytes]) -> Sniffed:
    found = await sniffed(file)
    if found is None:
        raise BadFile(NOT_TAKEN)
    most = limits.IMAGE_BYTES if found.family == "image" else limits.MOVING_BYTES
    if await size_of(file) > most:
        raise Invalid(file=Complaint(f"must be smaller than {most >> 20} MB", "too_long"))
    return found


def _blank(work: Work, account_id: AccountId, found: Sniffed) -> Media:
    guess = "gifv" if found.mime == "image/gif" else "audio" if found.mime.startswith("audio/") else "video"
    return Media(
        id=work.new_id(),
        account_id=account_id,
        status_id=None,
        scheduled_id=None,
        kind=guess,
        state=WAITING,
        file="",
        preview="",
        source="",
        mime=found.mime,
        description=None,
        meta={},
        blurhash=None,
        remote_url=None,
        preview_remote_url=None,
        error="",
        created_at=work.now,
    )


async def _take_in(work: Work, row: Media, file: IO[bytes], thumbnail: IO[bytes] | None) -> None:
    """The file is stored before the row that speaks of it is committed, and the job is committed with the row."""
    row.source = upload_key(row.id, new_name())
    await work.find(Blobs).put(row.source, _pieces(file), "application/octet-stream", "no-store")
    if thumbnail is not None:
        await dress(work, row, thumbnail)
    await store.insert(work.db, row)
    work.enqueue(PROCESS, Process(media_id=row.id))


async def _make_now(work: Work, row: Media, found: Sniffed, new: NewMedia, *, moving: bool) -> None:
    """A note that files are coming is kept first: if no row ever follows them, the sweep knows what to remove."""
    assert new.file is not None  # noqa: S101 - the caller looked
    async with work.find(DecoderProcesses).make("attachment", found, copying(new.file), moving=moving) as made:
        note = upload_key(row.id, new_name())
        await work.find(Blobs).put(note, b"", "application/octet-stream", "no-store")
        if moving and new.thumbnail is not None:
            await dress(work, row, new.thumbnail)
        fill_in(row, made, await put_away(work, row, made, new_name()))
    await store.insert(work.db, row)
    work.enqueue(FORGET, RemoveFiles(keys=[note]))


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    await asyncio.to_thread(file.seek, 0)
    while piece := await asyncio.to_thread(file.read, _PIECE):
        yield piece


def _description(text: str | None) -> str | None:
    if text is not None and len(text) > limits.DESCRIPTION:
        raise Invalid(description=Complaint(f"is too long (maximum is {limits.DESCRIPTION} characters)", "too_long"))
    return text.strip() or None if text is not None else None


def _focus(text: str | None) -> dict[str, float] | None:
    """`x,y`, each between -1 and 1; what lies a little outside is brought to the rim."""
    if text is None or not text.strip():
        return None
    try:
        x, y = (float(part) for part in text.split(","))
    except ValueError as error:
        raise Invalid(focus="must be two numbers between -1 and 1, such as 0.5,-0.2") from error
    if not (math.isfinite(x) and math.isfinite(y)):
        raise Invalid(focus="must be two numbers between -1 and 1, such as 0.5,-0.2")
    return {"x": max(-1.0, min(1.0, x)), "y": max(-1.0, min(1.0, y))}


# Looking and changing, as long as it belongs to nothing


async def find_own(work: Work, account_id: AccountId, id: int, *, status_id: StatusId | None = None) -> Media:
    """What its owner has uploaded and posted with `status_id` or not at all; a failed one is an error."""
    row = await store.find(work.db, id)
    if row is None or row.account_id != account_id or not _belongs(row, status_id):
        raise NotFound
    if row.state == FAILED:
        raise BadFile(FAILURE)
    return row


async def change(
    work: Work, account_id: AccountId, id: int, change: MediaChange, *, status_id: StatusId | None = None
) -> Media:
    """Describe it anew. Once it is posted that is only done by editing the post: `status_id`."""
    description, focus = _description(change.description), _focus(change.focus)
    dressed = await find_own(work, account_id, id, status_id=status_id)
    can_dress = change.thumbnail is not None and dressed.kind != "image"
    if change.thumbnail is not None and can_dress:
        await dress(work, dressed, change.thumbnail)
    row = await store.hold(work.db, dressed.id)
    if row is None or not _belongs(row, status_id):
        raise NotFound
    if change.description is not None:
        row.description = description
    if focus is not None:
        row.meta = row.meta | {"focus": focus}
    if can_dress:
        if row.preview and row.status_id is None:  # the history of a post goes on showing it
            work.enqueue(FORGET, RemoveFiles(keys=[row.preview]))
        wear(row, dressed)
    await store.describe(work.db, row)
    return row


async def delete(work: Work, account_id: AccountId, id: int) -> None:
    row = await store.find(work.db, id)
    if row is None or row.account_id != account_id:
        raise NotFound
    if not _belongs(row, None) or not await store.delete_loose(work.db, [row.id]):
        raise InUse
    _forget(work, [row])


def _forget(work: Work, rows: Sequence[Media]) -> None:
    forget_folders(work, [row.id for row in rows])
    if sources := [row.source for row in rows if row.source]:
        work.enqueue(FORGET, RemoveFiles(keys=sources))


def _belongs(row: Media, status_id: StatusId | None) -> bool:
    return row.status_id in (None, status_id) and row.scheduled_id is None


# Giving to a status


async def claimable(
    work: Work,
    account_id: AccountId,
    ids: Sequence[int],
    *,
    status_id: StatusId | None = None,
    held_by: int | None = None,
) -> list[int]:
    """The attachments a post may carry, in the order asked for, each once.

    Those of the post itself (`status_id`, when it is edited; `held_by`, when it was scheduled) are among them. Ask
    before the first write; `attach` holds to it.
    """
    wanted = list(dict.fromkeys(ids))
    if len(wanted) > limits.PER_STATUS:
        raise CannotAttach(TOO_MANY)
    found = await store.of_ids(work.db, wanted)
    free = {row.id: row for row in found.values() if _is_free(row, account_id, status_id, held_by)}
    if missing := [id for id in wanted if id not in free]:
        raise _missing(missing)
    if any(row.state != READY for row in free.values()):
        raise CannotAttach(UNFINISHED)
    if len(free) > 1 and any(row.kind in ALONE for row in free.values()):
        raise CannotAttach(MIXED)
    return wanted


def _is_free(row: Media, account_id: AccountId, status_id: StatusId | None, held_by: int | None) -> bool:
    is_ours = row.status_id in (None, status_id) and row.scheduled_id in (None, held_by)
    return row.account_id == account_id and is_ours


async def attach(work: Work, ids: Sequence[int], status_id: StatusId) -> None:
    """Give them to the status, in its transaction; of two posts that want the same file one is refused."""
    if ids and await store.attach(work.db, ids, status_id) < len(ids):
        raise _missing(ids)


async def reserve(work: Work, ids: Sequence[int], scheduled_id: int) -> None:
    """Keep them for a scheduled post, in its transaction."""
    if ids and await store.reserve(work.db, ids, scheduled_id) < len(ids):
        raise _missing(ids)


async def detach(work: Work, ids: Sequence[int]) -> None:
    """Take them from the post they belong to; they have a day to find another."""
    await store.detach(work.db, ids, work.now)


def _missing(ids: Sequence[int]) -> CannotAttach:
    return CannotAttach(f"Media {', '.join(map(str, ids))} not found or already attached to another post")


async def delete_with(work: Work, ids: Sequence[int]) -> None:
    """Delete attachments together with what they belonged to."""
    rows = list((await store.of_ids(work.db, ids)).values())
    await store.detach(work.db, [row.id for row in rows], work.now)
    await store.delete_loose(work.db, [row.id for row in rows])
    _forget(work, rows)


async def delete_some_of(work: Work, account_id: AccountId) -> bool:
    """Attachments of an account that goes away, with their files; whether there may be more."""
    ids = await store.ids_of_account(work.db, account_id, most=STRETCH)
    await delete_with(work, ids)
    return len(ids) == STRETCH
