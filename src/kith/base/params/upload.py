"""A file that came with a request."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from tempfile import SpooledTemporaryFile

from kith.base import asking
from kith.base.errors import Throttled

__all__ = ["SPOOL_BYTES", "Upload", "closing"]

SPOOL_BYTES = 256 * 1024
MOST_OF_ONE = 1 << 30  # bytes of files that one caller is sending, in all requests together
AGAIN_SECONDS = 30

_sending: Counter[str] = Counter()  # callers, and the bytes of theirs that lie on the disk


class Upload:
    """`filename` and `content_type` are the client's words; `file` stands at its start.

    The file lives as long as the request: whoever needs it longer copies it.
    """

    __slots__ = ("_kept", "_of", "content_type", "file", "filename", "size")

    def __init__(self, filename: str, content_type: str) -> None:
        self.filename = filename
        self.content_type = content_type
        self.size = 0
        self._of = asking.caller() or ""
        self._kept = 0
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

    def make_room(self, size: int) -> None:
        """Before so many bytes more are written to the disk. Refuses whoever has as much under way as one may."""
        if _sending[self._of] + size > MOST_OF_ONE:
            raise Throttled(AGAIN_SECONDS)
        _sending[self._of] += size
        self._kept += size

    def close(self) -> None:
        kept, self._kept = self._kept, 0
        _sending[self._of] -= kept
        if not _sending[self._of]:
            del _sending[self._of]
        self.file.close()

    def __repr__(self) -> str:
        return f"Upload({self.filename!r}, {self.content_type!r}, {self.size} bytes)"


def closing(uploads: list[Upload]) -> Callable[[], Awaitable[None]]:
    """What closes `uploads` when their request ends; removing a large one from the disk may take a while."""

    async def close() -> None:
        for upload in uploads:
            if upload.size > SPOOL_BYTES:
                await asyncio.to_thread(upload.close)
            else:
                upload.close()

    return close
