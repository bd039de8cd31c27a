"""Stored files: each read once in its life, and only named by every later backup."""

from __future__ import annotations

import asyncio
import mimetypes
import zlib
from collections.abc import AsyncIterator, Callable

import msgspec

from kith.backup.manifest import FileEntry, Manifest
from kith.backup.repository import Repository
from kith.base.blobs import TRIAL_KEY, Blobs
from kith.base.errors import NotFound

__all__ = ["Gatherer", "put_back"]

PIECE = 4 << 20
_AT_ONCE = 4
_USUAL_PAGE = 512
Tell = Callable[[int], None]


class Gatherer:
    """Two rounds, before and after the moment of the database.

    What the database names at its moment was there in the first round, or was written since and is found in the
    second. What the first has read and somebody deleted since is kept all the same: the database may still name it.
    """

    def __init__(self, repository: Repository, blobs: Blobs) -> None:
        self._repository = repository
        self._blobs = blobs
        self._known: dict[str, FileEntry] = {}
        self._found: dict[str, FileEntry] = {}
        self.gone = 0

    async def learn(self, before: Manifest | None) -> None:
        """What an earlier backup has; a file whose pieces are missing is read again."""
        if before is not None:
            for file in await self._repository.files(before):
                if self._repository.chunks.issuperset(file.chunks):
                    self._known[file.key] = file

    async def gather(self, tell: Tell) -> None:
        new: list[tuple[str, int, str]] = []
        async for key, size, modified in self._blobs.entries():
            known = self._found.get(key) or self._known.get(key)
            if key == TRIAL_KEY:
                continue
            if known is not None and (known.size, known.modified) == (size, modified):
                self._found[key] = known
            else:
                new.append((key, size, modified))

        async def some() -> None:
            while new:
                await self._read(*new.pop(), tell)

        await asyncio.gather(*(some() for _ in range(_AT_ONCE)))

    async def _read(self, key: str, size: int, modified: str, tell: Tell) -> None:
        chunks: list[str] = []
        try:
            async for piece in _pieces(self._blobs, key, size):
                chunks.append(await self._repository.add(piece))
                tell(len(piece))
        except NotFound:
            self.gone += 1
            return
        self._found[key] = FileEntry(key, size, modified, tuple(chunks))

    async def publish(self) -> tuple[tuple[str, ...], int, int]:
        """The list of files as pieces; how many they are, and how large."""
        files = [self._found[key] for key in sorted(self._found)]
        names, page = [], list[FileEntry]()
        for file in files:
            page.append(file)
            if zlib.crc32(file.key.encode()) % _USUAL_PAGE == 0:
                names.append(await self._repository.add(msgspec.json.encode(page)))
                page = []
        if page:
            names.append(await self._repository.add(msgspec.json.encode(page)))
        return tuple(names), len(files), sum(file.size for file in files)


async def _pieces(blobs: Blobs, key: str, size: int) -> AsyncIterator[bytes]:
    if size == 0:
        return
    rest = b""
    async for data in await blobs.stream(key):
        rest += data
        while len(rest) >= PIECE:
            yield rest[:PIECE]
            rest = rest[PIECE:]
    if rest:
        yield rest


async def put_back(repository: Repository, files: list[FileEntry], blobs: Blobs, tell: Tell) -> None:
    waiting = list(files)

    async def some() -> None:
        while waiting:
            file = waiting.pop()
            kind = mimetypes.guess_type(file.key)[0] or "application/octet-stream"
            await blobs.put(file.key, _parts(repository, file, tell), kind)

    await asyncio.gather(*(some() for _ in range(_AT_ONCE)))


async def _parts(repository: Repository, file: FileEntry, tell: Tell) -> AsyncIterator[bytes]:
    for name in file.chunks:
        piece = await repository.get(name)
        tell(len(piece))
        yield piece
