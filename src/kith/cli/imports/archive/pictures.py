"""Files of archived posts: made ready by the same processes as everybody's uploads, for they come from a stranger."""

from __future__ import annotations

import tempfile
import zipfile
import zlib
from typing import IO
from urllib.parse import unquote, urlsplit

from kith.base.work import Work
from kith.cli.imports.archive.files import OpenedArchive
from kith.cli.imports.archive.notes import ArchivedFile, UnfitForImport
from kith.social.files import limits
from kith.social.files.decoder_processes import BadFile, DecoderProcesses, copying
from kith.social.files.keys import new_name
from kith.social.files.processing import is_moving, sniffed
from kith.social.ids import AccountId
from kith.social.media.processed_files import fill_in, put_away
from kith.social.media.tables import Media

__all__ = ["Finder", "made_ready"]

_CHUNK = 1 << 18


class Finder:
    """Which file of the archive an address means: by its last parts, as many of them as fit."""

    def __init__(self, archive: OpenedArchive) -> None:
        self._by_end: dict[str, str] = {}
        for name in archive.names():
            parts = name.rsplit("/", 3)[-3:]
            for places in (1, 2, 3):
                self._by_end.setdefault("/".join(parts[-places:]), name)

    def find(self, url: str) -> str | None:
        try:
            parts = unquote(urlsplit(url).path).rsplit("/", 3)[-3:]
        except ValueError:
            return None  # it is no address
        ends = ("/".join(parts[start:]) for start in range(len(parts)))
        return next((self._by_end[end] for end in ends if end in self._by_end), None)


async def made_ready(
    work: Work, archive: OpenedArchive, finder: Finder, file: ArchivedFile, owner: AccountId, *, rehearsed: bool
) -> Media:
    name = finder.find(file.path)
    if name is None:
        raise UnfitForImport(f"its file {file.path} is not in the archive")
    if archive.size(name) > limits.MOVING_BYTES:
        raise UnfitForImport(f"its file {name} is too large")
    with tempfile.TemporaryFile() as copy:
        _copy(archive, name, copy)
        found = await sniffed(copy)
        if found is None or (found.family == "image" and archive.size(name) > limits.IMAGE_BYTES):
            raise UnfitForImport(f"its file {name} is too large, or not of a kind that is shown here")
        row = _row(work, owner, file, found.mime)
        if rehearsed:
            return row
        moving = await is_moving(copy, found)
        try:
            async with work.find(DecoderProcesses).make("attachment", found, copying(copy), moving=moving) as made:
                fill_in(row, made, await put_away(work, row, made, new_name()))
        except BadFile as error:
            raise UnfitForImport(f"its file {name} {error.message}") from error
    return row


def _copy(archive: OpenedArchive, name: str, target: IO[bytes]) -> None:
    left = archive.size(name)
    try:
        with archive.open(name) as source:
            while left > 0 and (chunk := source.read(min(_CHUNK, left))):
                left -= len(chunk)
                target.write(chunk)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise UnfitForImport(f"its file {name} is damaged") from error


def _row(work: Work, owner: AccountId, file: ArchivedFile, mime: str) -> Media:
    return Media(
        id=work.new_id(),
        account_id=owner,
        status_id=None,
        scheduled_id=None,
        kind="unknown",
        state="waiting",
        file="",
        preview="",
        source="",
        mime=mime,
        description=(file.description or "")[: limits.DESCRIPTION] or None,
        meta={},
        blurhash=None,
        remote_url=None,
        preview_remote_url=None,
        error="",
        created_at=work.now,
    )
