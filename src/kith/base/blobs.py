"""Files that kith keeps: in a folder, or in a bucket that speaks S3."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import parse_qsl, urlsplit

from kith.base.blob_threads import await_threads_at_exit
from kith.base.errors import NoSpace, NotFound, Unavailable, is_no_room

if TYPE_CHECKING:
    from obstore import GetOptions, GetResult
    from obstore.store import ObjectStore, S3Config

__all__ = ["BadKey", "Blobs", "Data", "blobs"]

Data = bytes | Path | AsyncIterator[bytes]

FOREVER = "public, max-age=31536000, immutable"

_SEGMENT = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}"
_KEY = re.compile(rf"(?=.{{1,900}}\Z){_SEGMENT}(?:/{_SEGMENT})*")
_CHUNK = 256 * 1024
# What buckets of several makers say of themselves; S3 itself is never full.
_BUCKET_IS_FULL = re.compile(r"StorageFull|QuotaExceeded|InsufficientStorage|Insufficient Storage|\b507\b")
TRIAL_KEY = "health/trial"


class BadKey(NotFound):
    """Nothing can ever be kept under such a key."""

    code = "bad_key"


class Blobs:
    """What is put under a key stays until deleted, whole: no reader ever sees half of it.

    The media type is told to a bucket, which serves it; a folder keeps none, so keep it in the database too.
    """

    TRY_SECONDS = 30.0  # between two trials: a bucket is paid for by the request

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def put(self, key: str, data: Data, content_type: str, cache_control: str = FOREVER) -> None:
        path = _checked(key)
        try:
            await self._store.put_async(
                path, data, attributes={"Content-Type": content_type, "Cache-Control": cache_control}
            )
        except Exception as error:
            if _BUCKET_IS_FULL.search(str(error)):
                raise NoSpace from error
            raise

    async def try_writing(self) -> None:
        """Write a small file for good: raises if there is no room, or no right to."""
        await self.put(TRIAL_KEY, bytes(4096), "application/octet-stream", "no-store")

    async def get(self, key: str) -> bytes:
        with self._reading(key) as path:
            result = await self._store.get_async(path)
            return bytes(await result.bytes_async())

    async def stream(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """The bytes from `start` up to, not including, `end`; ask `size` first, for `start` must lie within.

        Await it, then iterate: a missing key is known before an answer has begun.
        """
        if start < 0 or (end is not None and end <= start):
            raise ValueError(f"no such range: {start} to {end}")
        with self._reading(key) as path:
            result = await self._store.get_async(path, options=_range(start, end))
        return _chunks(result)

    async def size(self, key: str) -> int:
        with self._reading(key) as path:
            return (await self._store.head_async(path))["size"]

    async def exists(self, key: str) -> bool:
        path = _checked(key)
        try:
            with self._reading(path):
                await self._store.head_async(path)
        except NotFound:
            return False
        return True

    @contextmanager
    def _reading(self, key: str) -> Iterator[str]:
        """What is not there is not found; a store that fails at anything else is of no use at the moment."""
        path = _checked(key)
        try:
            yield path
        except FileNotFoundError as error:
            raise NotFound from error
        except Exception as error:
            from obstore.exceptions import BaseError  # noqa: PLC0415 - loaded already, by the store

            if not isinstance(error, BaseError):
                raise
            raise (NotFound() if self._cannot_be(path) else Unavailable()) from error

    def _cannot_be(self, _path: str) -> bool:
        """Whether the store's complaint means that there is no such thing."""
        return False

    async def delete(self, keys: Iterable[str]) -> None:
        """Remove `keys`; one that is not there is as good as removed."""
        if paths := [_checked(key) for key in keys]:
            with suppress(FileNotFoundError):
                await self._store.delete_async(paths)

    async def list(self, prefix: str = "") -> AsyncIterator[str]:
        """Every key below the folder `prefix`, in no order; `media/1` does not match `media/10/...`."""
        async for batch in self._store.list(_checked(prefix) if prefix else None):
            for found in batch:
                yield found["path"]

    async def entries(self) -> AsyncIterator[tuple[str, int, str]]:
        """Every key with its size and when it was written, in no order."""
        async for batch in self._store.list():
            for found in batch:
                yield found["path"], found["size"], found["last_modified"].isoformat()


class _FolderBlobs(Blobs):
    """Writes by hand, since the store neither syncs to disk nor takes a media type."""

    TRY_SECONDS = 1.0

    def __init__(self, folder: Path, admit: Callable[[], None], *, private: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
        self._folder = folder
        self._admit = admit
        self._mode = 0o600 if private else 0o666

    @cached_property
    def _store(self) -> ObjectStore:  # type: ignore[override]
        from obstore.store import LocalStore  # noqa: PLC0415 - loaded when first used

        await_threads_at_exit()
        return LocalStore(self._folder)

    async def list(self, prefix: str = "") -> AsyncIterator[str]:
        if prefix and not (self._folder / _checked(prefix)).is_dir():
            return  # the store would be loaded to find nothing
        async for key in super().list(prefix):
            yield key

    def _cannot_be(self, path: str) -> bool:
        """A name below a file, say, which the store reports as a fault."""
        return not (self._folder / path).is_file()

    async def put(
        self,
        key: str,
        data: Data,
        content_type: str,  # noqa: ARG002 - kept in the database
        cache_control: str = FOREVER,  # noqa: ARG002
    ) -> None:
        self._admit()
        path = self._folder / _checked(key)
        # A name with `#` and digits is what the store itself leaves out of its lists.
        unfinished = path.with_name(f"{path.name}#{secrets.randbelow(10**18)}")
        try:
            await self._write(data, unfinished, path)
        except OSError as error:
            if is_no_room(error):
                raise NoSpace from error
            raise

    async def _write(self, data: Data, unfinished: Path, path: Path) -> None:
        file = await asyncio.to_thread(_create, unfinished, self._mode)
        try:
            await _fill(file, data)
            await asyncio.to_thread(_publish, file, unfinished, path)
        except BaseException:
            _give_up(file, unfinished)
            raise

    async def delete(self, keys: Iterable[str]) -> None:
        for key in [_checked(key) for key in keys]:
            await super().delete([key])


def blobs(
    url: str,
    folder: Path,
    *,
    access_key: str = "",
    secret_key: str = "",
    private: bool = False,
    admit: Callable[[], None] = lambda: None,
) -> Blobs:
    """The place for files: the bucket at `url`, or `folder` if `url` is empty. `private`: for their owner's eyes only.

    `admit` raises `NoSpace` where nothing is to be written to the folder.
    `s3://bucket/prefix?endpoint=https://...&region=...`; `allow_http=true` for an endpoint without TLS.
    """
    if not url:
        return _FolderBlobs(folder, admit, private=private)
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    if parts.scheme != "s3" or not parts.netloc or options.keys() - {"endpoint", "region", "allow_http"}:
        raise ValueError("files live in a folder or at s3://bucket/prefix?endpoint=&region=&allow_http=")
    if not access_key or not secret_key:
        raise ValueError("a bucket needs an access key and a secret key")
    config: S3Config = {
        "region": options.get("region", "us-east-1"),
        "access_key_id": access_key,
        "secret_access_key": secret_key,
    }
    if "endpoint" in options:
        config["endpoint"] = options["endpoint"]
    from obstore.store import S3Store  # noqa: PLC0415 - not needed for a folder

    await_threads_at_exit()
    store = S3Store(
        parts.netloc,
        prefix=parts.path.strip("/") or None,
        config=config,
        client_options={
            "allow_http": options.get("allow_http") == "true",
            "connect_timeout": timedelta(seconds=5),
            "timeout": timedelta(seconds=60),
        },
        retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=30)},
    )
    return Blobs(store)


def _checked(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise BadKey
    return key


def _range(start: int, end: int | None) -> GetOptions:
    if end is not None:
        return {"range": (start, end)}
    return {"range": {"offset": start}} if start else {}


async def _chunks(result: GetResult) -> AsyncIterator[bytes]:
    async for chunk in result.stream(min_chunk_size=_CHUNK):
        yield bytes(chunk)


async def _fill(file: BinaryIO, data: Data) -> None:
    if isinstance(data, bytes):
        await asyncio.to_thread(file.write, data)
    elif isinstance(data, Path):
        await asyncio.to_thread(_copy, data, file)
    else:
        async for chunk in data:
            await asyncio.to_thread(file.write, chunk)


def _create(path: Path, mode: int) -> BinaryIO:
    _make_folder(path.parent)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb")


def _give_up(file: BinaryIO, unfinished: Path) -> None:
    with suppress(OSError):  # what is still to be written finds no room either
        file.close()
    unfinished.unlink(missing_ok=True)


def _copy(source: Path, file: BinaryIO) -> None:
    with source.open("rb") as original:
        shutil.copyfileobj(original, file, _CHUNK)


def _publish(file: BinaryIO, unfinished: Path, path: Path) -> None:
    file.flush()
    os.fsync(file.fileno())
    file.close()
    unfinished.rename(path)
    _sync_folder(path.parent)


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
