"""The one pen of SQLite: shared by many, never lost, and never the reason that the loop stands still."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import BigInteger, Column, MetaData, Table, Text, select

from kith.base.db import Dangling, Session, command, insert_into, query
from kith.base.db.sqlite import SQLite
from kith.base.errors import NoSpace, Unavailable

_metadata = MetaData()
notes = Table("notes", _metadata, Column("id", BigInteger, primary_key=True), Column("words", Text))
replies = Table("replies", _metadata, Column("id", BigInteger, primary_key=True), Column("note_id", BigInteger))
add = command(insert_into(notes))
add_reply = command(insert_into(replies))
numbers = query(select(notes.c.id).order_by(notes.c.id), int)

TABLES = """
CREATE TABLE notes (id INTEGER PRIMARY KEY, words TEXT);
CREATE TABLE replies (
    id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED
);
"""
HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("INSERT INTO notes VALUES (1000, 'theirs')")
print("held", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
"""


@contextlib.asynccontextmanager
async def opened(path: Path, *, group_commit: bool = True, patience: float = 30) -> AsyncIterator[SQLite]:
    database = SQLite(path, group_commit=group_commit, patience=patience)
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    async with opened(tmp_path / "notes.sqlite3") as database:
        database.pen.connection.executescript(TABLES)
    return tmp_path / "notes.sqlite3"


@pytest.fixture(params=[True, False], ids=["together", "each"])
async def database(request: pytest.FixtureRequest, path: Path) -> AsyncIterator[SQLite]:
    async with opened(path, group_commit=request.param) as database:
        yield database


@pytest.fixture
async def grouping(path: Path) -> AsyncIterator[SQLite]:
    async with opened(path) as database:
        yield database


@contextlib.asynccontextmanager
async def another_process_writes(path: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(path), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"held\n"
    try:
        yield process
    finally:
        await process.communicate(b"\n")


async def write(database: SQLite, number: int, words: str = "") -> None:
    session = database.session()
    try:
        await session.run(add, id=number, words=words)
        await session.commit()
    finally:
        await session.rollback()


async def kept(database: SQLite) -> list[int]:
    return await database.session().all(numbers)


async def queued(*writings: asyncio.Task[None]) -> None:
    """Let each of them come as far as the pen."""
    await asyncio.sleep(0)


async def test_those_who_wait_share_one_commit(grouping: SQLite) -> None:
    commits: list[str] = []
    grouping.pen.connection.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)

    await asyncio.gather(*(write(grouping, number) for number in range(200)))

    assert await kept(grouping) == list(range(200))
    assert len(commits) <= 2


async def test_whoever_is_cancelled_while_waiting_is_committed_all_the_same(database: SQLite) -> None:
    session = database.session()
    await session.run(add, id=1, words="")
    committing = asyncio.create_task(session.commit())
    await queued(committing)

    committing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await committing
    await session.rollback()
    await write(database, 2)

    assert await kept(database) == [1, 2]


async def test_whoever_is_cancelled_in_the_queue_leaves_no_gap(database: SQLite) -> None:
    holder = database.session()
    await holder.begin()
    waiting = [asyncio.create_task(write(database, number)) for number in range(5)]
    await queued(*waiting)

    waiting[0].cancel()
    waiting[2].cancel()
    await holder.rollback()
    await asyncio.gather(*waiting, return_exceptions=True)

    assert await kept(database) == [1, 3, 4]


async def test_another_process_is_waited_for_while_the_loop_turns(database: SQLite, path: Path) -> None:
    async with another_process_writes(path):
        writing = asyncio.create_task(write(database, 1))
        for _turn in range(2_000):
            await asyncio.sleep(0)
        assert not writing.done()
        assert await kept(database) == []
    await writing

    assert await kept(database) == [1, 1000]


async def test_another_process_that_never_ends_is_given_up_on(path: Path) -> None:
    async with opened(path, patience=0.05) as database:
        async with another_process_writes(path):
            with pytest.raises(Unavailable):
                await write(database, 1)
        await write(database, 2)
        assert await kept(database) == [2, 1000]


async def test_waiting_for_oneself_ends(path: Path) -> None:
    async with opened(path, patience=0.05) as database:
        outer = database.session()
        await outer.run(add, id=1, words="")
        with pytest.raises(Unavailable):
            await write(database, 2)
        await outer.commit()
        await write(database, 3)
        assert await kept(database) == [1, 3]


async def test_a_commit_that_fails_fails_for_all_who_share_it(grouping: SQLite) -> None:
    async def write_badly() -> None:
        session = grouping.session()
        await session.run(add_reply, id=1, note_id=99)
        await session.commit()

    first = grouping.session()
    await first.run(add, id=1, words="")
    others = [asyncio.create_task(write_badly()), asyncio.create_task(write(grouping, 2))]
    await queued(*others)

    ends = await asyncio.gather(first.commit(), *others, return_exceptions=True)

    assert [type(end) for end in ends] == [Dangling, Dangling, Dangling]
    assert await kept(grouping) == []
    await write(grouping, 3)
    assert await kept(grouping) == [3]


async def test_a_full_disk_takes_everything_back_and_everyone_hears_of_it(grouping: SQLite) -> None:
    """SQLite undoes the whole transaction then, also what others had added to it and were waiting for."""
    # given
    fill(grouping)
    first = grouping.session()
    await first.run(add, id=1, words="")
    others = [asyncio.create_task(write(grouping, 2, "much " * 100_000)), asyncio.create_task(write(grouping, 3))]
    await queued(*others)

    # when
    ends = await asyncio.gather(first.commit(), *others, return_exceptions=True)

    # then
    assert [type(end) for end in ends] == [NoSpace, NoSpace, type(None)]
    assert await kept(grouping) == [3]


async def test_a_fault_of_the_disk_is_not_want_of_room(database: SQLite, path: Path) -> None:
    # given a log that cannot be written, although there is room
    await write(database, 1)
    logs = [
        int(one.name)
        for one in Path("/proc/self/fd").iterdir()
        if one.is_symlink() and str(one.readlink()) == f"{path}-wal"
    ]
    kept_open = {number: os.dup(number) for number in logs}
    only_read = os.open(f"{path}-wal", os.O_RDONLY)
    for number in logs:
        os.dup2(only_read, number)

    # when
    with pytest.raises(Unavailable) as caught:
        await write(database, 2)
    for number, before in kept_open.items():
        os.dup2(before, number)
        os.close(before)
    os.close(only_read)

    # then
    assert kept_open
    assert type(caught.value) is Unavailable
    assert not path.with_name(f"{path.name}-trial").exists()
    await write(database, 3)
    assert await kept(database) == [1, 3]


async def test_a_session_whose_transaction_is_gone_can_keep_nothing_more(database: SQLite) -> None:
    fill(database)
    session: Session = database.session()
    await session.run(add, id=1, words="")
    with pytest.raises(Unavailable):
        async with session.savepoint():
            await session.run(add, id=2, words="much " * 100_000)

    with pytest.raises(Unavailable):
        await session.run(add, id=3, words="")
    with pytest.raises(Unavailable):
        await session.commit()
    await session.rollback()

    assert await kept(database) == []
    await write(database, 4)
    assert await kept(database) == [4]


def fill(database: SQLite) -> None:
    """Leave room for very little more."""
    [pages] = database.pen.connection.execute("PRAGMA page_count").fetchone()
    database.pen.connection.execute(f"PRAGMA max_page_count = {pages + 4}")
