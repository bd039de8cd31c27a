"""A repository of backups: pieces by their names, and a manifest for each backup, which is written last.

    kith-backup.json        what this is, and how its key is made of a passphrase; a copy of it is in manifests/
    chunks/ab/ab12...       pieces, each once
    manifests/ID            one backup each

A run that ends before its manifest is written leaves pieces that nothing names: the next run finds them there and need
not write them again, and `prune` removes what is left over.
"""

from __future__ import annotations

import asyncio
import base64
import re
import secrets
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Self

import msgspec

from kith.backup.failures import BadRepository, Damaged
from kith.backup.manifest import FORMAT, FileEntry, Manifest
from kith.backup.places import BackupPlace, shown
from kith.backup.sealing import PieceSealer, derive
from kith.base.errors import NotFound

__all__ = ["Repository"]

CONFIG = "kith-backup.json"
_COPY = f"manifests/{CONFIG}"  # without what it says no piece can be read, so it is there twice
_PROOF = "proof"
_AT_ONCE = 8
_ID = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9]{6}[0-9a-f]{4}")
_OCTETS = "application/octet-stream"


class _Config(msgspec.Struct, kw_only=True):
    format: int
    id: str
    is_encrypted: bool
    salt: str = ""
    proof: str = ""  # something sealed, by which a wrong key is known at once


class Repository:
    """`chunks` are the names of all pieces there are; those that this process wrote are in `written`."""

    def __init__(self, place: BackupPlace, sealer: PieceSealer) -> None:
        self.place = place
        self.sealer = sealer
        self._config = _Config(format=FORMAT, id="", is_encrypted=sealer.is_encrypting)
        self.chunks: set[str] = set()
        self.written: set[str] = set()
        self.written_bytes = 0
        self._turns = asyncio.Semaphore(_AT_ONCE)

    @classmethod
    async def open(cls, place: BackupPlace, passphrase: bytes | None) -> Self:
        """One that is there. Raises `BadRepository`; of two descriptions one may be damaged."""
        failures: list[BadRepository] = []
        for key in (CONFIG, _COPY):
            try:
                return await cls._open_as(place, passphrase, await _described(place, key))
            except BadRepository as error:
                failures.append(error)
        raise min(failures, key=lambda one: (isinstance(one, _NotThere), isinstance(one, _Unreadable)))

    @classmethod
    async def _open_as(cls, place: BackupPlace, passphrase: bytes | None, config: _Config) -> Self:
        if config.format > FORMAT:
            raise BadRepository(f"{shown(place.target)} was written by a newer version of Kith")
        if config.is_encrypted and passphrase is None:
            raise BadRepository("these backups are encrypted: give --key-file, or set KITH_BACKUP_KEY_FILE")
        if not config.is_encrypted and passphrase is not None:
            raise BadRepository("these backups are not encrypted, so a key would protect nothing: use another place")
        key = None
        if passphrase is not None:
            key = await asyncio.to_thread(derive, passphrase, base64.b64decode(config.salt))
        opened = cls(place, PieceSealer(key, config.id))
        opened._config = config
        if config.is_encrypted:
            try:
                opened.sealer.open(base64.b64decode(config.proof), _PROOF)
            except (Damaged, ValueError) as error:
                raise BadRepository("this is not the key that these backups were encrypted with") from error
        return opened

    @classmethod
    async def open_or_create(cls, place: BackupPlace, passphrase: bytes | None) -> Self:
        if await place.blobs.exists(CONFIG) or await place.blobs.exists(_COPY):
            opened = await cls.open(place, passphrase)
            await opened._describe()
            return opened
        async for _ in place.blobs.list("manifests"):
            raise BadRepository(
                f"there are backups at {shown(place.target)}, but {CONFIG} and its copy are gone: "
                "put one of them back, or use another place"
            )
        config = _Config(format=FORMAT, id=str(uuid.uuid4()), is_encrypted=passphrase is not None)
        if passphrase is not None:
            salt = secrets.token_bytes(16)
            sealer = PieceSealer(await asyncio.to_thread(derive, passphrase, salt), config.id)
            config.salt = base64.b64encode(salt).decode()
            config.proof = base64.b64encode(sealer.seal(b"kith", _PROOF)).decode()
        await _put_description(place, CONFIG, config)
        opened = await cls.open(place, passphrase)
        await opened._describe()
        return opened

    async def _describe(self) -> None:
        """Write the description again where it is missing or damaged."""
        for key in (CONFIG, _COPY):
            with suppress(BadRepository):
                if await _described(self.place, key) == self._config:
                    continue
            await _put_description(self.place, key, self._config)

    async def learn(self) -> None:
        """Which pieces there are."""
        self.chunks = {key.rpartition("/")[2] async for key in self.place.blobs.list("chunks")}

    async def add(self, data: bytes) -> str:
        """Store a piece, unless it is there; its name."""
        name = await asyncio.to_thread(self.sealer.name, data)
        if name in self.chunks:
            return name
        self.chunks.add(name)
        try:
            async with self._turns:
                sealed = await asyncio.to_thread(self.sealer.seal, data, name)
                await self.place.blobs.put(_chunk_key(name), sealed, _OCTETS)
        except BaseException:
            self.chunks.discard(name)
            raise
        self.written.add(name)
        self.written_bytes += len(sealed)
        return name

    async def get(self, name: str) -> bytes:
        """A piece, checked. Raises `Damaged`, also for one that is missing."""
        try:
            sealed = await self.place.blobs.get(_chunk_key(name))
        except NotFound as error:
            raise Damaged(name) from error
        return await asyncio.to_thread(self.sealer.open_named, sealed, name)

    async def check(self, names: set[str], tell: Callable[[int], None] = lambda _: None) -> set[str]:
        """Read pieces back; those that are not what they should be."""
        damaged: set[str] = set()
        waiting = sorted(names)

        async def some() -> None:
            while waiting:
                name = waiting.pop()
                try:
                    await self.get(name)
                except Damaged:
                    damaged.add(name)
                tell(1)

        await asyncio.gather(*(some() for _ in range(_AT_ONCE)))
        return damaged

    # Manifests

    async def ids(self) -> list[str]:
        """Of all backups, the oldest first."""
        found = [key.rpartition("/")[2] async for key in self.place.blobs.list("manifests")]
        return sorted(id for id in found if _ID.fullmatch(id))

    async def manifest(self, id: str) -> Manifest:
        try:
            sealed = await self.place.blobs.get(f"manifests/{id}")
        except NotFound as error:
            raise BadRepository(f"there is no backup {id} at {shown(self.place.target)}") from error
        except OSError as error:
            raise BadRepository(f"the manifest of the backup {id} cannot be read: {error.strerror}") from error
        try:
            return msgspec.json.decode(self.sealer.open(sealed, f"manifests/{id}"), type=Manifest)
        except (Damaged, msgspec.DecodeError) as error:
            raise BadRepository(f"the backup {id} is damaged: its manifest is not what was written") from error

    async def newest(self) -> Manifest | None:
        ids = await self.ids()
        return await self.manifest(ids[-1]) if ids else None

    async def newest_readable(self) -> Manifest | None:
        """A damaged one keeps nobody from those before it."""
        for id in reversed(await self.ids()):
            with suppress(BadRepository):
                return await self.manifest(id)
        return None

    async def readable(self) -> tuple[list[Manifest], list[str]]:
        """All backups, the oldest first, and the ids of those whose manifest is damaged."""
        manifests: list[Manifest] = []
        damaged: list[str] = []
        for id in await self.ids():
            try:
                manifests.append(await self.manifest(id))
            except BadRepository:
                damaged.append(id)
        return manifests, damaged

    async def publish(self, manifest: Manifest) -> None:
        """From now on the backup is there; not before, and at once."""
        key = f"manifests/{manifest.id}"
        sealed = self.sealer.seal(msgspec.json.encode(manifest), key)
        await self.place.check_lock()  # another writer could have removed pieces of it
        await self.place.blobs.put(key, sealed, _OCTETS, "no-store")
        await self.manifest(manifest.id)

    async def files(self, manifest: Manifest) -> list[FileEntry]:
        found: list[FileEntry] = []
        for name in manifest.files:
            found += msgspec.json.decode(await self.get(name), type=list[FileEntry])
        return found

    async def names(self, manifest: Manifest) -> set[str]:
        """Of all pieces of a backup."""
        names = {*manifest.database, *manifest.files}
        names.update(name for table in manifest.tables for name in table.chunks)
        for file in (*manifest.keys, *await self.files(manifest)):
            names.update(file.chunks)
        return names

    async def forget(self, ids: list[str]) -> None:
        await self.place.blobs.delete([f"manifests/{id}" for id in ids])

    async def drop(self, ids: list[str]) -> int:
        """Forget backups, then remove the pieces that no other names; how many those were.

        While a backup is there that does not tell which pieces it needs, none are removed.
        """
        await self.forget(ids)
        needed: set[str] = set()
        for id in await self.ids():
            try:
                needed |= await self.names(await self.manifest(id))
            except (BadRepository, Damaged):
                return 0
        await self.learn()
        unneeded = sorted(self.chunks - needed)
        await self.place.check_lock()
        for start in range(0, len(unneeded), 1000):
            await self.place.blobs.delete([_chunk_key(name) for name in unneeded[start : start + 1000]])
        self.chunks &= needed
        return len(unneeded)

    async def remove(self, names: set[str]) -> None:
        """Damaged pieces, so that the next run writes them anew."""
        await self.place.blobs.delete([_chunk_key(name) for name in sorted(names)])


class _NotThere(BadRepository):
    """Nobody has written it."""


class _Unreadable(BadRepository):
    """It says nothing, so the other one may say more."""


async def _described(place: BackupPlace, key: str) -> _Config:
    try:
        return msgspec.json.decode(await place.blobs.get(key), type=_Config)
    except NotFound as error:
        raise _NotThere(f"there are no backups at {shown(place.target)}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _Unreadable(f"{key} at {shown(place.target)} cannot be read: {error}") from error
    except OSError as error:
        raise _Unreadable(f"{key} at {shown(place.target)} cannot be read: {error.strerror}") from error


async def _put_description(place: BackupPlace, key: str, config: _Config) -> None:
    await place.blobs.put(key, msgspec.json.encode(config), "application/json", "no-store")


def _chunk_key(name: str) -> str:
    return f"chunks/{name[:2]}/{name}"
