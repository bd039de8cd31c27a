"""Pictures of preview cards: fetched with the card, and again where they were dropped."""

from __future__ import annotations

import tempfile
from urllib.parse import urlsplit

import msgspec

from kith.base.blobs import Blobs
from kith.base.errors import NotFound, Unavailable
from kith.base.http import OutgoingError
from kith.base.places import is_full
from kith.base.work import Work
from kith.social.files.decoder_processes import BadFile
from kith.social.files.fetched import FetchedFiles
from kith.social.files.fetches import FileFetches, download
from kith.social.files.processing import Picture, shape_preview
from kith.social.statuses.cards import store
from kith.social.statuses.cards.store import Card

__all__ = ["SHELF", "bring", "fetched", "is_wanted"]

SHELF = "cards"
IMAGE_BYTES = 8 << 20
SECONDS = 10.0


async def fetched(work: Work, card_id: int, url: str, *, name: str | None = None) -> tuple[Picture, int] | None:
    """The picture and its size; None for one that cannot be had. The same `name` gives the same key."""
    if not url:
        return None
    with tempfile.SpooledTemporaryFile(1 << 20) as file:
        try:
            async with work.find(FileFetches).picture(url):
                await download(work, url, file, most=IMAGE_BYTES, seconds=SECONDS)
                picture = await shape_preview(work, SHELF, card_id, file, name=name)
        except (OutgoingError, BadFile) as error:
            if is_full(error):
                raise Unavailable from error
            return None
    return picture, await work.find(Blobs).size(picture.key)


async def is_wanted(work: Work, url: str) -> bool:
    """Whether pictures of this page are shown: not of one at a server of which the team wants no files."""
    host = (urlsplit(url).hostname or "").lower()
    return not await work.find(FetchedFiles).is_rejected(work, host)  # type: ignore[type-abstract]


async def bring(work: Work, card_id: int, key: str) -> str:
    """The key under which a dropped picture is here again. Raises `NotFound`; call it before the first write."""
    card = await store.find_by_id(work.db, card_id)
    if card is None or card.data["image"] != key or not card.image_source or not await is_wanted(work, card.url):
        raise NotFound
    if card.looked_at is not None and await work.find(Blobs).exists(key):  # somebody else was quicker
        return key
    found = await fetched(work, card.id, card.image_source, name=key.rpartition("/")[2].partition(".")[0])
    if found is None:
        raise NotFound
    async with work.aside() as aside:
        await _keep(aside, card, *found)
    return found[0].key


async def _keep(work: Work, card: Card, picture: Picture, size: int) -> None:
    shown = {"image": picture.key, "blurhash": picture.blurhash or None}
    changed = card.data | shown != card.data
    kept = msgspec.structs.replace(card, data=card.data | shown, image_bytes=size, looked_at=work.now)
    await store.save(work.db, kept)
    if changed:
        await store.show_anew(work.db, card.id)
