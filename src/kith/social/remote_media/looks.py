"""Who looks at files from elsewhere, noted now and then; and files that were dropped, fetched again."""

from __future__ import annotations

import time

from kith.base.caches import ForAWhile
from kith.base.errors import NotFound
from kith.base.limits import Limiter, LimitRule, address_key
from kith.base.work import Work
from kith.social.accounts import remote_pictures
from kith.social.addresses import file_url
from kith.social.emojis import remote_files
from kith.social.media import store as media
from kith.social.remote_media import service, store
from kith.social.remote_media.service import Arrivals
from kith.social.statuses.cards import pictures

HOURS = 6  # as exactly as it is known when somebody looked
FLUSH_SECONDS = 60.0
AT_ONCE = 500
LOOKING = LimitRule("media-proxy", most=30, seconds=600)
FACES = LimitRule("remote-pictures", most=600, seconds=600)  # a timeline shows dozens at once


class Looks:
    """A look is written once in some hours, together with others. Without a budget nobody needs to know."""

    def __init__(self) -> None:
        self._noted: ForAWhile[bool] = ForAWhile("looked_at", seconds=HOURS * 3600, most=50_000)
        self._waiting: set[tuple[str, int]] = set()
        self._flushed_at = time.monotonic()

    async def looked_at(self, work: Work, shelf: str, id: int) -> None:
        if shelf not in store.SHELVES or not work.settings.media_budget or self._noted.get((shelf, id)):
            return
        self._noted.put((shelf, id), True)
        self._waiting.add((shelf, id))
        if len(self._waiting) >= AT_ONCE or time.monotonic() - self._flushed_at >= FLUSH_SECONDS:
            async with work.aside() as aside:
                await self.write(aside)

    async def write(self, work: Work) -> None:
        """What a process has noted and not written is lost with it, which does no harm."""
        waiting, self._waiting, self._flushed_at = self._waiting, set(), time.monotonic()
        for shelf in store.SHELVES:
            ids = [id for kind, id in waiting if kind == shelf]
            if ids:
                await store.look(work.db, shelf, ids, work.now)

    async def is_rejected(self, work: Work, domain: str) -> bool:
        return await service.is_rejected(work, domain)

    async def bring(self, work: Work, shelf: str, id: int, key: str) -> str | None:
        """An attachment is fetched where it is asked for by its id, for whoever may see its post."""
        if shelf == store.ATTACHMENTS:
            return await _attachment(work, id, key)
        if shelf in remote_pictures.SHELVES:
            work.find(Limiter).spend(FACES, address_key(work.origin.address))
            return await remote_pictures.bring(work, shelf, id, key)
        if shelf == remote_files.SHELF:
            work.find(Limiter).spend(FACES, address_key(work.origin.address))
            await remote_files.bring(work, id, key)
            return None
        if shelf == store.CARDS:
            work.find(Limiter).spend(LOOKING, address_key(work.origin.address))
            async with work.find(Arrivals).of(-id):
                found = await pictures.bring(work, id, key)
            return None if found == key else file_url(work.settings, found)
        raise NotFound


async def _attachment(work: Work, id: int, key: str) -> str:
    row = await media.find(work.db, id)
    if row is None or row.remote_url is None or (row.withheld_kind or row.kind) == "unknown":
        raise NotFound
    if row.file and key in (row.file, row.preview):  # it should be here and is not
        async with work.aside() as aside:
            await store.drop_attachments(aside.db, [row.id])
    size = "small" if f"/{id % 10**6:06d}/small/" in key else "original"
    return f"{work.settings.base_url}/media_proxy/{id}/{size}"
