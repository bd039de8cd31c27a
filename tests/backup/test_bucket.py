"""The same in a bucket: pieces, a manifest, a lock, pruning, and a restore that goes on where it was interrupted."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kith.backup import places
from kith.backup.failures import Damaged, NotEmpty, RepositoryInUse
from kith.backup.listing import prune_repository
from kith.backup.making import make
from kith.backup.places import BackupPlace, shown
from kith.backup.repository import Repository
from kith.backup.restoring import restore
from kith.base.keys import Keys
from kith.base.settings import BadSettings, Settings, load
from kith.cli.running import refuse_half_restored
from kith.migrations import HEAD
from tests.base.test_blobs import Bucket, bucket

__all__ = ["bucket"]


def server(folder: Path) -> Settings:
    """As little of a server as has a database, keys and files."""
    settings = load({"KITH_DATA": str(folder), "KITH_BACKUP_ACCESS_KEY": "A", "KITH_BACKUP_SECRET_KEY": "S"})
    folder.mkdir()
    with closing(sqlite3.connect(settings.sqlite_path)) as database:
        database.executescript(
            "CREATE TABLE alembic_version (version_num TEXT); CREATE TABLE base_things (id INTEGER PRIMARY KEY);"
            f"INSERT INTO alembic_version VALUES ('{HEAD}'); INSERT INTO base_things VALUES (1), (2), (3);"
        )
    Keys(folder / "keys")
    for name in ("a/one.jpg", "a/empty.bin", "b/two.png"):
        path = folder / "media" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"" if "empty" in name else name.encode() * 1000)
    return settings


async def test_a_bucket_holds_backups_as_a_folder_does(bucket: Bucket, tmp_path: Path) -> None:
    settings = server(tmp_path / "first")
    target = f"s3://photos/small?endpoint=http://127.0.0.1:{bucket.server.port}&region=eu-1&allow_http=true"
    assert shown(target) == "s3://photos/small"
    place = BackupPlace(target, settings)
    async with place.lock():
        with pytest.raises(RepositoryInUse):
            async with BackupPlace(target, settings).lock():
                pass
        repository = await Repository.open_or_create(place, b"a good passphrase")
        first = await make(settings, repository)
        assert not any(b"one.jpg" in body for body, _ in bucket.kept.values())
        (tmp_path / "first/media/b/two.png").unlink()
        again = await Repository.open(place, b"a good passphrase")
        second = await make(settings, again)
    assert (first.files_count, second.files_count, len(first.keys)) == (3, 2, 4)
    assert second.new_chunks == 1, "only the list of files is new"

    other = load({**_keys(), "KITH_DATA": str(tmp_path / "second")})
    opened = await Repository.open(BackupPlace(target, other), b"a good passphrase")
    [victim] = [name for file in await opened.files(first) if file.key == "a/one.jpg" for name in file.chunks]
    kept = bucket.kept.pop(f"small/chunks/{victim[:2]}/{victim}")
    with pytest.raises(Damaged):
        await restore(other, opened, first, to_newest=False)
    with pytest.raises(BadSettings, match="interrupted"):
        refuse_half_restored(other)
    bucket.kept[f"small/chunks/{victim[:2]}/{victim}"] = kept
    assert await restore(other, opened, first, to_newest=False) == []
    refuse_half_restored(other)
    with pytest.raises(NotEmpty):
        await restore(other, opened, first)

    for name in ("media/a/one.jpg", "media/a/empty.bin", "keys/encryption.key"):
        assert (tmp_path / "second" / name).read_bytes() == (tmp_path / "first" / name).read_bytes()
    assert (tmp_path / "second/media/b/two.png").read_bytes() == b"b/two.png" * 1000
    async with place.lock():
        pruned = await prune_repository(again, "1 daily")
    assert (pruned.backups, await again.ids(), pruned.pieces) == ([first.id], [second.id], 2)
    assert not [key for key in bucket.kept if "locks" in key]


async def test_a_lock_stays_though_the_bucket_fails_once(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Moody(dict[str, Any]):
        has_refused = False

        def __setitem__(self, key: str, value: Any) -> None:
            if not self.has_refused:
                self.has_refused = True
                raise web.HTTPForbidden
            super().__setitem__(key, value)

    monkeypatch.setattr(places, "REFRESH_SECONDS", 0.01)
    target = f"s3://photos/small?endpoint=http://127.0.0.1:{bucket.server.port}&region=eu-1&allow_http=true"
    async with BackupPlace(target, load(_keys() | {"KITH_DATA": str(tmp_path)})).lock():
        bucket.kept = Moody()
        async with asyncio.timeout(60):
            while not bucket.kept:
                await asyncio.sleep(0.01)


@pytest.mark.parametrize("how", ["removed", "said too late"])
async def test_whoever_lost_the_lock_publishes_nothing(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    settings = server(tmp_path / "first")
    target = f"s3://photos/small?endpoint=http://127.0.0.1:{bucket.server.port}&region=eu-1&allow_http=true"
    place = BackupPlace(target, settings)
    async with place.lock():
        repository = await Repository.open_or_create(place, None)
        if how == "removed":
            for key in [key for key in bucket.kept if "locks" in key]:
                bucket.kept.pop(key)
        else:
            monkeypatch.setattr(places, "STALE", timedelta(0))
        with pytest.raises(RepositoryInUse, match="meanwhile"):
            await make(settings, repository)
        monkeypatch.undo()
    assert not [key for key in bucket.kept if "manifests" in key and not key.endswith(".json")]


def _keys() -> dict[str, str]:
    return {"KITH_BACKUP_ACCESS_KEY": "A", "KITH_BACKUP_SECRET_KEY": "S"}
