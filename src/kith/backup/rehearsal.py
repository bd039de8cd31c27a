"""Whether the newest backup can be restored: it is, to a place that is thrown away, and started there.

Nothing leaves that server: it has no worker and no mail server, and its client for the outside is silent.
"""

from __future__ import annotations

import asyncio
import io
import secrets
import shutil
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import asyncpg
import msgspec
from sqlalchemy import select

from kith.app import House, open_house
from kith.backup.failures import RehearsalFailed
from kith.backup.manifest import FileEntry, Manifest
from kith.backup.repository import Repository
from kith.backup.restoring import restore, with_place
from kith.base.db import query
from kith.base.http import Outgoing
from kith.base.log import AccessLog
from kith.base.server import HttpServer, limits_from, listen
from kith.base.settings import Settings
from kith.social.accounts.tables import accounts

__all__ = ["rehearse"]

SAMPLE_FILES = 50
SAMPLE_BYTES = 64 << 20
SPARE = 64 << 20
LEFTOVER_SECONDS = 24 * 3600.0
_PREFIX = "rehearsal-"
_NAME = "kith_rehearsal_"
_MUST = ("/health", "/api/v2/instance", "/nodeinfo/2.0", "/.well-known/openid-configuration")
_someone = query(
    select(accounts.c.username).where(accounts.c.user_id.is_not(None)).order_by(accounts.c.id).limit(3), str
)


async def rehearse(settings: Settings, repository: Repository, manifest: Manifest) -> str:
    """What was found, in words; raises `RehearsalFailed`, or whatever the restore itself meets."""
    if shutil.disk_usage(settings.data).free < manifest.database_bytes * 2 + SPARE + SAMPLE_BYTES:
        raise RehearsalFailed(f"there is not enough room in {settings.data} to restore the database a second time")
    await repository.learn()
    missing = await repository.names(manifest) - repository.chunks
    if missing:
        raise RehearsalFailed(f"{len(missing)} pieces of the backup are missing")
    sample = _sample(await repository.files(manifest))
    await asyncio.to_thread(_clear, settings.data)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=settings.data))
    try:
        async with _database(settings) as database:
            place = with_place(settings, folder, database)
            differences = await restore(place, repository, manifest, files=sample)
            if differences:
                raise RehearsalFailed("; ".join(differences[:5]))
            asked = await _start_and_ask(place, sample)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    rows = sum(manifest.counts.values())
    return (
        f"{rows} rows in {len(manifest.counts)} tables are as they were, {len(sample)} of {manifest.files_count} files "
        f"were read, and the server answered {asked} requests"
    )


def _clear(data: Path) -> None:
    """What rehearsals left that were killed."""
    for left in data.glob(f"{_PREFIX}*"):
        if left.is_dir() and left.stat().st_mtime < time.time() - LEFTOVER_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


async def _drop_left(connection: Any) -> None:
    """Databases of such; their names tell when they were made."""
    for (name,) in await connection.fetch(
        "SELECT datname::text FROM pg_database WHERE datname ~ $1", f"^{_NAME}[0-9]+_"
    ):
        if int(name.split("_")[2]) < time.time() - LEFTOVER_SECONDS:
            with suppress(asyncpg.PostgresError):
                await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _sample(files: list[FileEntry]) -> list[FileEntry]:
    """Some files, other ones each time."""
    chosen: list[FileEntry] = []
    for file in secrets.SystemRandom().sample(files, min(len(files), SAMPLE_FILES)):
        if sum(one.size for one in chosen) + file.size <= SAMPLE_BYTES:
            chosen.append(file)
    return chosen


@asynccontextmanager
async def _database(settings: Settings) -> AsyncIterator[str]:
    if settings.is_sqlite:
        yield "sqlite"
        return
    name = f"{_NAME}{int(time.time())}_{secrets.token_hex(4)}"
    connection = await asyncpg.connect(settings.database, timeout=10)
    try:
        await _drop_left(connection)
        try:
            await connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        except asyncpg.InsufficientPrivilegeError as error:
            raise RehearsalFailed(
                "a rehearsal needs a database of its own: ALTER ROLE ... CREATEDB for the role of KITH_DATABASE"
            ) from error
        try:
            yield urlsplit(settings.database)._replace(path=f"/{name}").geturl()
        finally:
            await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await connection.close(timeout=5)


async def _start_and_ask(place: Settings, sample: list[FileEntry]) -> int:
    listener = listen("127.0.0.1", 0, shared=False)
    port = listener.getsockname()[1]
    place = msgspec.structs.replace(place, bind=f"127.0.0.1:{port}", gateway=False, rate_limits=False)
    async with open_house(place, connections=4) as house:
        house.find(Outgoing).silence()
        quiet = AccessLog(io.StringIO(), as_json=True, enabled=False)
        server = HttpServer(house.asgi(quiet), listener, limits_from(place), ())
        await server.start()
        try:
            return await _ask_all(f"http://127.0.0.1:{port}", await _addresses(house, sample))
        finally:
            await server.stop(5)


async def _addresses(house: House, sample: list[FileEntry]) -> list[str]:
    async with house.works.begin() as work:
        names = await work.db.all(_someone)
    people = [f"/api/v1/accounts/lookup?acct={quote(name)}" for name in names]
    return [*_MUST, *people, "/about", *(f"/media/{quote(file.key)}" for file in sample[:5])]


async def _ask_all(base: str, addresses: list[str]) -> int:
    for address in addresses:
        status = await asyncio.to_thread(_ask, base + address)
        # Others may be refused by the settings (who may look without signing in, say), but not met with a fault.
        if status >= 500 or (address in _MUST[:1] and status != 200):
            raise RehearsalFailed(f"the restored server answered {status} to {address}")
    return len(addresses)


def _ask(url: str) -> int:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay())
    try:
        with opener.open(url, timeout=60) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


class _Stay(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer: nobody is asked but the restored server."""

    def redirect_request(self, *_: object) -> None:
        return None
