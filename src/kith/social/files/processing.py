"""What other rooms have done with files: looked at, made into what is shown, and kept."""

from __future__ import annotations

import asyncio
from typing import IO

import msgspec

from kith.base.blobs import Blobs
from kith.base.work import Work
from kith.social.files import limits
from kith.social.files.decoder_processes import BadFile, Craft, DecoderProcesses, Made, copying
from kith.social.files.keys import folder_of, mime_of, new_name
from kith.social.files.sniff import HEAD_BYTES, Sniffed, is_animated_gif, sniff

__all__ = [
    "Picture",
    "Shaped",
    "is_moving",
    "keep",
    "shape_avatar",
    "shape_header",
    "shape_preview",
    "size_of",
    "sniffed",
]

_PROFILE = {"image/png", "image/jpeg", "image/gif", "image/webp"}


class Picture(msgspec.Struct, frozen=True):
    """A stored picture that stands for something: the key of its file, its measures and its blurhash."""

    key: str
    width: int
    height: int
    blurhash: str


class Shaped(msgspec.Struct, frozen=True):
    """The keys of a stored picture; `static` is another one only if the picture moves."""

    file: str
    static: str


async def shape_avatar(work: Work, account_id: int, file: IO[bytes], *, name: str | None = None) -> Shaped:
    """400 by 400, cut from the middle. Raises `BadFile`; call it before the first write."""
    return await _profile_picture(work, "avatar", "avatars", account_id, file, name)


async def shape_header(work: Work, account_id: int, file: IO[bytes], *, name: str | None = None) -> Shaped:
    """As much as 1500 by 500 hold, in its own proportions. Raises `BadFile`; call it before the first write."""
    return await _profile_picture(work, "header", "headers", account_id, file, name)


async def shape_preview(work: Work, shelf: str, id: int, file: IO[bytes], *, name: str | None = None) -> Picture:
    """As much as 640 by 360 hold, kept on `shelf` (`cards`, ...). Raises `BadFile`; call it before the first write."""
    found = await sniffed(file)
    await _check(file, limits.IMAGE_BYTES, is_taken=found is not None and found.family == "image")
    assert found is not None  # noqa: S101 - checked above
    async with work.find(DecoderProcesses).make("preview", found, copying(file)) as made:
        key = await keep(work, made, made.outcome.file, f"{folder_of(shelf, id)}/small/{name or new_name()}")
        small = made.outcome.meta["small"]
        return Picture(key, small["width"], small["height"], made.outcome.blurhash or "")


async def _profile_picture(
    work: Work, craft: Craft, shelf: str, account_id: int, file: IO[bytes], name: str | None
) -> Shaped:
    found = await sniffed(file)
    await _check(file, limits.PROFILE_BYTES, is_taken=found is not None and found.mime in _PROFILE)
    assert found is not None  # noqa: S101 - checked above
    async with work.find(DecoderProcesses).make(craft, found, copying(file)) as made:
        folder, name = folder_of(shelf, account_id), name or new_name()
        kept = await keep(work, made, made.outcome.file, f"{folder}/original/{name}")
        if not made.outcome.static:
            return Shaped(kept, kept)
        return Shaped(kept, await keep(work, made, made.outcome.static, f"{folder}/static/{name}"))


async def _check(file: IO[bytes], most: int, *, is_taken: bool) -> None:
    if not is_taken:
        raise BadFile("content type is invalid")
    if await size_of(file) > most:
        raise BadFile(f"must be smaller than {most >> 20} MB")


async def keep(work: Work, made: Made, name: str, key: str) -> str:
    """Store one of the results under `key` and its ending; the whole key."""
    full = f"{key}.{name.rpartition('.')[2]}"
    await work.find(Blobs).put(full, made.folder / name, mime_of(full))
    return full


async def sniffed(file: IO[bytes]) -> Sniffed | None:
    def head() -> bytes:
        file.seek(0)
        return file.read(HEAD_BYTES)

    return sniff(await asyncio.to_thread(head))


async def is_moving(file: IO[bytes], found: Sniffed) -> bool:
    """Whether it plays, which takes long to process."""
    if found.mime == "image/gif":
        return await asyncio.to_thread(is_animated_gif, file)
    return found.family == "moving"


async def size_of(file: IO[bytes]) -> int:
    def end() -> int:
        return file.seek(0, 2)

    return await asyncio.to_thread(end)
