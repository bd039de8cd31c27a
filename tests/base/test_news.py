"""News between processes, over PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from kith.base import news_rows
from kith.base.db import query
from kith.base.jobs import JobKind
from kith.base.news import Fact, News
from kith.base.settings import Settings
from kith.base.work import Work
from tests.base.foundation import Foundation, at_work, lay_foundation

pytestmark = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)


class BellRung(Fact, frozen=True):
    bell: str


class Overheard:
    """What a process was told, to be awaited."""

    def __init__(self, base: Foundation) -> None:
        self.bells: list[str] = []
        self._came = asyncio.Event()
        base.news.listen(BellRung, self._hear)

    def _hear(self, fact: BellRung) -> None:
        self.bells.append(fact.bell)
        self._came.set()

    async def until(self, bell: str) -> None:
        async with asyncio.timeout(120):
            while bell not in self.bells:
                self._came.clear()
                await self._came.wait()


async def ring(base: Foundation, *bells: str) -> None:
    async with base.works.begin() as work:
        for bell in bells:
            work.announce(BellRung(bell))


_RELAYS = "datname = current_database() AND application_name = 'kith_news' AND query ~ 'LISTEN|base_news|pg_notify'"
_listening = query(text(f"SELECT count(*) FROM pg_stat_activity WHERE {_RELAYS}").columns(), int)


async def are_listening(base: Foundation, count: int) -> None:
    """A relay connects beside the rest; only the database knows when it is there."""
    async with asyncio.timeout(120):
        while await base.database.session().one(_listening) != count:
            await asyncio.sleep(0.01)


@pytest.fixture
async def pair(settings: Settings) -> AsyncIterator[tuple[Foundation, Foundation]]:
    async with lay_foundation(settings) as here, lay_foundation(settings) as there:
        # A listener makes a fact worth carrying; without one here, nothing is sent.
        here.news.listen(BellRung, lambda _: None)
        await are_listening(here, 2)
        yield here, there


async def test_a_listener_in_another_process_is_told_once(pair: tuple[Foundation, Foundation]) -> None:
    here, there = pair
    ours, theirs = Overheard(here), Overheard(there)

    await ring(here, "one", "two")
    await ring(here, "three")
    await theirs.until("three")
    await ring(there, "back")
    await ours.until("back")

    assert theirs.bells == ["one", "two", "three", "back"]
    assert ours.bells == ["one", "two", "three", "back"]


async def test_much_news_and_long_news_arrive_whole(pair: tuple[Foundation, Foundation]) -> None:
    here, there = pair
    theirs = Overheard(there)
    bells = [f"{n} " + "ünïcödé ☎ \n" * 50 for n in range(200)]

    await ring(here, *bells)
    await theirs.until(bells[-1])

    assert theirs.bells == bells


async def test_news_too_long_for_the_wire_is_read_from_the_table_in_its_order(
    pair: tuple[Foundation, Foundation],
) -> None:
    here, there = pair
    theirs = Overheard(there)

    await ring(here, "before", "ü" * 50_000, "after")
    await theirs.until("after")

    assert theirs.bells == ["before", "ü" * 50_000, "after"]


async def cut_off(base: Foundation) -> None:
    """End the connections of all relays, as a database that restarts does."""
    await base.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {_RELAYS}")


async def test_what_is_told_while_the_connection_is_lost_arrives_once(pair: tuple[Foundation, Foundation]) -> None:
    here, there = pair
    ours, theirs = Overheard(here), Overheard(there)
    bells = [str(number) for number in range(300)]

    for number, bell in enumerate(bells):
        if number % 60 == 30:
            await cut_off(here)
        await ring(here, bell)
    await are_listening(here, 2)
    await theirs.until(bells[-1])
    await ring(here, "last")
    await theirs.until("last")

    assert sorted(theirs.bells) == sorted([*bells, "last"])
    assert ours.bells == [*bells, "last"]


async def test_what_a_process_did_not_live_to_tell_is_found_in_the_table(pair: tuple[Foundation, Foundation]) -> None:
    here, there = pair
    theirs = Overheard(there)
    async with here.works.begin() as work:
        await news_rows.add(work.db, [news_rows.kept(work.new_id(), BellRung("last words"))])

    await cut_off(here)
    await theirs.until("last words")

    assert theirs.bells == ["last words"]


async def test_a_job_made_here_wakes_a_worker_there(pair: tuple[Foundation, Foundation]) -> None:
    here, there = pair
    done = asyncio.Event()

    async def finish(work: Work, payload: BellRung) -> None:
        done.set()

    kind: JobKind[BellRung] = JobKind(name="test.ring", payload=BellRung, handler=finish)
    async with at_work(there.worker(kind)):
        async with here.works.begin() as work:
            work.enqueue(kind, BellRung("x"))
        async with asyncio.timeout(120):
            await done.wait()


async def test_what_cannot_be_read_or_is_of_no_interest_is_passed_over(settings: Settings) -> None:
    news = News()
    heard: list[str] = []
    news.listen(BellRung, lambda fact: heard.append(fact.bell))

    news.arrived("BellRung", b'{"bell": 5}')
    news.arrived("BellRung", b"nonsense")
    news.arrived("SomethingElse", b"{}")
    news.arrived("BellRung", b'{"bell": "x", "of_tomorrow": true}')

    assert heard == ["x"]
