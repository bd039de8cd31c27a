"""Avatars and headers of people elsewhere: named when they are heard of, fetched when somebody looks at them.

Like everybody's, they are shown from this server: whoever looks is not seen by the other one.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from kith.base.blobs import Blobs
from kith.base.caches import ForAWhile
from kith.base.errors import NotFound, Unavailable
from kith.base.http import OutgoingError
from kith.base.places import is_full
from kith.base.work import Work
from kith.social.accounts import fetched_pictures, pictures, store
from kith.social.accounts.pictures import Picture
from kith.social.accounts.tables import Account
from kith.social.addresses import file_url
from kith.social.files.decoder_processes import BadFile
from kith.social.files.fetches import FileFetches, download
from kith.social.files.keys import folder_of
from kith.social.files.limits import PROFILE_BYTES
from kith.social.files.processing import Shaped, shape_avatar, shape_header
from kith.social.ids import AccountId

__all__ = ["SHELVES", "RemotePictures", "bring", "columns", "forget"]

SHELVES: dict[str, Picture] = {"avatars": "avatar", "headers": "header"}
SECONDS = 10.0
FAILED_SECONDS = 600.0
MOST_FAILED = 20_000
LONGEST_DESCRIPTION = 1500
_ENDINGS = ("png", "jpg", "webp", "gif")


class RemotePictures:
    """What is being fetched, so that two who look fetch it once; and what could not be had a moment ago."""

    def __init__(self) -> None:
        self.failed: ForAWhile[bool] = ForAWhile("failed_pictures", seconds=FAILED_SECONDS, most=MOST_FAILED)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, key: str) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())


def columns(account: Account, name: Picture, told: tuple[str, str] | None) -> dict[str, Any]:
    """What an account says of a picture from now on; `told` are its address and its description."""
    if told is None:
        return {name: "", f"{name}_static": "", f"{name}_description": "", f"{name}_remote_url": None}
    url, description = told
    described = {f"{name}_description": description[:LONGEST_DESCRIPTION]}
    if getattr(account, f"{name}_remote_url") == url and getattr(account, name):
        return described
    key = f"{folder_of(f'{name}s', account.id)}/original/{_name(url)}.{_ending(url)}"
    return {name: key, f"{name}_static": key, f"{name}_remote_url": url} | described


def _name(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:32]


def _ending(url: str) -> str:
    """A guess: where it is wrong, whoever asks for the file is led to its right name."""
    ending = urlsplit(url).path.rpartition(".")[2].lower().replace("jpeg", "jpg")
    return ending if ending in _ENDINGS else "jpg"


async def forget(work: Work, before: Account, changed: Mapping[str, Any]) -> None:
    """What the account no longer speaks of goes, and is not counted any more."""
    pictures.forget(work, before, changed)
    for shelf, name in SHELVES.items():
        if name in changed:
            await fetched_pictures.drop(work.db, shelf, [before.id])


async def bring(work: Work, shelf: str, account_id: int, key: str) -> str | None:
    """For a picture that is not here: the address where it is, or None once it is here under this key.

    Raises `NotFound`; call it before the first write.
    """
    name, state = SHELVES[shelf], work.find(RemotePictures)
    async with state.lock(f"{shelf}/{account_id}"):
        account = await _shown(work, account_id)
        source: str | None = getattr(account, f"{name}_remote_url")
        if source is None or state.failed.get((account.id, source)):
            raise NotFound
        here = {getattr(account, name), getattr(account, f"{name}_static")}
        if key not in here:
            return file_url(work.settings, getattr(account, name))
        try:
            async with work.find(FileFetches).picture(source):
                made = await _fetched(work, name, account, source)
        except (OutgoingError, BadFile) as error:
            if is_full(error):
                raise Unavailable from error
            state.failed.put((account.id, source), True)
            raise NotFound from error
        await _keep(work, account, shelf, made)
    return None if key in (made.file, made.static) else file_url(work.settings, made.file)


async def _shown(work: Work, account_id: int) -> Account:
    account = await store.find(work.db, AccountId(account_id))
    if account is None or account.is_local or account.is_gone or account.pictures_rejected:
        raise NotFound
    return account


async def _fetched(work: Work, name: Picture, account: Account, source: str) -> Shaped:
    shape = shape_avatar if name == "avatar" else shape_header
    with tempfile.SpooledTemporaryFile(1 << 20) as file:
        await download(work, source, file, most=PROFILE_BYTES, seconds=SECONDS)
        return await shape(work, account.id, file, name=_name(source))


async def _keep(work: Work, account: Account, shelf: str, made: Shaped) -> None:
    """Under its right names, and counted, if the account still speaks of it."""
    name, files = SHELVES[shelf], dict.fromkeys((made.file, made.static))
    size = sum([await work.find(Blobs).size(key) for key in files])
    async with work.aside() as aside:
        await aside.db.hold(f"account:{account.id}")
        now = await store.find(aside.db, account.id)
        if now is None or getattr(now, name) != getattr(account, name):
            return
        values = {name: made.file, f"{name}_static": made.static}
        if any(getattr(now, column) != value for column, value in values.items()):
            await store.change(aside.db, account.id, values, aside.now)
        await fetched_pictures.arrived(aside.db, shelf, account.id, size, aside.now)
