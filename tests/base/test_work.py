"""A work and its facts: told if it happened, and only then."""

from __future__ import annotations

import msgspec
import pytest
from sqlalchemy import text

from kith.base.db import command, query
from kith.base.errors import Unavailable
from kith.base.jobs import JobKind
from kith.base.news import Fact
from kith.base.work import Origin, Work
from tests.base.foundation import Foundation

ROW = command(text("INSERT INTO test_rows VALUES (1)"))
rows = query(text("SELECT id FROM test_rows").columns(), int)


class RowWritten(Fact, frozen=True):
    id: int


class RowForgotten(Fact, frozen=True):
    id: int


async def pass_by(work: Work, payload: msgspec.Struct) -> None: ...


COUNT: JobKind[RowWritten] = JobKind(name="test.count", payload=RowWritten, handler=pass_by)
TELL: JobKind[RowWritten] = JobKind(name="test.tell", payload=RowWritten, handler=pass_by)


async def waiting(base: Foundation) -> list[tuple[str, str]]:
    return sorted((job.kind, job.payload) for job in await base.jobs())


async def test_a_fact_becomes_a_job_for_each_subscriber_with_the_rows_it_speaks_of(base: Foundation) -> None:
    await base.run("CREATE TABLE test_rows (id BIGINT)")
    base.news.subscribe(RowWritten, COUNT, TELL)
    told: list[Fact] = []
    base.news.listen(RowWritten, told.append)

    async with base.works.begin() as work:
        await work.db.run(ROW)
        work.announce(RowWritten(7))
        work.announce(RowForgotten(8))
        assert await waiting(base) == []
        assert told == []

    assert await base.database.session().all(rows) == [1]
    assert await waiting(base) == [("test.count", '{"id":7}'), ("test.tell", '{"id":7}')]
    assert told == [RowWritten(7)]


async def test_a_work_that_fails_has_announced_nothing(base: Foundation) -> None:
    await base.run("CREATE TABLE test_rows (id BIGINT)")
    base.news.subscribe(RowWritten, COUNT)
    told: list[Fact] = []
    base.news.listen(RowWritten, told.append)

    with pytest.raises(RuntimeError):
        async with base.works.begin() as work:
            await work.db.run(ROW)
            work.announce(RowWritten(7))
            raise RuntimeError

    assert await base.database.session().all(rows) == []
    assert await waiting(base) == []
    assert told == []
    assert not base.news.jobs_came.is_set()


async def test_a_work_that_cannot_be_committed_has_announced_nothing(base: Foundation) -> None:
    base.news.subscribe(RowWritten, COUNT)
    told: list[Fact] = []
    base.news.listen(RowWritten, told.append)
    await base.run("ALTER TABLE base_jobs RENAME TO base_jobs_gone")

    with pytest.raises(Exception, match="base_jobs"):
        async with base.works.begin() as work:
            work.announce(RowWritten(7))

    assert told == []


async def test_listeners_see_what_was_committed_and_one_that_fails_harms_nobody(base: Foundation) -> None:
    seen: list[int] = []

    def fail(_fact: RowWritten) -> None:
        raise RuntimeError("deaf")

    base.news.listen(RowWritten, fail)
    base.news.listen(RowWritten, lambda fact: seen.append(fact.id))

    async with base.works.begin() as work:
        work.announce(RowWritten(1))
        work.announce(RowWritten(2))

    assert seen == [1, 2]


async def test_jobs_that_came_wake_the_worker_and_facts_alone_do_not(base: Foundation) -> None:
    base.news.listen(RowWritten, lambda _: None)

    async with base.works.begin() as work:
        work.announce(RowWritten(1))
    assert not base.news.jobs_came.is_set()

    async with base.works.begin() as work:
        work.enqueue(COUNT, RowWritten(1))
    assert base.news.jobs_came.is_set()


async def test_a_work_aside_is_kept_though_the_other_fails(base: Foundation) -> None:
    origin = Origin(request_id="r", address="192.0.2.1")
    with pytest.raises(RuntimeError):
        async with base.works.begin(origin) as work:
            async with work.aside() as aside:
                assert aside.origin == origin
                aside.enqueue(COUNT, RowWritten(1))
            work.enqueue(COUNT, RowWritten(2))
            raise RuntimeError

    assert await waiting(base) == [("test.count", '{"id":1}')]


async def test_without_ids_a_work_makes_no_job(base: Foundation) -> None:
    await base.ids.release()

    with pytest.raises(Unavailable):
        async with base.works.begin() as work:
            work.enqueue(COUNT, RowWritten(1))

    assert await waiting(base) == []


async def test_an_attempt_that_fails_leaves_the_rest_of_its_work(base: Foundation) -> None:
    await base.run("CREATE TABLE test_rows (id BIGINT)")
    base.news.subscribe(RowWritten, COUNT)
    handled: list[int] = []

    async def handle(work: Work, fact: RowWritten) -> None:
        handled.append(fact.id)
        if fact.id == 8:
            raise RuntimeError("at once")

    base.news.at_once(RowWritten, handle)
    async with base.works.begin() as work:
        work.announce(RowWritten(7))
        for id, fails in ((8, False), (9, True)):
            with pytest.raises(RuntimeError):
                async with work.attempt():
                    await work.db.run(ROW)
                    work.announce(RowWritten(id))
                    if fails:
                        raise RuntimeError
        async with work.attempt():
            await work.db.run(ROW)
            work.announce(RowWritten(10))

    assert await base.database.session().all(rows) == [1]
    assert await waiting(base) == [("test.count", '{"id":10}'), ("test.count", '{"id":7}')]
    assert handled == [7, 8, 10]


async def test_a_part_that_fails_calls_nothing_off(base: Foundation) -> None:
    async with base.works.begin() as work:
        work.enqueue(COUNT, RowWritten(1), key="one")
        with pytest.raises(RuntimeError):
            async with work.attempt():
                await work.call_off(COUNT, "one")
                work.enqueue(COUNT, RowWritten(2), key="one")
                raise RuntimeError
        async with work.attempt():
            await work.call_off(COUNT, "two")

    assert await waiting(base) == [("test.count", '{"id":1}')]
