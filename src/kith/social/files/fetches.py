"""Files of other servers on their way here: so many at once in all, of one host, and for one who looks.

A host that lets its files drip can hold up its own, and only for a while: whoever sends too little is not waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import IO

from kith.base import asking
from kith.base.errors import Unavailable
from kith.base.http import Outgoing, OutgoingError
from kith.base.http.sites import site_of
from kith.base.http.urls import parse_url
from kith.base.places import Full, Places
from kith.base.work import Work

__all__ = ["FileFetches", "download"]

PICTURES, PICTURES_EACH = 24, {"host": 6, "caller": 12}
FILMS, FILMS_EACH = 8, {"host": 2}
PICTURE_WAIT_SECONDS = 20.0  # that somebody who looks at it is kept waiting
LEAST_RATE = 16 << 10  # bytes a second
_IMAGES = MappingProxyType({"Accept": "image/*"})


class FileFetches:
    """Pictures are fetched while somebody waits for them, films by jobs: neither waits for the other."""

    def __init__(self) -> None:
        self._pictures = Places("pictures", most=PICTURES, each=PICTURES_EACH, strangers=PICTURES // 2)
        self._films = Places("films", most=FILMS, each=FILMS_EACH)

    @asynccontextmanager
    async def picture(self, url: str) -> AsyncIterator[None]:
        """While a picture is fetched and made ready. Raises `Unavailable` where all places stay taken."""
        site = site_of(parse_url(url))
        try:
            place = await self._pictures.enter(
                seconds=PICTURE_WAIT_SECONDS,
                is_stranger=asking.is_for_a_stranger(),
                host=site,
                caller=asking.caller(),
            )
        except Full as full:
            raise Unavailable from full
        try:
            with asking.about(site):
                yield
        finally:
            place.give_back()

    @asynccontextmanager
    async def film(self, url: str) -> AsyncIterator[None]:
        """While a film is fetched and made ready. Raises `Full` at once: a film of another host has its turn."""
        site = site_of(parse_url(url))
        async with self._films.take(seconds=0, host=site):
            with asking.about(site):
                yield


async def download(
    work: Work,
    url: str,
    file: IO[bytes],
    *,
    most: int,
    seconds: float,
    headers: Mapping[str, str] = _IMAGES,
) -> None:
    """Write what is at `url` to `file`. Raises `OutgoingError`, `bad_url` where it is not there."""
    async with work.find(Outgoing).stream(
        "GET", url, headers=headers, max_bytes=most, timeout=seconds, least_rate=LEAST_RATE
    ) as answer:
        if answer.status != 200:
            is_gone = answer.status < 500 and answer.status not in (408, 429)
            raise OutgoingError("bad_url" if is_gone else "protocol", f"answered {answer.status}")
        async for chunk in answer:
            await asyncio.to_thread(file.write, chunk)
