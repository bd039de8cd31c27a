"""Multipart bodies: text in memory, files to disk, piece by piece as they arrive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from multipart import (  # type: ignore[import-untyped]
    MultipartError,
    MultipartSegment,
    PushMultipartParser,
)

from kith.base.catalogues import counted
from kith.base.errors import Malformed, TooLarge
from kith.base.params.limits import BodyLimits
from kith.base.params.upload import SPOOL_BYTES, Upload

__all__ = ["MultipartForm", "read_parts"]

_LONGEST_BOUNDARY = 200


class MultipartForm:
    """What has been read of one multipart body; `pairs` holds texts and uploads in the order they came."""

    def __init__(self, limits: BodyLimits) -> None:
        self.pairs: list[tuple[str, Any]] = []
        self.uploads: list[Upload] = []
        self._limits = limits
        self._text_bytes = 0
        self._file_bytes = 0
        self._name = ""
        self._upload: Upload | None = None
        self._keep = True
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0

    def close(self) -> None:
        for upload in self.uploads:
            upload.close()

    def open(self, part: MultipartSegment) -> None:
        self._name = _plain(part.name or "")
        self._upload = None
        is_file = part.filename is not None
        self._keep = not is_file or self._limits.max_files > 0
        if is_file and self._keep:
            if len(self.uploads) >= self._limits.max_files:
                raise TooLarge(
                    counted(
                        "There is more than {count} file", "There are more than {count} files", self._limits.max_files
                    )
                )
            self._upload = Upload(_plain(part.filename or ""), part.content_type or "")
            self.uploads.append(self._upload)

    async def write(self, chunk: bytes) -> None:
        if self._upload is not None:
            self._file_bytes += len(chunk)
            if self._file_bytes > self._limits.max_file_bytes:
                raise TooLarge
            await self._store(self._upload, chunk)
            return
        self._text_bytes += len(chunk)
        if self._text_bytes > self._limits.max_bytes:
            raise TooLarge
        if self._keep:
            self._waiting.append(chunk)

    async def _store(self, upload: Upload, chunk: bytes) -> None:
        upload.size += len(chunk)
        if upload.size <= SPOOL_BYTES:
            upload.file.write(chunk)
            return
        upload.make_room(len(chunk))
        self._waiting.append(chunk)
        self._waiting_bytes += len(chunk)
        if self._waiting_bytes >= SPOOL_BYTES:
            await self._flush(upload)

    async def _flush(self, upload: Upload) -> None:
        if self._waiting:
            chunks, self._waiting, self._waiting_bytes = self._waiting, [], 0
            await asyncio.to_thread(upload.file.writelines, chunks)

    async def finish(self) -> None:
        if self._upload is None:
            text, self._waiting = b"".join(self._waiting), []
            if self._keep and self._name:
                self.pairs.append((self._name, _decoded(text)))
            return
        await self._flush(self._upload)
        if self._upload.filename or self._upload.size:
            self._upload.file.seek(0)
            self.pairs.append((self._name, self._upload))
        else:  # a file input that was left empty
            self.uploads.pop().close()


def _plain(text: str) -> str:
    if "\0" in text:
        raise Malformed("The parameters hold a NUL character")
    return text


def _decoded(text: bytes) -> str:
    try:
        return _plain(text.decode())
    except UnicodeDecodeError as error:
        raise Malformed("The parameters are not valid UTF-8") from error


async def read_parts(chunks: AsyncIterator[bytes], boundary: str, limits: BodyLimits) -> MultipartForm:
    """Read a multipart body to its end; its files are open in the answer, and closed when this fails."""
    if not 0 < len(boundary) <= _LONGEST_BOUNDARY:
        raise Malformed("The multipart boundary is missing or too long")
    form = MultipartForm(limits)
    try:
        await _parse(chunks, boundary, form, limits)
    except MultipartError as error:
        form.close()
        raise Malformed(f"The multipart body could not be read: {error.args[0]}") from error
    except BaseException:
        form.close()
        raise
    return form


async def _parse(chunks: AsyncIterator[bytes], boundary: str, form: MultipartForm, limits: BodyLimits) -> None:
    parser = PushMultipartParser(boundary, max_segment_count=limits.count + limits.max_files)
    is_empty = True
    async for chunk in chunks:
        is_empty = False
        for event in parser.parse(chunk):
            if isinstance(event, MultipartSegment):
                form.open(event)
            elif event is None:
                await form.finish()
            else:
                await form.write(bytes(event))
    parser.close(check_complete=not is_empty)
