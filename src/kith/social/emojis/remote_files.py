"""Pictures of other servers' emoji: fetched when somebody looks at them, kept as they are, and shown from here."""

from __future__ import annotations

import asyncio
import hashlib
import io
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from sqlalchemy import and_, bindparam, select

from kith.base.blobs import Blobs
from kith.base.caches import ForAWhile
from kith.base.db import query
from kith.base.errors import NotFound, Unavailable
from kith.base.http import OutgoingError
from kith.base.places import is_full
from kith.base.work import Work
from kith.social.emojis.tables import Emoji, emojis
from kith.social.files.fetched import FetchedFiles
from kith.social.files.fetches import FileFetches, download
from kith.social.files.keys import folder_of
from kith.social.files.processing import sniffed

__all__ = ["SHELF", "EmojiArrivals", "bring", "key_of"]

SHELF = "emojis"
MOST_BYTES = 512 << 10
SECONDS = 10.0
FAILED_SECONDS = 600.0
MOST_FAILED = 20_000
_ENDINGS = ("png", "jpg", "webp", "gif")
_TAKEN = frozenset({"image/png", "image/gif", "image/webp", "image/jpeg"})
_one = query(
    select(emojis).where(and_(emojis.c.id == bindparam("emoji"), emojis.c.domain != "", ~emojis.c.disabled)), Emoji
)


class EmojiArrivals:
    """What is being fetched, so that two who look fetch it once; and what could not be had a moment ago."""

    def __init__(self) -> None:
        self.failed: ForAWhile[bool] = ForAWhile("failed_emojis", seconds=FAILED_SECONDS, most=MOST_FAILED)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, key: str) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())


def key_of(emoji: Emoji) -> str:
    """Under which name it is kept here, by where it comes from: another picture has another name."""
    if not emoji.file.startswith(("http://", "https://")):
        return emoji.file
    name = hashlib.sha256(emoji.file.encode()).hexdigest()[:32]
    ending = urlsplit(emoji.file).path.rpartition(".")[2].lower().replace("jpeg", "jpg")
    return f"{folder_of(SHELF, emoji.id)}/original/{name}.{ending if ending in _ENDINGS else 'png'}"


async def bring(work: Work, id: int, key: str) -> None:
    """Fetch what is asked for by this name. Raises `NotFound`; call it before the first write."""
    emoji = await work.db.one(_one, emoji=id)
    state, blobs = work.find(EmojiArrivals), work.find(Blobs)
    if emoji is None or key_of(emoji) != key or state.failed.get(key):
        raise NotFound
    if await work.find(FetchedFiles).is_rejected(work, emoji.domain):  # type: ignore[type-abstract]
        raise NotFound
    async with state.lock(key), work.find(FileFetches).picture(emoji.file):
        if await blobs.exists(key):  # somebody else was quicker
            return
        file = io.BytesIO()
        try:
            await download(work, emoji.file, file, most=MOST_BYTES, seconds=SECONDS)
        except OutgoingError as error:
            if is_full(error):
                raise Unavailable from error
            state.failed.put(key, True)
            raise NotFound from error
        found = await sniffed(file)
        if found is None or found.mime not in _TAKEN:
            state.failed.put(key, True)
            raise NotFound
        await blobs.put(key, file.getvalue(), found.mime)
