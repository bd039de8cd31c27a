"""A server moves from SQLite to PostgreSQL and back: nothing is lost, whatever ends it early, and it goes on as before."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import pytest

from kith.backup.copying.rows import all_tables
from kith.backup.listing import show
from kith.backup.making import make
from kith.backup.places import BackupPlace
from kith.backup.repository import Repository
from kith.base.settings import load
from kith.migrations import FIRST, HEAD
from kith.migrations.runner import upgrade
from tests.backup.compared import rows_of_file, shape_of_postgres
from tests.town import Person, Town, build_town, postgres
from tests.town.nursery import Done, give_birth, run
from tests.web.browsing import Browser

WORDS = 'tab\there, "quotes", back\\slash \\u0041, a line\nand 🌱 lanternmeadow'


class Moved(msgspec.Struct):
    """A stopped server with a past; `gone` is the number of somebody who was deleted."""

    town: Town
    ada: Person
    key: str
    gone: int

    @property
    def path(self) -> Path:
        return Path(self.town.folder) / "kith.sqlite3"


@pytest.fixture(scope="module")
async def past(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Moved]:
    async with build_town("sqlite", tmp_path_factory.mktemp("moving") / "town", confirm_email="off") as town:
        ada = await town.owner()
        bob = await town.sign_up()
        key = (await town.kith("tokens", "create", ada.username, "--scopes", "read write api admin:write")).strip()
        ours = {"authorization": f"Bearer {key}"}
        for words in (WORDS, "another one"):
            answer = await town.http.post("/api/v1/statuses", json={"status": words}, headers=ours)
            assert answer.status_code == 200
        me = (await town.http.get("/api/v2/core/users/", params={"username": bob.username}, headers=ours)).json()
        gone = me["results"][0]["pk"]
        assert (await town.http.delete(f"/api/v2/core/users/{gone}/", headers=ours)).status_code == 204
        await town.stop()
        yield Moved(town, ada, key, gone)


def _copied(past: Moved, folder: Path) -> Path:
    """The database alone, to do anything with."""
    folder.mkdir(exist_ok=True)
    with closing(sqlite3.connect(past.path)) as source, closing(sqlite3.connect(folder / "kith.sqlite3")) as copy:
        source.backup(copy)
    return folder


async def _move(past: Moved, to: str, *words: str, **settings: str) -> Done:
    environment = past.town.environment | {f"KITH_{name.upper()}": value for name, value in settings.items()}
    return await run("move", "--to", to, *words, environment=environment)


async def test_it_goes_there_and_back_and_lives_on(past: Moved, tmp_path: Path) -> None:
    # given
    before = rows_of_file(past.path)

    async with postgres.fresh_database() as url, build_town("postgresql", tmp_path / "new", start=False) as new:
        # when
        there = await _move(past, url, "--json")
        back = await _move(past, f"sqlite:///{tmp_path}/back.sqlite3", "--json", database=url)

        # then
        assert (there.code, back.code) == (0, 0), (there.complained, back.complained)
        for done in (there, back):
            assert {one["name"]: one["before"] for one in done.json["tables"]} == {
                one.name: len(before[one.name]) for one in all_tables()
            }
            assert all(one["before"] == one["after"] for one in done.json["tables"])
        assert rows_of_file(tmp_path / "back.sqlite3") == before == rows_of_file(past.path)
        assert await shape_of_postgres(url) == await shape_of_postgres(new.database)
        assert "there are tables" in (await _move(past, url)).complained
        await _lives_on(past, url)


async def _lives_on(past: Moved, url: str) -> None:
    """People sign in, what was written is found, and nothing gets the number or the id of something older."""
    town, ours = past.town, {"authorization": f"Bearer {past.key}"}
    again = Town("postgresql", town.folder, url, confirm_email="off", base_url=town.base_url)
    await again.start()
    try:
        browser = Browser(again)
        await browser.sign_in(past.ada.username, past.ada.password)
        assert await browser.is_signed_in()
        found = (await again.http.get("/api/v2/search", params={"q": "lanternmeadow"}, headers=ours)).json()
        [old] = found["statuses"]
        assert "🌱" in old["content"]
        new = await again.http.post("/api/v1/statuses", json={"status": "from here"}, headers=ours)
        assert int(new.json()["id"]) > int(old["id"])
        made = await again.http.post("/api/v2/core/users/", json={"username": "carla", "name": "C"}, headers=ours)
        assert made.status_code == 201, made.text
        assert made.json()["pk"] == past.gone + 1, "the number of somebody who was deleted is not given out again"
    finally:
        await again.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_what_was_killed_goes_on(past: Moved, tmp_path: Path, kind: str) -> None:
    before = rows_of_file(past.path)
    log = tmp_path / "log"
    async with postgres.fresh_database() as first, postgres.fresh_database() as second:
        source, target = "sqlite", second
        if kind == "sqlite":
            assert (await _move(past, first)).code == 0
            source, target = first, f"sqlite:///{tmp_path}/back.sqlite3"
        environment = past.town.environment | {"KITH_DATABASE": source}
        for least in (1, 60, 120):
            child = give_birth("move", "--to", target, environment=environment, typed=None, said=log, complained=log)
            while child.poll() is None and await _count_marks(target) < least:
                await asyncio.sleep(0.002)
            child.send_signal(signal.SIGKILL)
            assert await asyncio.to_thread(child.wait, 60) == -signal.SIGKILL, log.read_text()
            if kind == "postgresql":
                await _refused_half_moved(environment | {"KITH_DATABASE": target}, tmp_path)

        done = await _move(past, target, "--json", database=source)

        assert done.code == 0, done.complained
        assert done.json["resumed"] > 0
        if kind == "postgresql":
            back = f"sqlite:///{tmp_path}/back.sqlite3"
            assert (await _move(past, back, database=target)).code == 0
        assert rows_of_file(tmp_path / "back.sqlite3") == before
        assert {one.name for one in tmp_path.iterdir() if "moving" in one.name} == set()


async def _refused_half_moved(environment: dict[str, str], tmp_path: Path) -> None:
    for words in (("serve",), ("migrate",), ("check", "--inside"), ("backup", str(tmp_path / "none"))):
        done = await run(*words, environment=environment)
        assert done.code == 1, words
        assert "copy into this database is under way" in done.said + done.complained, done


async def _count_marks(target: str) -> int:
    """How many tables have been begun."""
    words = "SELECT count(*) FROM kith_move WHERE name LIKE 'table %'"
    if target.startswith("sqlite"):
        path = Path(target.removeprefix("sqlite:///") + ".moving")
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as opened:
                return int(opened.execute(words).fetchone()[0])
        except sqlite3.Error:
            return 0
    connection = await asyncpg.connect(target)
    try:
        return int(await connection.fetchval(words))
    except asyncpg.PostgresError:
        return 0
    finally:
        await connection.close()


async def test_a_rehearsal_finds_what_is_wrong_and_changes_nothing(past: Moved, tmp_path: Path) -> None:
    """NUL characters, which SQLite keeps and PostgreSQL does not."""
    folder = _copied(past, tmp_path / "data")
    with closing(sqlite3.connect(folder / "kith.sqlite3")) as opened:
        [[post]] = opened.execute("SELECT id FROM social_statuses WHERE text = 'another one'").fetchall()
        opened.execute("UPDATE social_statuses SET text = 'a' || char(0) || 'b' WHERE text = 'another one'")
        opened.commit()
    before = rows_of_file(folder / "kith.sqlite3")
    async with postgres.fresh_database() as url:
        rehearsed = await _move(past, url, "--rehearse", data=str(folder))
        tried = await _move(past, url, data=str(folder))
        dropped = await _move(past, url, "--drop-nul", "--json", data=str(folder))

        for done in (rehearsed, tried):
            assert done.code == 1
            assert f"social_statuses, id {post}: a text has a NUL character" in done.complained
            assert "--drop-nul" in done.complained
        assert dropped.code == 0, dropped.complained
        assert [one["key"] for one in dropped.json["changed"]] == [{"id": post}]
        connection = await asyncpg.connect(url)
        assert await connection.fetchval("SELECT text FROM social_statuses WHERE id = $1", post) == "ab"
        assert await connection.fetchval("SELECT to_regnamespace('kith_rehearsal')") is None
        await connection.close()
    assert rows_of_file(folder / "kith.sqlite3") == before


async def test_a_rehearsal_needs_nobody_to_stop_and_a_move_does(tmp_path: Path) -> None:
    async with build_town("sqlite", tmp_path / "town") as town, postgres.fresh_database() as url:
        shape = await _names(url)

        rehearsed = await town.kith("move", "--to", url, "--rehearse", "--json")
        refused = await town.kith("move", "--to", url, expect=1)

        assert json.loads(rehearsed)["rows"] > 100
        assert "stop them all" in refused
        assert await _names(url) == shape
        assert (await town.http.get("/health")).status_code == 200


async def _names(url: str) -> set[str]:
    connection = await asyncpg.connect(url)
    try:
        found = await connection.fetch("SELECT relname FROM pg_class UNION ALL SELECT nspname FROM pg_namespace")
        return {name for (name,) in found if not name.startswith("pg_")}
    finally:
        await connection.close()


async def test_what_cannot_be_moved_is_refused(past: Moved, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        empty = await stack.enter_async_context(postgres.fresh_database())
        taken = tmp_path / "taken.sqlite3"
        taken.write_bytes(b"dear to somebody")
        assert (await _move(past, empty)).code == 0
        for (to, settings), words in {
            (f"sqlite:///{tmp_path}/other.sqlite3", ()): "both SQLite",
            ("mysql://localhost/kith", ()): "--to must be sqlite",
            (
                "postgresql://kith:secret@127.0.0.1:1/kith",
                (),
            ): "nothing can be written to postgresql://kith:...@127.0.0.1:1",
            (f"sqlite:///{taken}", (("database", empty),)): "a new file only",
        }.items():
            done = await _move(past, to, **dict(settings))
            assert done.code == 1, to
            assert words in done.complained, done
            assert "secret" not in done.complained
        assert taken.read_bytes() == b"dear to somebody"
        assert sorted(one.name for one in tmp_path.iterdir()) == ["taken.sqlite3"]


async def test_another_schema_is_refused(past: Moved, tmp_path: Path) -> None:
    folder = _copied(past, tmp_path / "data")
    for revision, words in (("0108", "older than this version"), ("9999", "newer than this version")):
        with closing(sqlite3.connect(folder / "kith.sqlite3")) as opened:
            opened.execute("UPDATE alembic_version SET version_num = ?", (revision,))
            opened.commit()
        done = await _move(past, "postgresql://127.0.0.1:1/kith", data=str(folder))
        assert (done.code, words in done.complained) == (1, True), done


async def test_a_copy_of_what_was_used_since_begins_anew_only_if_one_says_so(past: Moved, tmp_path: Path) -> None:
    folder = _copied(past, tmp_path / "data")
    async with postgres.fresh_database() as url:
        with closing(sqlite3.connect(folder / "kith.sqlite3")) as opened:
            opened.execute("UPDATE social_statuses SET text = char(0) WHERE text = 'another one'")
            opened.commit()
        assert (await _move(past, url, data=str(folder))).code == 1
        with closing(sqlite3.connect(folder / "kith.sqlite3")) as opened:
            opened.execute("UPDATE social_statuses SET text = 'mended' WHERE text = char(0)")
            opened.execute("UPDATE base_id_slots SET leased_until = '2026-01-01T00:00:00.000000Z'")
            opened.commit()

        refused = await _move(past, url, data=str(folder))
        anew = await _move(past, url, "--anew", "--json", data=str(folder))

        assert "used since" in refused.complained
        assert (anew.code, anew.json["resumed"]) == (0, 0), anew.complained


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_backup_is_restored_to_the_other_kind(past: Moved, tmp_path: Path, kind: str) -> None:
    before = rows_of_file(past.path)
    repository = str(tmp_path / "repository")
    town = past.town.environment
    async with postgres.fresh_database() as url, postgres.fresh_database() as other:
        if kind == "postgresql":
            assert (await _move(past, url)).code == 0
        source = "sqlite" if kind == "sqlite" else url
        settings = load(town | {"KITH_DATABASE": source})
        opened = await Repository.open_or_create(BackupPlace(repository, settings), None)
        made = show(await make(settings, opened))
        place = {"KITH_DATA": str(tmp_path / "restored"), "KITH_DATABASE": other if kind == "sqlite" else "sqlite"}

        done = await run("restore", repository, "--json", environment=town | place)

        assert done.code == 0, done.complained
        assert (done.json["differences"], done.json["id"]) == ([], made["id"])
        path = tmp_path / "restored" / "kith.sqlite3"
        if kind == "sqlite":
            assert not (tmp_path / "restored" / "restoring-database").exists()
            path = tmp_path / "back.sqlite3"
            assert (await _move(past, f"sqlite:///{path}", database=other)).code == 0
        assert rows_of_file(path) == before


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_an_older_backup_is_upgraded_on_its_way_to_the_other_kind(tmp_path: Path, kind: str) -> None:
    async with postgres.fresh_database() as url, postgres.fresh_database() as other:
        old = {"KITH_DATA": str(tmp_path / "old"), "KITH_DATABASE": "sqlite" if kind == "sqlite" else url}
        (tmp_path / "old").mkdir()
        settings = load(old)
        await upgrade(settings, to=FIRST)
        repository = str(tmp_path / "repository")
        await make(settings, await Repository.open_or_create(BackupPlace(repository, settings), None))
        place = {"KITH_DATA": str(tmp_path / "new"), "KITH_DATABASE": other if kind == "sqlite" else "sqlite"}

        done = await run("restore", repository, "--json", environment=place)

        assert (done.code, done.json["differences"]) == (0, []), done.complained
        migrated = await run("migrate", "--json", environment=place)
        assert migrated.json == {"from": HEAD, "to": HEAD}
        if kind == "postgresql":
            roles = rows_of_file(tmp_path / "new" / "kith.sqlite3")["social_roles"]
            assert [row[1] for row in roles] == ["", "Moderator", "Admin", "Owner"]


def test_every_type_of_column_is_known() -> None:
    """A type that is new wants to be looked at: is it the same on both databases?"""
    kinds: dict[str, set[Any]] = {}
    for table in all_tables():
        assert table.key, f"{table.name} has no primary key to be read by"
        for column in table.columns:
            kinds.setdefault(column.kind, set()).add(column.name)
    assert kinds.keys() == {"plain", "boolean", "instant", "document", "uid", "whole", "real"}
