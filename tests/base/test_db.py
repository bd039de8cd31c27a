"""The database: the same words mean the same on both engines, and a work is kept whole or not at all."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import asyncpg
import msgspec
import pytest
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    func,
    literal,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.schema import CreateTable

from kith.base.db import (
    UID,
    Dangling,
    Document,
    Instant,
    Taken,
    add_once,
    any_of,
    command,
    insert_into,
    query,
    upsert,
)
from kith.base.db.statement import DIALECTS
from kith.base.errors import Unavailable
from kith.base.jobs.tables import jobs
from kith.base.limits import rate_counts
from kith.base.settings import Settings, load
from kith.identity.groups.tables import groups, members
from kith.migrations import HEAD
from tests.base.foundation import Foundation, lay_foundation
from tests.town import build_town
from tests.town.town import Engine

_metadata = MetaData()
things = Table(
    "test_things",
    _metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Instant),
    Column("uid", UID),
    Column("document", Document),
    Column("flag", Boolean),
    Column("words", Text),
)
parts = Table(
    "test_parts",
    _metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("thing_id", BigInteger, ForeignKey(things.c.id, deferrable=True, initially="DEFERRED"), nullable=False),
)


class Thing(msgspec.Struct):
    id: int
    at: datetime | None = None
    uid: str | None = None
    document: Any = None
    flag: bool | None = None
    words: str | None = None


add = command(insert_into(things))
add_part = command(insert_into(parts))
everything = query(select(things).order_by(things.c.id), Thing)
by_id = query(select(things).where(things.c.id == bindparam("id")), Thing)
numbers = query(select(things.c.id).order_by(things.c.id), int)


@pytest.fixture(scope="module")
async def ground(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Foundation]:
    folder = tmp_path_factory.mktemp("db") / "town"
    async with (
        build_town(engine, folder, start=False) as town,
        lay_foundation(load(town.environment)) as foundation,
    ):
        for table in (things, parts):
            dialect = DIALECTS[foundation.database.dialect]
            await foundation.run(str(CreateTable(table).compile(dialect=dialect)))
        yield foundation


@pytest.fixture
async def base(ground: Foundation) -> Foundation:
    """The same database for all, emptied for each."""
    await ground.run("DELETE FROM test_parts")
    await ground.run("DELETE FROM test_things")
    return ground


async def put(base: Foundation, *rows: Thing) -> None:
    async with base.works.begin() as work:
        for row in rows:
            await work.db.run(add, **msgspec.structs.asdict(row))


async def kept(base: Foundation) -> list[int]:
    return await base.database.session().all(numbers)


# Types


@pytest.mark.parametrize(
    "thing",
    [
        Thing(1),
        Thing(2, at=datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=UTC)),
        Thing(3, at=datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC)),
        Thing(4, at=datetime(1, 1, 2, tzinfo=UTC)),
        Thing(5, at=datetime(9999, 12, 30, 23, 59, 59, 999999, tzinfo=UTC)),
        Thing(6, at=datetime(2024, 6, 1, 12, tzinfo=timezone(timedelta(hours=-3)))),
        Thing(7, uid="00000000-0000-4000-8000-00000000000f"),
        Thing(8, document={"ü": [1, 2.5, None, True, {"deep": "\u2028"}], "big": 2**53 + 1}),
        Thing(9, document=[]),
        Thing(10, document="text"),
        Thing(11, document=False),
        Thing(12, flag=True),
        Thing(13, flag=False),
        Thing(2**63 - 1, words="Grüße 👋 'quoted' \"twice\" $1 ? :name %s\n"),
        Thing(-(2**63), words=""),
    ],
    ids=lambda thing: str(thing.id),
)
async def test_what_goes_in_comes_out(base: Foundation, thing: Thing) -> None:
    await put(base, thing)

    session = base.database.session()
    [found] = await session.all(everything)
    slow = await session.slow(everything)
    one = await session.one(by_id, id=thing.id)

    assert found == thing
    assert slow == [thing]
    assert one == thing
    if found.at is not None:
        assert found.at.utcoffset() == timedelta(0)
    if thing.flag is not None:
        assert type(found.flag) is bool


async def test_every_type_comes_out_of_a_single_column_too(base: Foundation) -> None:
    at = datetime(2020, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    await put(base, Thing(1, at=at, uid=str(uuid.uuid4()), document={"a": 1}, flag=True), Thing(2))
    session = base.database.session()
    order = things.c.id

    assert await session.all(query(select(things.c.at).order_by(order), datetime)) == [at, None]
    assert await session.all(query(select(things.c.document).order_by(order), dict)) == [{"a": 1}, None]
    assert await session.all(query(select(things.c.flag).order_by(order), bool)) == [True, None]
    assert await session.one(query(select(func.max(things.c.at)), datetime)) == at
    assert await session.all(query(select(things.c.id, things.c.at).order_by(order), tuple)) == [
        (1, at),
        (2, None),
    ]


async def test_moments_sort_and_compare_by_time(base: Foundation) -> None:
    moments = [
        datetime(1, 1, 2, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
        datetime(2024, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=2))),
        datetime(2024, 1, 1, tzinfo=UTC),
    ]
    await put(base, *(Thing(n, at=at) for n, at in enumerate(moments)))
    before = query(select(things.c.id).where(things.c.at < bindparam("then")).order_by(things.c.at), int)

    assert await base.database.session().all(before, then=datetime(2025, 1, 1, tzinfo=UTC)) == [0, 1, 2, 3, 4, 5]
    assert await base.database.session().all(before, then=moments[4]) == [0, 1, 2, 3]


async def test_a_row_on_its_way_to_the_wire_reads_the_same_in_json(base: Foundation) -> None:
    thing = Thing(1, datetime(2024, 2, 29, 1, 2, 3, 400000, tzinfo=UTC), str(uuid.uuid4()), {"a": [1]}, True, "x")

    class Wire(msgspec.Struct):
        id: int
        at: datetime | str | None
        uid: str
        document: msgspec.Raw
        flag: bool
        words: str

    await put(base, thing)
    rows = await base.database.session().all(query(select(things), Wire, wire=True))

    assert msgspec.json.decode(msgspec.json.encode(rows), type=list[Thing]) == [thing]


@pytest.mark.parametrize(
    ("column", "wanted", "found"),
    [
        (things.c.id, [], []),
        (things.c.id, [1, 3, 99], [1, 3]),
        (things.c.id, [2**62], [2**62]),
        (things.c.uid, [], []),
        (things.c.uid, ["00000000-0000-4000-8000-000000000001", str(uuid.uuid4())], [1]),
        (things.c.words, [], []),
        (things.c.words, ["one", "it's", 'a "b"', "ü", "1"], [1, 2, 3]),
    ],
)
async def test_any_of_a_list(base: Foundation, column: Column[Any], wanted: list[Any], found: list[int]) -> None:
    await put(
        base,
        Thing(1, uid="00000000-0000-4000-8000-000000000001", words="one"),
        Thing(2, uid="00000000-0000-4000-8000-000000000002", words="it's"),
        Thing(3, words="ü"),
        Thing(2**62),
    )
    asked = query(select(things.c.id).where(any_of(column, "wanted")).order_by(things.c.id), int)

    assert await base.database.session().all(asked, wanted=wanted) == found


# Statements


def test_a_statement_is_compiled_once_per_dialect() -> None:
    for dialect in ("sqlite", "postgresql"):
        assert by_id.compiled(dialect) is by_id.compiled(dialect)
    assert by_id.compiled("sqlite").sql != by_id.compiled("postgresql").sql


def test_a_struct_that_does_not_fit_the_columns_is_refused() -> None:
    with pytest.raises(TypeError, match="Thing has"):
        query(select(things.c.id, things.c.uid), Thing).compiled("sqlite")


async def test_a_parameter_that_is_not_given_is_an_error_and_constants_need_none(base: Foundation) -> None:
    await put(base, Thing(1, words="a"), Thing(2, words="b"), Thing(3, at=NOW))
    constants = query(
        select(things.c.id)
        .where(or_(things.c.words.in_(["a", "b"]), things.c.id == bindparam("id"), literal(7) == bindparam("id")))
        .order_by(things.c.id),
        int,
    )

    moments = query(select(things.c.id).where(things.c.at.in_([NOW, datetime(2024, 1, 2, tzinfo=UTC)])), int)

    assert await base.database.session().all(moments) == [3]
    assert await base.database.session().all(constants, id=7) == [1, 2, 3]
    assert await base.database.session().all(constants, id=9) == [1, 2]
    with pytest.raises(KeyError):
        await base.database.session().all(constants)


async def test_a_command_tells_how_many_rows_it_touched(base: Foundation) -> None:
    await put(base, Thing(1), Thing(2))
    rename = command(update(things).where(things.c.id >= bindparam("least")).values(words=bindparam("new")))
    once = command(add_once(things))
    row = msgspec.structs.asdict(Thing(1))

    async with base.works.begin() as work:
        assert await work.db.run(rename, least=1, new="x") == 2
        assert await work.db.run(rename, least=3, new="x") == 0
        assert await work.db.run(once, **row) == 0
        assert await work.db.run(once, **(row | {"id": 3})) == 1


async def test_a_query_that_writes_is_kept_with_the_rest(base: Foundation) -> None:
    new = upsert(things).values(id=bindparam("id"), words=bindparam("words"))
    put_words = query(
        new.on_conflict_do_update(index_elements=[things.c.id], set_={"words": new.excluded.words}).returning(
            things.c.words
        ),
        str,
    )
    async with base.works.begin() as work:
        assert await work.db.one(put_words, id=1, words="a") == "a"
        assert await work.db.all(put_words, id=1, words="b") == ["b"]
        assert await kept(base) == []
    assert await kept(base) == [1]


# Clashes


NOW = datetime(2024, 1, 1, tzinfo=UTC)
JOB = {
    "id": 1, "kind": "k", "lane": "l", "payload": "{}", "key": "same", "state": 0, "run_at": NOW, "attempts": 0,
    "deaths": 0, "held_by": None, "held_until": None, "error": None, "created_at": NOW, "request": "",
    "owner": "",
}  # fmt: skip
COUNT = {"key": "k", "window": 1, "ends": 1, "count": 1}


def group(name: str) -> dict[str, Any]:
    """A row of a table that is not ours, whatever else it has come to hold."""
    values: dict[type, Any] = {Instant: NOW, Document: {}, Boolean: False, UID: str(uuid.uuid4())}
    return {column.name: None if column.nullable else values.get(type(column.type), name) for column in groups.columns}


@pytest.mark.parametrize(
    ("table", "first", "second", "columns"),
    [
        (jobs, JOB, JOB | {"id": 2}, ("kind", "key")),
        (jobs, JOB, JOB | {"key": "other"}, ("id",)),
        (rate_counts, COUNT, COUNT | {"ends": 2}, ("key", "window")),
        (groups, group("same"), group("same"), ("name",)),
    ],
    ids=["unique index", "primary key", "primary key of two", "unique constraint"],
)
@pytest.mark.parametrize("many", [False, True])
async def test_what_is_taken_is_named_alike(
    base: Foundation,
    table: Table,
    first: dict[str, Any],
    second: dict[str, Any],
    columns: tuple[str, ...],
    many: bool,
) -> None:
    plain = command(insert_into(table))

    async def twice() -> None:
        async with base.works.begin() as work:
            if many:
                await work.db.many(plain, [first, second])
            else:
                await work.db.run(plain, **first)
                await work.db.run(plain, **second)

    with pytest.raises(Taken) as caught:
        await twice()
    assert (caught.value.table, caught.value.columns) == (table.name, columns)
    assert await base.database.session().one(query(select(func.count()).select_from(table), int)) == 0


async def test_a_reference_to_nothing_and_a_row_still_referred_to_are_dangling(base: Foundation) -> None:
    member = command(insert_into(members, without=["expires"]))
    with pytest.raises(Dangling):
        async with base.works.begin() as work:
            await work.db.run(member, group_uuid=str(uuid.uuid4()), user_id=1)


async def test_a_reference_may_dangle_until_the_commit_and_no_longer(base: Foundation) -> None:
    async with base.works.begin() as work:
        await work.db.run(add_part, id=1, thing_id=1)
        await work.db.run(add, **msgspec.structs.asdict(Thing(1)))

    with pytest.raises(Dangling):
        async with base.works.begin() as work:
            await work.db.run(add, **msgspec.structs.asdict(Thing(2)))
            await work.db.run(add_part, id=2, thing_id=99)

    assert await kept(base) == [1]
    await put(base, Thing(3))
    assert await kept(base) == [1, 3]


# Sessions


async def test_a_work_that_raises_leaves_nothing(base: Foundation) -> None:
    async def break_off(error: BaseException) -> None:
        async with base.works.begin() as work:
            await work.db.run(add, **msgspec.structs.asdict(Thing(1)))
            raise error

    for error in (RuntimeError(), asyncio.CancelledError(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            await break_off(error)
    assert await kept(base) == []
    await put(base, Thing(2))
    assert await kept(base) == [2]


async def test_reads_see_what_is_committed_and_then_ones_own(base: Foundation) -> None:
    await put(base, Thing(1))
    one, other = base.database.session(), base.database.session()

    assert await one.all(numbers) == [1]
    await put(base, Thing(2))
    assert await one.all(numbers) == [1, 2]
    await one.run(add, **msgspec.structs.asdict(Thing(3)))
    assert await one.all(numbers) == [1, 2, 3]
    assert await one.one(by_id, id=3) == Thing(3)
    assert await other.all(numbers) == [1, 2]
    assert await other.slow(numbers) == [1, 2]
    await one.commit()
    assert await other.all(numbers) == [1, 2, 3]
    assert await one.all(numbers) == [1, 2, 3]


async def test_ending_a_session_twice_is_harmless(base: Foundation) -> None:
    session = base.database.session()
    await session.commit()
    await session.rollback()
    await session.begin()
    await session.begin()
    await session.rollback()
    await session.rollback()
    await session.commit()
    await put(base, Thing(1))
    assert await kept(base) == [1]


async def test_a_session_whose_connection_is_lost_rolls_back_without_a_word(base: Foundation) -> None:
    """PostgreSQL has done so by itself; an error here would hide the one that is answered."""
    if base.database.dialect == "sqlite":
        pytest.skip("SQLite has no connection to lose")
    session = base.database.session()
    await session.run(add, **msgspec.structs.asdict(Thing(1)))
    [[number]] = await session.fetch("SELECT pg_backend_pid()")  # type: ignore[attr-defined]
    await base.database.session().fetch("SELECT pg_terminate_backend($1)", number)  # type: ignore[attr-defined]
    with pytest.raises(Unavailable):
        await session.run(add, **msgspec.structs.asdict(Thing(2)))
    await session.rollback()
    await put(base, Thing(3))
    assert await kept(base) == [3]


async def test_a_savepoint_undoes_its_part_alone(base: Foundation) -> None:
    async with base.works.begin() as work:
        await work.db.run(add, **msgspec.structs.asdict(Thing(1)))
        with pytest.raises(Taken):
            async with work.db.savepoint():
                await work.db.run(add, **msgspec.structs.asdict(Thing(2)))
                await work.db.run(add, **msgspec.structs.asdict(Thing(1)))
        async with work.db.savepoint():
            await work.db.run(add, **msgspec.structs.asdict(Thing(3)))
            with pytest.raises(RuntimeError):
                async with work.db.savepoint():
                    await work.db.run(add, **msgspec.structs.asdict(Thing(4)))
                    raise RuntimeError
        assert await work.db.all(numbers) == [1, 3]
    assert await kept(base) == [1, 3]


async def test_what_begins_first_is_read_and_written_by_one_at_a_time(base: Foundation) -> None:
    """`begin` before a read that decides what is written; on PostgreSQL with the row locked."""
    await put(base, Thing(1, words="0"))
    locked = query(select(things).where(things.c.id == 1).with_for_update(), Thing)
    write = command(update(things).values(words=bindparam("new")))

    async def count_up() -> None:
        async with base.works.begin() as work:
            thing = await work.db.one(locked)
            assert thing is not None
            await asyncio.sleep(0)
            await work.db.run(write, new=str(int(thing.words or 0) + 1))

    await asyncio.gather(*(count_up() for _ in range(50)))

    [thing] = await base.database.session().all(everything)
    assert thing.words == "50"


async def test_of_two_hundred_works_at_once_the_one_that_fails_fails_alone(base: Foundation) -> None:
    async def write(number: int) -> None:
        async with base.works.begin() as work:
            await work.db.run(add, **msgspec.structs.asdict(Thing(number)))
            await asyncio.sleep(0)
            if number == 77:
                raise RuntimeError("unlucky")

    ends = await asyncio.gather(*(write(number) for number in range(200)), return_exceptions=True)

    assert [number for number, end in enumerate(ends) if end is not None] == [77]
    assert isinstance(ends[77], RuntimeError)
    assert await kept(base) == [number for number in range(200) if number != 77]


async def test_a_caught_clash_outside_a_savepoint_never_passes_for_a_commit(base: Foundation) -> None:
    """PostgreSQL has given the whole transaction up by then; the caller must hear of it."""
    session = base.database.session()
    await session.run(add, **msgspec.structs.asdict(Thing(1)))
    with pytest.raises(Taken):
        await session.run(add, **msgspec.structs.asdict(Thing(1)))

    if base.database.dialect == "sqlite":
        await session.commit()
        assert await kept(base) == [1]
    else:
        with pytest.raises(Unavailable):
            await session.commit()
        assert await kept(base) == []
    await put(base, Thing(2))


async def test_a_value_no_database_takes_is_our_own_fault(base: Foundation) -> None:
    with pytest.raises((OverflowError, asyncpg.DataError)):
        await base.database.session().one(by_id, id=2**63)


async def test_the_revision_is_known_and_none_in_an_empty_database(settings: Settings) -> None:
    async with lay_foundation(settings) as base:
        assert await base.database.revision() == HEAD
        await base.run("DROP TABLE alembic_version")
        assert await base.database.revision() is None


async def test_rows_with_a_number_of_their_own(base: Foundation) -> None:
    assert await base.database.session().all(query(text("SELECT 1").columns(Column("one", Integer)), int)) == [1]
