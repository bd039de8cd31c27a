"""A database of any released schema, with rows in every table, becomes one of today and loses nothing."""

from __future__ import annotations

import datetime as dt
import functools
import shutil
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from kith.base.db import UID
from kith.base.settings import BadSettings, load
from kith.migrations import FIRST, HEAD, LAST_UNRELEASED, runner
from kith.migrations.plan import plan
from tests.identity.old_rows import fill, shapes
from tests.town import Town, postgres
from tests.town.town import Engine

Done = TypeVar("Done")
CHAIN = sorted(runner.known_revisions())


class Old:
    """A database, spoken to as a migration would."""

    def __init__(self, engine: Engine, folder: Path, database: str) -> None:
        self.engine = engine
        self.folder = folder
        self.database = database
        self.settings = load({"KITH_DATA": str(folder), "KITH_DATABASE": database})

    async def do(self, what: Callable[[sa.Connection], Done]) -> Done:
        if self.engine == "sqlite":
            engine = sa.create_engine(f"sqlite:///{self.settings.sqlite_path}", poolclass=NullPool)
            with engine.begin() as connection:
                return what(connection)
        asynchronous = create_async_engine(runner.sqlalchemy_url(self.database), poolclass=NullPool)
        async with asynchronous.begin() as beginning:
            return await beginning.run_sync(what)

    async def say(self, words: str) -> None:
        await self.do(lambda connection: connection.exec_driver_sql(words))

    async def revision(self) -> Any:
        return await self.do(
            lambda connection: connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
        )


@pytest.fixture(scope="module")
async def filled(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Old]:
    """A database of the first release, with rows in every table, of which each test gets a copy."""
    async with AsyncExitStack() as stack:
        database = "sqlite" if engine == "sqlite" else await stack.enter_async_context(postgres.fresh_database())
        made = Old(engine, tmp_path_factory.mktemp("filled"), database)
        await runner.upgrade(made.settings, to=FIRST)
        assert len(await made.do(fill)) > 150
        yield made


@pytest.fixture
async def old(filled: Old, tmp_path: Path) -> AsyncIterator[Old]:
    if filled.engine == "sqlite":
        copy = Old("sqlite", tmp_path, "sqlite")
        shutil.copy(filled.settings.sqlite_path, copy.settings.sqlite_path)
        yield copy
        return
    async with postgres.fresh_database(template=urlsplit(filled.database).path.removeprefix("/")) as database:
        yield Old("postgresql", tmp_path, database)


def counts_of(connection: sa.Connection) -> dict[str, int]:
    names = set(sa.inspect(connection).get_table_names())
    return {name: connection.exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar_one() for name in names}


def broken(connection: sa.Connection) -> list[Any]:
    """What SQLite finds wrong with the file itself; PostgreSQL refuses to write such a thing."""
    if connection.dialect.name == "postgresql":
        return []
    found = list(connection.exec_driver_sql("PRAGMA foreign_key_check"))
    return found + [row for row in connection.exec_driver_sql("PRAGMA integrity_check") if row[0] != "ok"]


async def test_rows_of_each_schema_are_kept_by_every_step(old: Old) -> None:
    """One database through all of them; whatever a step has made or changed gets rows before the next."""
    before, known = await old.do(counts_of), await old.do(shapes)
    planned = await plan(old.settings, FIRST, HEAD)
    assert [step.revision for step in planned.steps] == CHAIN[1:]
    for place, revision in enumerate(CHAIN):
        await runner.upgrade(old.settings, to=revision)
        after = await old.do(counts_of)
        assert {name: count for name, count in before.items() if name in after and after[name] < count} == {}, revision
        assert await old.do(broken) == [], revision
        now = await old.do(shapes)
        changed = {name for name, shape in now.items() if known.get(name) != shape}
        await old.do(functools.partial(fill, first=(place + 1) * 1000 + 1, only=changed))
        known, before = now, await old.do(counts_of)
    assert await old.revision() == HEAD


async def test_the_last_schema_before_the_first_release_is_taken_as_it_is(old: Old) -> None:
    await old.say(f"UPDATE alembic_version SET version_num = '{LAST_UNRELEASED}'")
    before = await old.do(counts_of)

    await runner.upgrade(old.settings)
    await runner.upgrade(old.settings)

    assert await old.revision() == HEAD
    after = await old.do(counts_of)
    assert {name: after[name] for name in before} == before


async def test_earlier_schemas_are_refused_with_the_way_out_and_left_alone(old: Old) -> None:
    await old.say("UPDATE alembic_version SET version_num = '0031'")
    before = await old.do(counts_of)
    town = Town(old.engine, old.folder, old.database)
    try:
        for words in (("migrate",), ("migrate", "--plan"), ("serve",), ("users", "list"), ("check",)):
            said = await town.kith(*words, expect=1)
            assert "made by a version before 0.1.0 (it is at 0031)" in " ".join(said.split()), words
            assert "docs/upgrading.md" in said, words
        with pytest.raises(BadSettings, match=r"before 0\.1\.0"):
            await runner.upgrade(old.settings)
    finally:
        await town.close()
    assert await old.do(counts_of) == before
    assert await old.revision() == "0031"


async def test_an_upgrade_that_is_interrupted_has_changed_nothing(old: Old, monkeypatch: pytest.MonkeyPatch) -> None:
    """The power fails before the commit; the next try goes the whole way."""
    await old.say(f"UPDATE alembic_version SET version_num = '{LAST_UNRELEASED}'")
    before = await old.do(counts_of)
    whole = runner.run

    def interrupted(connection: sa.Connection, to: str = "head") -> None:
        whole(connection, to)
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        await runner.upgrade(old.settings)
    monkeypatch.undo()

    assert (await old.revision(), await old.do(counts_of)) == (LAST_UNRELEASED, before)
    await runner.upgrade(old.settings)
    assert await old.revision() == HEAD
    assert await old.do(broken) == []


_document = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
_moment = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")
_events = sa.table(
    "identity_events",
    sa.column("event_uuid", UID()),
    sa.column("username", sa.Text()),
    sa.column("action", sa.Text()),
    sa.column("app", sa.Text()),
    sa.column("context", _document),
    sa.column("created_at", _moment),
    sa.column("expires_at", _moment),
)


async def test_what_events_told_in_clear_is_masked_by_the_upgrade(old: Old) -> None:
    """Texts that may hold secrets, and attributes; the rest of the trail stays as it was written."""
    await runner.upgrade(old.settings, to="0109")
    told: dict[str, Any] = {
        "created": {"name": "n", "content": "password: SECRET", "context": {"a": "SECRET"}, "webhook_url": "SECRET"},
        "diff": {
            "name": {"previous_value": "a", "new_value": "b"},
            "attributes": {"previous_value": {"x": "SECRET"}, "new_value": {"x": "SECRET", "y": ""}},
        },
        "expression": "return 'SECRET'",
        "model": {"name": "n"},
    }
    told["url"] = "https://lists.example/SECRET"
    ids = {action: str(uuid.uuid4()) for action in ("model_created", "user_write", "create_webhook", "login")}
    at = dt.datetime(2026, 1, 1, tzinfo=dt.UTC) if old.engine == "postgresql" else "2026-01-01T00:00:00.000000Z"

    def write(connection: sa.Connection) -> None:
        many = [("model_updated", str(uuid.uuid4())) for _ in range(600)]  # more than are read at once
        row = {"username": "u", "app": "x", "context": told, "created_at": at, "expires_at": at}
        rows = [row | {"event_uuid": id, "action": action} for action, id in (*ids.items(), *many)]
        connection.execute(_events.insert(), rows)

    def read(connection: sa.Connection) -> dict[str, Any]:
        ours = _events.c.event_uuid.in_(ids.values())
        rows = connection.execute(sa.select(_events.c.action, _events.c.context).where(ours)).all()
        others = connection.execute(sa.select(_events.c.context).where(_events.c.action == "model_updated")).scalars()
        return {row.action: row.context for row in rows} | {"others": [one for one in others if "created" in one]}

    await old.do(write)
    await runner.upgrade(old.settings)
    found = await old.do(read)

    stars = "*" * 20
    assert found["login"] == told
    assert found["others"] == [found["user_write"]] * 600
    assert found["model_created"] == found["user_write"]
    assert found["create_webhook"] == found["user_write"] | {"url": stars}
    assert found["user_write"] == told | {
        "created": {"name": "n", "content": stars, "context": {"a": stars}, "webhook_url": stars},
        "diff": {
            "name": {"previous_value": "a", "new_value": "b"},
            "attributes": {"previous_value": {"x": stars}, "new_value": {"x": stars, "y": ""}},
        },
        "expression": stars,
    }
