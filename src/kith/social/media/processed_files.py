"""What the workshop made, put away and written into an attachment's row."""

from __future__ import annotations

from typing import IO

from kith.base.errors import Invalid
from kith.base.work import Work
from kith.social.files import limits
from kith.social.files.decoder_processes import BadFile, DecoderProcesses, Made, copying
from kith.social.files.keys import folder_of, mime_of, new_name
from kith.social.files.processing import keep, size_of, sniffed
from kith.social.media.store import READY
from kith.social.media.tables import Media

__all__ = ["SHELF", "dress", "fill_in", "put_away", "wear"]

SHELF = "attachments"


async def put_away(work: Work, row: Media, made: Made, name: str) -> dict[str, str]:
    """Store the results; which keys they have. The same `name` gives the same keys, however often it is done."""
    folder = folder_of(SHELF, row.id)
    keys = {"file": await keep(work, made, made.outcome.file, f"{folder}/original/{name}"), "preview": ""}
    if made.outcome.preview:
        keys["preview"] = await keep(work, made, made.outcome.preview, f"{folder}/small/{name}")
    return keys


def fill_in(row: Media, made: Made, keys: dict[str, str]) -> None:
    """The row of something that is ready. What its owner set before (focus, a thumbnail) stays."""
    outcome = made.outcome
    row.state, row.source = READY, ""
    row.kind, row.file, row.mime = outcome.kind, keys["file"], mime_of(keys["file"])
    if row.preview:
        row.meta = {"original": outcome.meta["original"]} | row.meta
    else:
        row.preview, row.blurhash = keys["preview"], outcome.blurhash
        row.meta = outcome.meta | row.meta
    if row.kind != "audio":
        row.meta.pop("colors", None)


async def dress(work: Work, row: Media, thumbnail: IO[bytes]) -> None:
    """Give the row a thumbnail of its owner's choice."""
    found = await sniffed(thumbnail)
    if found is None or found.family != "image":
        raise Invalid(thumbnail="content type is invalid")
    if await size_of(thumbnail) > limits.IMAGE_BYTES:
        raise Invalid(thumbnail=f"must be smaller than {limits.IMAGE_BYTES >> 20} MB")
    try:
        async with work.find(DecoderProcesses).make("thumbnail", found, copying(thumbnail)) as made:
            key = f"{folder_of(SHELF, row.id)}/small/{new_name()}"
            row.preview = await keep(work, made, made.outcome.file, key)
            row.blurhash = made.outcome.blurhash
            row.meta = row.meta | made.outcome.meta
    except BadFile as error:
        raise Invalid(thumbnail=f"is invalid: {error.message}") from error


def wear(row: Media, dressed: Media) -> None:
    """What `dress` gave to one reading of a row, given to a newer one."""
    names = ("small", "colors") if row.kind == "audio" or row.state != READY else ("small",)
    row.preview, row.blurhash = dressed.preview, dressed.blurhash
    row.meta = row.meta | {name: dressed.meta[name] for name in names if name in dressed.meta}
