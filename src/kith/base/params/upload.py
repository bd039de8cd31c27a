"""A file that came with a request."""

from __future__ import annotations

import asyncio
from tempfile import SpooledTemporaryFile
from typing import Any

from litestar import Request
from litestar.datastructures import UploadFile
from litestar.utils.scope.state import ScopeState

__all__ = ["SPOOL_BYTES", "Upload", "close_with"]

SPOOL_BYTES = 256 * 1024


class Upload:
    """`filename` and `content_type` are the client's words; `file` stands at its start.

    The file lives as long as the request: whoever needs it longer copies it.
    """

    __slots__ = ("content_type", "file", "filename", "size")

    def __init__(self, filename: str, content_type: str) -> None:
        self.filename = filename
        self.content_type = content_type
        self.size = 0
        self.file: SpooledTemporaryFile[bytes] = SpooledTemporaryFile(max_size=SPOOL_BYTES)  # noqa: SIM115

    @classmethod
    def holding(cls, content: bytes, content_type: str) -> Upload:
        """A file whose content is known already; it stays in memory."""
        upload = cls("", content_type)
        upload.size = len(content)
        upload.file = SpooledTemporaryFile(max_size=0)  # noqa: SIM115 - without a bound, it never goes to a disk
        upload.file.write(content)
        upload.file.seek(0)
        return upload

    def close(self) -> None:
        self.file.close()

    def __repr__(self) -> str:
        return f"Upload({self.filename!r}, {self.content_type!r}, {self.size} bytes)"


def close_with(request: Request[Any, Any, Any], uploads: list[Upload]) -> None:
    """Close `uploads` when `request` ends, however it ends.

    Litestar closes the files of the form it keeps for a request after everything else, so ours stand there. A
    generator dependency would be left open when another dependency fails after it.
    """
    ScopeState.from_scope(request.scope).form = {"uploads": _Ending(uploads)}


class _Ending(UploadFile):
    __slots__ = ("uploads",)

    def __init__(self, uploads: list[Upload]) -> None:
        self.uploads = uploads

    async def close(self) -> None:
        for upload in self.uploads:
            if upload.size > SPOOL_BYTES:
                await asyncio.to_thread(upload.close)
            else:
                upload.close()
