"""Attachments, and the files of everything that is shown: copied from Mastodon's folder or bucket."""

from __future__ import annotations

import asyncio
import re
from pathlib import PurePosixPath
from typing import Any

import msgspec

from kith.base.blobs import BadKey, Blobs
from kith.base.errors import NotFound, Problem
from kith.cli.imports.mastodon.move import Move, RowBatch
from kith.cli.imports.mastodon.staging import Row
from kith.cli.imports.mastodon.values import document, must_at, text
from kith.social.files.keys import MIMES, folder_of, mime_of
from kith.social.files.sniff import sniff
from kith.social.ids import AccountId, StatusId
from kith.social.media.tables import Media

__all__ = ["folder_there", "media_row", "take_emoji_files", "take_media", "take_media_files", "take_pictures", "told"]

_KINDS = ("image", "gifv", "video", "unknown", "audio")
_ENDINGS = {"jpeg": "jpg", "jfif": "jpg", "m4v": "mp4"}
_PLAYED = (("moving", "mp4"), ("moving", "mp3"))
_STEM = re.compile(r"[A-Za-z0-9_-]{1,100}")
_FEW_DIGITS = 1_000_000_000
MOST_BYTES = 512 << 20
HEAD_BYTES = 4096
AT_ONCE = 8


def media_row(move: Move, row: Row) -> Media:
    meta = document(row, "file_meta")
    remote, number = text(row, "remote_url") or None, int(row["type"] or 0)
    return Media(
        id=row["id"],
        account_id=AccountId(row["account_id"]),
        status_id=StatusId(row["status_id"]) if row["status_id"] is not None else None,
        scheduled_id=None,
        kind=_KINDS[number] if 0 <= number < len(_KINDS) else "unknown",
        state="ready",
        file="",
        preview="",
        source="",
        mime=text(row, "file_content_type")[:100],
        description=text(row, "description") or None,
        meta=meta if isinstance(meta, dict) else {},
        blurhash=text(row, "blurhash")[:100] or None,
        remote_url=remote,
        preview_remote_url=text(row, "thumbnail_remote_url") or None,
        error="",
        created_at=must_at(row, "created_at", move.started_at),
    )


def told(row: Media) -> Any:
    """As the history of a post keeps it."""
    return msgspec.to_builtins(row)


async def take_media(move: Move, batch: RowBatch) -> None:
    for row in batch.items:
        batch.rows.add("social_media", **msgspec.structs.asdict(media_row(move, row)))
        batch.taken += 1


async def take_media_files(move: Move, batch: RowBatch) -> None:
    async def one(row: Row) -> None:
        name, folder = text(row, "file_file_name"), folder_of("attachments", row["id"])
        there = f"media_attachments/files/{folder_there(row['id'])}"
        file = await _copy(move, batch, f"{there}/original/{name}", f"{folder}/original", row["id"])
        if file is None:
            return
        small = f"{PurePosixPath(name).stem}.png" if text(row, "type") in ("1", "2") else name
        thumbnail = text(row, "thumbnail_file_name")
        if thumbnail:
            path = f"media_attachments/thumbnails/{folder_there(row['id'])}/original/{thumbnail}"
        else:
            path = f"{there}/small/{small}"
        preview = None
        if text(row, "type") != "4" or thumbnail:
            preview = await _copy(move, batch, path, f"{folder}/small", row["id"], is_needed=False)
        batch.rows.change("social_media", row["id"], file=file, preview=preview or "", mime=mime_of(file))
        batch.taken += 1

    await _some_at_once(batch, one)


async def take_pictures(move: Move, batch: RowBatch) -> None:
    async def one(row: Row) -> None:
        for shelf, name in (("avatars", "avatar"), ("headers", "header")):
            file = text(row, f"{name}_file_name")
            if not file:
                continue
            there, folder = f"accounts/{shelf}/{folder_there(row['id'])}", folder_of(shelf, row["id"])
            kept = await _copy(move, batch, f"{there}/original/{file}", f"{folder}/original", row["username"])
            if kept is None:
                continue
            static = None
            if kept.endswith(".gif"):
                still = f"{there}/static/{PurePosixPath(file).stem}.png"
                static = await _copy(move, batch, still, f"{folder}/static", row["username"], is_needed=False)
            batch.rows.change("social_accounts", row["id"], **{name: kept, f"{name}_static": static or kept})
            batch.taken += 1

    await _some_at_once(batch, one)


async def take_emoji_files(move: Move, batch: RowBatch) -> None:
    async def one(row: Row) -> None:
        file, folder = text(row, "image_file_name"), folder_of("emojis", row["id"])
        there = f"custom_emojis/images/{folder_there(row['id'])}"
        kept = await _copy(move, batch, f"{there}/original/{file}", f"{folder}/original", row["shortcode"])
        if kept is not None:
            still = f"{there}/static/{PurePosixPath(file).stem}.png"
            static = await _copy(move, batch, still, f"{folder}/static", row["shortcode"], is_needed=False)
            batch.rows.change("social_emojis", row["id"], file=kept, static_file=static or kept)
            batch.taken += 1

    await _some_at_once(batch, one)


async def _some_at_once(batch: RowBatch, one: Any) -> None:
    """Copying waits for disks and buckets, so before the first write and some at a time."""
    room = asyncio.Semaphore(AT_ONCE)

    async def within(row: Row) -> None:
        async with room:
            await one(row)

    await asyncio.gather(*(within(row) for row in batch.items))


async def _copy(
    move: Move, batch: RowBatch, path: str, folder: str, name: object, *, is_needed: bool = True
) -> str | None:
    """Copy one file; its key here, or None where it is left out."""
    assert move.media is not None  # noqa: S101 - no files are asked for without it
    try:
        return await _copied(move.media, batch.work.find(Blobs), path, folder, is_rehearsed=batch.is_rehearsed)
    except (NotFound, BadKey):
        why = f"its file {path} is not there"
    except _Unfit as unfit:
        why = f"its file {path} {unfit}"
    except Problem as problem:
        why = f"its file {path} could not be read: {problem.message}"
    if is_needed:
        batch.leave(name, why)
    return None


class _Unfit(ValueError):  # noqa: N818 - it says what is wrong
    """A file that is not shown here."""


async def _copied(source: Blobs, target: Blobs, path: str, folder: str, *, is_rehearsed: bool) -> str:
    size = await source.size(path)
    if not 0 < size <= MOST_BYTES:
        raise _Unfit("is empty or too large")
    head = b"".join([part async for part in await source.stream(path, 0, min(size, HEAD_BYTES))])
    found, ending = sniff(head), PurePosixPath(path).suffix[1:].lower()
    ending = _ENDINGS.get(ending, ending)
    stem = PurePosixPath(path).stem
    is_fit = found is not None and (found.mime == MIMES.get(ending) or (found.family, ending) in _PLAYED)
    if not is_fit or not _STEM.fullmatch(stem):
        raise _Unfit("is not of a kind that is shown here")
    key = f"{folder}/{stem}.{ending}"
    if not is_rehearsed and not await target.exists(key):
        await target.put(key, await source.stream(path), mime_of(key))
    return key


def folder_there(id: int) -> str:
    """Where files of the thing with this number lie: its digits in threes, of which an incomplete last is dropped."""
    digits = f"{id:09d}" if id < _FEW_DIGITS else f"{id:012d}"
    return "/".join(digits[place : place + 3] for place in range(0, len(digits) - len(digits) % 3, 3))
