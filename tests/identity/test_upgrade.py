"""A database of the first release, with people in it, becomes one of today and loses nobody."""

from __future__ import annotations

import functools
import hashlib
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
import sqlalchemy as sa
from alembic import command
from argon2 import PasswordHasher
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from kith.base.settings import load
from kith.migrations import HEAD, runner
from kith.migrations.plan import plan
from tests.identity.old_rows import fill, shapes
from tests.identity.records import API, results
from tests.town import Person, Town, postgres
from tests.town.town import Engine

Done = TypeVar("Done")

AT = "2020-06-29T09:12:30.123456Z"
PASSWORD, KEY = "as it was then", "kith_an-old-key"
UUIDS = [f"00000000-0000-4000-8000-00000000000{n}" for n in range(10)]
TABLES = ("identity_users", "identity_groups", "identity_group_members", "identity_tokens", "identity_events")


def row(table: str, **values: Any) -> str:
    """Plain SQL that both databases read: this must not change when the program does."""
    shown = ", ".join(
        "NULL" if one is None else f"'{one}'" if isinstance(one, str) else str(one) for one in values.values()
    )
    return f"INSERT INTO {table} ({', '.join(values)}) VALUES ({shown})"


def user(id: int, username: str, name: str, role: str) -> str:
    hashed = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    key = username.casefold()
    return row(
        "identity_users",
        id=id,
        uuid=UUIDS[id],
        username=username,
        username_key=key,
        name=name,
        email=f"{username}@Example.org",
        email_key=f"{key}@example.org",
        password=hashed,
        is_active=True,
        role=role,
        type="internal",
        path="users",
        attributes='{"color": "red"}',
        created_at=AT,
        updated_at=AT,
        last_login_at=None,
        password_changed_at=AT,
        confirmed_at=AT,
        approved_at=AT,
    )


def group(uuid: str, name: str, parent: str | None, *, is_superuser: bool) -> str:
    return row(
        "identity_groups",
        group_uuid=uuid,
        name=name,
        parent=parent,
        is_superuser=is_superuser,
        attributes="{}",
        created_at=AT,
    )


def event(uuid: str, user_id: int | None, username: str, action: str, context: str, client_ip: str | None) -> str:
    return row(
        "identity_events",
        event_uuid=uuid,
        user_id=user_id,
        username=username,
        action=action,
        app="core.auth",
        context=context,
        client_ip=client_ip,
        created_at=AT,
        expires_at="2999-01-01T00:00:00.000000Z",
    )


FIRST_RELEASE = (
    user(1, "Grace", "Grace Hopper", "owner"),
    user(2, "Zoë", "Zoë Ångström", "user"),
    user(3, "alan", "Alan Turing", "user"),
    group(UUIDS[4], "above", None, is_superuser=True),
    group(UUIDS[5], "below", UUIDS[4], is_superuser=False),
    row("identity_group_members", group_uuid=UUIDS[5], user_id=2),
    row("identity_group_members", group_uuid=UUIDS[4], user_id=3),
    row(
        "identity_tokens",
        token_uuid=UUIDS[6],
        identifier="api-1",
        key_hash=hashlib.sha256(KEY.encode()).hexdigest(),
        intent="api",
        user_id=1,
        scopes="api",
        description="old",
        created_at=AT,
        expires_at=None,
        last_used_at=AT,
    ),
    event(UUIDS[7], 2, "Zoë", "login", '{"auth_method": "password"}', "10.1.2.3"),
    event(UUIDS[8], None, "gone", "login_failed", "{}", None),
    row("identity_setup", id=1, token_hash="0" * 64, made_at=AT, used_at=AT),
)


def make_first_release(connection: sa.Connection) -> None:
    command.upgrade(runner.alembic_config(connection), "0001")
    for words in FIRST_RELEASE:
        connection.exec_driver_sql(words)
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT setval('identity_users_id_seq', 3)")


def contents(connection: sa.Connection) -> dict[str, list[dict[str, Any]]]:
    return {
        table: [dict(row) for row in connection.exec_driver_sql(f"SELECT * FROM {table} ORDER BY 1, 2").mappings()]
        for table in TABLES
    }


def broken(connection: sa.Connection) -> list[Any]:
    """What SQLite finds wrong with the file itself; PostgreSQL refuses to write such a thing."""
    if connection.dialect.name == "postgresql":
        return []
    found = list(connection.exec_driver_sql("PRAGMA foreign_key_check"))
    return found + [row for row in connection.exec_driver_sql("PRAGMA integrity_check") if row[0] != "ok"]


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


@pytest.fixture
async def old(engine: Engine, tmp_path: Path) -> AsyncIterator[Old]:
    async with _database(engine) as database:
        found = Old(engine, tmp_path, database)
        await found.do(make_first_release)
        yield found


@asynccontextmanager
async def _database(engine: Engine) -> AsyncIterator[str]:
    if engine == "sqlite":
        yield "sqlite"
    else:
        async with postgres.fresh_database() as url:
            yield url


async def test_every_record_is_kept_as_it_was(old: Old) -> None:
    before = await old.do(contents)

    await runner.upgrade(old.settings)
    await runner.upgrade(old.settings)

    after = await old.do(contents)
    assert {table: len(rows) for table, rows in before.items()} == dict(zip(TABLES, (3, 2, 2, 1, 2), strict=True))
    for table, rows in before.items():
        kept = [{name: row[name] for name in rows[0]} for row in after[table]]
        assert kept == rows
    assert [row["updated_at"] for row in after["identity_groups"]] == [
        row["created_at"] for row in after["identity_groups"]
    ]
    assert await old.do(broken) == []
    revision = await old.do(
        lambda connection: connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    )
    assert revision == HEAD


async def test_the_server_finds_everybody_again(old: Old) -> None:
    town = Town(old.engine, old.folder, old.database)
    await town.kith("migrate")
    await town.start()
    try:
        grace = Person(town.http, "grace", PASSWORD)
        for words, expected in (
            ("hopper", ["Grace"]),
            ("ångström", ["Zoë"]),
            ("GRACE", ["Grace"]),
            ("example.org", ["Grace", "Zoë", "alan"]),
            ("turing example", ["alan"]),
            ("zo", ["Zoë"]),
            (UUIDS[3][-8:], ["alan"]),
            ("nobody", []),
        ):
            assert [one["username"] for one in await results(grace, "/core/users/", search=words)] == expected, words
        [below] = await results(grace, "/core/groups/", name="below")
        assert (below["parent"], below["user_set"], below["last_updated"]) == (UUIDS[4], [2], AT)
        zoe = (await Person(town.http, "zoë", PASSWORD).get(f"{API}/core/users/me/")).json()
        assert (zoe["is_superuser"], zoe["attributes"], zoe["groups"]) == (True, {"color": "red"}, [UUIDS[5]])
        assert [one["pk"] for one in await results(grace, "/audit/events/", username="Zoë")] == [UUIDS[7]]
        bearer = await town.http.get(f"{API}/core/tokens/", headers={"authorization": f"Bearer {KEY}"})
        assert [one["pk"] for one in bearer.json()["results"]] == [UUIDS[6]]
        made = await grace.call("POST", f"{API}/core/users/", json={"username": "new", "name": "Newcomer"})
        assert made.json()["pk"] == 4
        renamed = await grace.call("PATCH", f"{API}/core/users/3/", json={"name": "Alan Mathison"})
        assert renamed.status_code == 200
        assert [one["pk"] for one in await results(grace, "/core/users/", search="mathison")] == [3]
        assert await results(grace, "/core/users/", search="turing") == []
    finally:
        await town.close()


def signed_up(id: int, name: str, *, email: str, confirmed_at: str | None, last_login_at: str | None = None) -> str:
    hexed = f"00000000-0000-4000-8000-0000000000{id}"
    return row(
        "identity_users",
        id=id,
        uuid=hexed,
        username=name,
        username_key=name,
        name=name,
        email=email,
        email_key=email.casefold(),
        password=None,
        is_active=True,
        role="user",
        type="internal",
        path="users",
        attributes="{}",
        created_at=AT,
        updated_at=AT,
        last_login_at=last_login_at,
        password_changed_at=None,
        confirmed_at=confirmed_at,
        approved_at=AT,
    )


LATER, LATEST = "2021-01-01T00:00:00.000000Z", "2022-01-01T00:00:00.000000Z"
# Name, address, when it was confirmed, the last sign-in, whether they signed up by themselves; whether it counts now,
# and since when it is proven.
ADDRESSES: tuple[tuple[str, str, str | None, str | None, bool, str | None, str | None], ...] = (
    ("proven", "One@example.org", LATEST, None, True, None, None),
    ("before", "one@Example.org", LATER, None, True, "one@example.org", LATER),
    ("at-once", "one@example.org", AT, AT, True, None, None),
    ("trusted", "two@example.org", AT, AT, True, "two@example.org", None),
    ("made", "three@example.org", AT, None, False, "three@example.org", AT),
    ("never", "four@example.org", None, None, True, None, None),
    ("active", "four@example.org", None, AT, True, "four@example.org", None),
    ("umlaut", "five@B\u00fccher.example", LATER, None, True, "five@xn--bcher-kva.example", LATER),
    ("ascii", "five@xn--bcher-kva.example", LATEST, None, True, None, None),
)


def make_addresses(connection: sa.Connection) -> None:
    command.upgrade(runner.alembic_config(connection), "0008")
    for id, (name, email, confirmed_at, last_login_at, by_themselves, _key, _at) in enumerate(ADDRESSES, 40):
        made = signed_up(id, name, email=email, confirmed_at=confirmed_at, last_login_at=last_login_at)
        connection.exec_driver_sql(made)
        if by_themselves:
            connection.exec_driver_sql(
                row("identity_signups", user_id=id, reason="", locale="", client_ip="", client_name="", created_at=AT)
            )


async def test_an_address_stays_with_whoever_proved_it_first(old: Old) -> None:
    await old.do(make_addresses)

    await runner.upgrade(old.settings)

    for name, _email, _confirmed, _login, _alone, key, proven_at in ADDRESSES:
        found = await old.do(
            lambda connection, name=name: connection.exec_driver_sql(  # type: ignore[misc]
                f"SELECT owned_email_key, email_verified_at FROM identity_users WHERE username = '{name}'"
            ).one()
        )
        verified = found[1] if found[1] is None or isinstance(found[1], str) else f"{found[1]:%Y-%m-%dT%H:%M:%S.%fZ}"
        assert (found[0], verified) == (key, proven_at), name
    assert await old.do(broken) == []


ACCOUNT = row(
    "social_accounts",
    id=1,
    version=1,
    user_id=1,
    username="Grace",
    username_key="grace",
    domain="",
    uri="https://kith.example/users/Grace",
    url=None,
    actor_type="Person",
    display_name="",
    note="",
    note_html="",
    role="owner",
    fields="[]",
    avatar="",
    avatar_static="",
    avatar_description="",
    header="",
    header_static="",
    header_description="",
    locked=False,
    discoverable=None,
    indexable=False,
    hide_collections=None,
    noindex=False,
    show_media=True,
    show_media_replies=True,
    show_featured=True,
    attribution_domains="[]",
    also_known_as="[]",
    moved_to=None,
    is_listed=True,
    memorial=False,
    silenced_at=None,
    sensitized_at=None,
    suspended_at=None,
    deleted_at=None,
    statuses_count=0,
    followers_count=0,
    following_count=0,
    last_status_at=None,
    created_at=AT,
    updated_at=AT,
    fetched_at=None,
)


def make_small_versions(connection: sa.Connection) -> None:
    command.upgrade(runner.alembic_config(connection), "0007")


def grow_versions(connection: sa.Connection) -> None:
    """As a change does: more than a number of 32 bits holds."""
    for table in ("social_accounts", "social_statuses"):
        connection.exec_driver_sql(f"UPDATE {table} SET version = version + {1 << 32}")


async def test_versions_grow_in_a_database_that_was_there_before(old: Old) -> None:
    await old.do(make_small_versions)
    await old.do(lambda connection: connection.exec_driver_sql(ACCOUNT))

    await runner.upgrade(old.settings)
    await old.do(grow_versions)

    versions = await old.do(
        lambda connection: list(connection.exec_driver_sql("SELECT version FROM social_accounts").scalars())
    )
    assert versions == [1 + (1 << 32)]
    assert await old.do(broken) == []


CHAIN = sorted(runner.known_revisions())
# On SQLite many of the earlier schemas, on PostgreSQL a few: each is a whole database.
EARLIER = {"sqlite": CHAIN[1::9], "postgresql": CHAIN[5::24]}


def counts_of(connection: sa.Connection) -> dict[str, int]:
    names = set(sa.inspect(connection).get_table_names())
    return {name: connection.exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar_one() for name in names}


async def test_earlier_schemas_come_to_the_newest_in_one_go(engine: Engine, tmp_path: Path) -> None:
    growing = load({"KITH_DATA": str(tmp_path)})
    for revision in EARLIER[engine]:
        folder = tmp_path / revision
        folder.mkdir()
        async with _database(engine) as database:
            old = Old(engine, folder, database)
            if engine == "sqlite":  # each goes on from the one before, and a copy of it is filled
                await runner.upgrade(growing, to=revision)
                shutil.copy(growing.sqlite_path, old.settings.sqlite_path)
            await runner.upgrade(old.settings, to=revision)
            filled = await old.do(fill)
            assert len(filled) > 10, revision

            planned = await plan(old.settings, revision, HEAD)
            await runner.upgrade(old.settings)

            after = await old.do(counts_of)
            assert [step.revision for step in planned.steps] == [one for one in CHAIN if one > revision]
            lost = {name: count for name, count in filled.items() if name in after and after[name] < count}
            assert lost == {}, revision
            assert await old.do(broken) == [], revision


async def test_rows_of_each_schema_are_kept_by_every_step(old: Old) -> None:
    """One database through all of them; whatever a step has made or changed gets rows before the next."""
    before: dict[str, int] = {}
    known: dict[str, str] = {}
    filled: set[str] = set()
    for place, revision in enumerate(CHAIN):
        await runner.upgrade(old.settings, to=revision)
        after = await old.do(counts_of)
        lost = {name: count for name, count in before.items() if name in after and after[name] < count}
        assert lost == {}, revision
        assert await old.do(broken) == [], revision
        now = await old.do(shapes)
        changed = {name for name, shape in now.items() if known.get(name) != shape}
        filled |= set(await old.do(functools.partial(fill, first=place * 1000 + 1, only=changed)))
        known, before = now, await old.do(counts_of)
    assert len(filled) > 150


async def test_an_upgrade_that_is_interrupted_has_changed_nothing(old: Old, monkeypatch: pytest.MonkeyPatch) -> None:
    """The power fails before the commit; the next try goes the whole way."""
    before = await old.do(contents)
    whole = runner.run

    def interrupted(connection: sa.Connection, to: str = "head") -> None:
        whole(connection, to)
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        await runner.upgrade(old.settings)
    monkeypatch.undo()

    assert await old.do(contents) == before
    await runner.upgrade(old.settings)
    assert await old.do(broken) == []
