"""Where a repository is: a folder, or a bucket that speaks S3. One writes at a time."""

from __future__ import annotations

import asyncio
import fcntl
import os
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import msgspec

from kith.backup.failures import RepositoryInUse
from kith.base.blobs import Blobs, blobs
from kith.base.errors import NotFound
from kith.base.settings import BadSettings, Settings

__all__ = ["BackupPlace", "shown"]

STALE = timedelta(minutes=30)
REFRESH_SECONDS = 300.0


class _Lock(msgspec.Struct):
    at: datetime
    holder: str


class BackupPlace:
    """`target` is a folder or `s3://bucket/prefix?endpoint=...`; a bucket's keys are those of the settings."""

    def __init__(self, target: str, settings: Settings) -> None:
        self.target = target
        self.is_bucket = target.startswith("s3://")
        if "://" in target and not self.is_bucket:
            raise BadSettings(f"backups go to a folder or to s3://bucket/prefix, not to {shown(target)}")
        self._held = ""  # the lock of ours in a bucket
        self._said_at = datetime.now(UTC)
        self._is_lost = False
        self.folder = None if self.is_bucket else Path(target).absolute()
        try:
            self.blobs: Blobs = blobs(
                target if self.is_bucket else "",
                self.folder or Path(),
                access_key=settings.backup_access_key or settings.media_access_key,
                secret_key=settings.backup_secret_key or settings.media_secret_key,
                private=True,
            )
        except ValueError as error:
            raise BadSettings(f"{error}: set KITH_BACKUP_ACCESS_KEY and KITH_BACKUP_SECRET_KEY for a bucket") from error

    @asynccontextmanager
    async def lock(self, *, shared: bool = False) -> AsyncIterator[None]:
        """Raises `RepositoryInUse`. In a folder the system lets go of it with its holder, however that ends."""
        if self.folder is None:
            async with self._bucket_lock() if not shared else _nothing():
                yield
            return
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise RepositoryInUse(f"another backup is being written to {self.folder}") from error
            yield
        finally:
            os.close(handle)

    @asynccontextmanager
    async def _bucket_lock(self) -> AsyncIterator[None]:
        """Write down that one is here, then look who else is: of two that come together, one at least gives way."""
        mine = f"locks/{secrets.token_hex(8)}"
        self._held, self._said_at, self._is_lost = mine, datetime.now(UTC), False
        await self._say(mine)
        try:
            for key in [key async for key in self.blobs.list("locks") if key != mine]:
                await self._refuse(key)
            keeping = asyncio.create_task(self._keep(mine))
            try:
                yield
            finally:
                keeping.cancel()
                await asyncio.gather(keeping, return_exceptions=True)
        finally:
            self._held = ""
            await self.blobs.delete([mine])

    async def check_lock(self) -> None:
        """Before what others could not bear: raises `RepositoryInUse` if they may have taken this writer for gone.

        A folder's lock cannot be lost while its holder lives.
        """
        if not self._held:
            return
        if not self._is_lost and not self._is_stale() and await self.blobs.exists(self._held):
            return
        raise RepositoryInUse(
            f"{shown(self.target)} could not be reached for so long that another backup may have been written meanwhile"
        )

    def _is_stale(self) -> bool:
        return datetime.now(UTC) - self._said_at > STALE

    async def _say(self, key: str) -> None:
        lock = _Lock(datetime.now(UTC), f"{socket.gethostname()}:{os.getpid()}")
        await self.blobs.put(key, msgspec.json.encode(lock), "application/json", "no-store")
        self._said_at = lock.at

    async def _refuse(self, key: str) -> None:
        try:
            lock = msgspec.json.decode(await self.blobs.get(key), type=_Lock)
        except (NotFound, msgspec.DecodeError):
            return
        if datetime.now(UTC) - lock.at > STALE:
            await self.blobs.delete([key])
            return
        raise RepositoryInUse(f"another backup is being written to {shown(self.target)} by {lock.holder}")

    async def _keep(self, key: str) -> None:
        """A bucket that fails once is told again: who stops saying so is taken for gone, and others write."""
        while True:
            await asyncio.sleep(REFRESH_SECONDS)
            with suppress(Exception):
                self._is_lost = self._is_lost or self._is_stale() or not await self.blobs.exists(key)
                await self._say(key)


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


def shown(target: str) -> str:
    """Without anything that could be a secret."""
    if "://" not in target:
        return target
    url = urlsplit(target)
    return urlunsplit((url.scheme, url.netloc.rpartition("@")[2], url.path, "", ""))
