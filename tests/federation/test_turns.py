"""What one server sends keeps no other waiting: the inbox is emptied in turns, by the time that each has taken."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from kith.app import House
from kith.base.db import Session, query
from kith.base.jobs.kinds import QUICK
from kith.base.jobs.tables import jobs
from kith.federation.inbox import store, tasks
from kith.federation.inbox.intake import Intake
from kith.federation.inbox.tables import NOBODY, WAITING, Received, inbox
from kith.federation.inbox.turns import MOST_AHEAD, InboxTurns, milliseconds
from tests.conftest import TownBuilder

_names = query(select(inbox.c.activity_id).order_by(inbox.c.id), str)
_lanes = query(select(jobs.c.lane).where(jobs.c.kind == tasks.TAKE.name), str)


async def comes(house: House, intake: Intake, host: str, name: str) -> None:
    now = datetime.now(UTC)
    row = Received(house.ids.new(), NOBODY, f"https://{host}/{name}", NOBODY, "{}", None, WAITING, now, now)
    await intake.keep(row, host)


async def taken(db: Session, turns: InboxTurns, most: int) -> list[str]:
    order = turns.order(await store.waiting_sites(db, "", 100), most)
    return [one.activity_id or "" for one in (await store.take(db, order, 1_000_000))[0]]


def sites(names: Sequence[str]) -> list[str]:
    return [name.split("/")[2] for name in names]


def test_who_has_taken_much_time_comes_after_everybody_else() -> None:
    turns, now = InboxTurns(), milliseconds()

    turns.spent("dear.example", 2.0)

    assert turns.order({"dear.example": now - 90_000, "quiet.example": now}, 1) == ["quiet.example"]
    assert turns.order({"dear.example": now - 90_000}, 3) == ["dear.example"] * 3, "with nobody else there it goes on"


def test_few_that_cost_much_count_as_many_that_cost_little() -> None:
    turns, now = InboxTurns(), milliseconds()
    for _ in range(40):
        turns.spent("dear.example", 0.1)
        turns.spent("cheap.example", 0.001)

    order = turns.order({"dear.example": now, "cheap.example": now}, 50)

    assert "dear.example" not in order


def test_nobody_is_ever_far_behind() -> None:
    turns = InboxTurns()
    for _ in range(1000):
        turns.spent("dear.example", 60.0)

    told = turns._sites.get("dear.example")
    assert told is not None
    assert told.clock <= milliseconds() + MOST_AHEAD


def test_nobody_waits_for_a_clock_that_was_ahead() -> None:
    later = milliseconds() + 100 * MOST_AHEAD

    order = InboxTurns().order({"early.example": later, "other.example": milliseconds()}, 10)

    assert order.count("early.example") == 5


async def test_the_first_of_one_is_taken_before_the_hundredth_of_another(new_town: TownBuilder) -> None:
    town = await new_town(worker="off")
    async with town.house() as house:
        intake = Intake(house.works)
        for number in range(100):
            await comes(house, intake, "a.loud.example" if number % 2 else "b.loud.example", str(number))
        await comes(house, intake, "quiet.example", "hello")

        async with house.works.begin() as work:
            names = await taken(work.db, InboxTurns(), 20)
    assert "https://quiet.example/hello" in names[:2]
    loud = [one for one in names if "loud" in one]
    assert loud == [f"https://{'a' if number % 2 else 'b'}.loud.example/{number}" for number in range(len(loud))]


async def test_a_batch_ends_after_a_moment_and_what_is_left_is_for_another(
    new_town: TownBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MOMENT_SECONDS", 0.0)
    town = await new_town(worker="off")
    async with town.house() as house:
        intake = Intake(house.works)
        for number in range(3):
            await comes(house, intake, "loud.example", str(number))
        async with house.works.begin() as work:
            await tasks.take(work, [])
        async with house.works.begin() as work:
            left, lanes = await work.db.all(_names), await work.db.all(_lanes)
    assert left == ["https://loud.example/1", "https://loud.example/2"]
    assert len(lanes) == 4, "one for each that came, and one for those that are left"
    assert QUICK not in lanes, "who posts here does not wait for what others send"


async def test_with_many_sites_all_have_their_turn(new_town: TownBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "SITES", 2)
    town = await new_town(worker="off")
    async with town.house() as house:
        intake = Intake(house.works)
        for name in "abcde":
            await comes(house, intake, f"{name}.{name}example.org", "1")
        for _ in range(8):
            async with house.works.begin() as work:
                await tasks.take(work, [])
        async with house.works.begin() as work:
            assert await work.db.all(_names) == []
