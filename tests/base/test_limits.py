"""Rate limits: so many in a window, on every process together, and the strict ones for good."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select, update

from kith.base.db import Database, command, connect, query
from kith.base.errors import Throttled, Unavailable
from kith.base.limits import Limiter, LimitRule, Paid, Spent, rate_counts
from kith.base.settings import Settings

# A window of years: it does not end while a test runs.
YEARS = 1 << 30
THREE = LimitRule("three", 3, YEARS)
STRICT = LimitRule("strict", 3, YEARS)
HUNDRED = LimitRule("hundred", 100, YEARS)


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    opened = await connect(settings)
    yield opened
    await opened.close()


def end_of_window(rule: LimitRule) -> datetime:
    return datetime.fromtimestamp((int(time.time()) // rule.seconds + 1) * rule.seconds, UTC)


async def test_the_last_one_passes_and_the_next_does_not(database: Database) -> None:
    limiter = Limiter(database)

    spent = [limiter.spend(THREE, "ada") for _ in range(3)]
    with pytest.raises(Throttled) as caught:
        limiter.spend(THREE, "ada")

    assert spent == [Spent(3, left, end_of_window(THREE)) for left in (2, 1, 0)]
    assert caught.value.extra["spent"] == Spent(3, 0, end_of_window(THREE))
    assert caught.value.headers["Retry-After"] == str(caught.value.retry_after)
    assert 0 < caught.value.retry_after <= YEARS


async def test_a_call_may_count_for_more(database: Database) -> None:
    limiter = Limiter(database)

    assert limiter.spend(HUNDRED, "ada", 60) == Spent(100, 40, end_of_window(HUNDRED))
    assert limiter.spend(HUNDRED, "ada", 40) == Spent(100, 0, end_of_window(HUNDRED))
    with pytest.raises(Throttled):
        limiter.spend(HUNDRED, "ada")
    assert limiter.spend(HUNDRED, "bob", 100) == Spent(100, 0, end_of_window(HUNDRED))


async def test_everyone_and_every_rule_counts_alone(database: Database) -> None:
    limiter = Limiter(database)
    for _ in range(3):
        limiter.spend(THREE, "ada")

    assert limiter.spend(THREE, "bob") == Spent(3, 2, end_of_window(THREE))
    assert limiter.spend(HUNDRED, "ada") == Spent(100, 99, end_of_window(HUNDRED))


async def test_a_new_window_is_a_new_chance(database: Database) -> None:
    limiter, fleeting = Limiter(database), LimitRule("fleeting", 1, 1)
    first = limiter.spend(fleeting, "ada")
    assert first is not None
    while datetime.now(UTC) < first.resets_at:
        await asyncio.sleep(0.05)

    second = limiter.spend(fleeting, "ada")

    assert second is not None
    assert second.resets_at > first.resets_at


async def test_switched_off_nothing_is_counted(database: Database) -> None:
    limiter = Limiter(database, enabled=False)
    for _ in range(5):
        assert limiter.spend(THREE, "ada") is None
        assert await limiter.spend_strictly(STRICT, "ada") is None
        await limiter.pay((STRICT, "ada"), (THREE, "ada"))
    assert await Limiter(database).spend_strictly(STRICT, "ada") == Spent(3, 2, end_of_window(STRICT))


async def test_a_restart_gives_no_second_chance_at_a_strict_rule(database: Database) -> None:
    for left in (2, 1, 0):
        limiter = Limiter(database)
        assert await limiter.spend_strictly(STRICT, "ada") == Spent(3, left, end_of_window(STRICT))

    limiter = Limiter(database)
    with pytest.raises(Throttled):
        await limiter.spend_strictly(STRICT, "ada")
    with pytest.raises(Throttled):
        await limiter.pay((STRICT, "ada"))
    await limiter.pay((STRICT, "bob"))


async def test_of_many_at_once_a_strict_rule_lets_exactly_so_many_pass(database: Database) -> None:
    limiters = [Limiter(database) for _ in range(4)]

    ends = await asyncio.gather(
        *(limiter.spend_strictly(STRICT, "ada") for limiter in limiters * 5), return_exceptions=True
    )

    assert sum(isinstance(end, Spent) for end in ends) == 3
    assert sum(isinstance(end, Throttled) for end in ends) == 17


async def test_of_many_tries_at_once_no_more_are_made_than_every_rule_allows(database: Database) -> None:
    limiters = [Limiter(database) for _ in range(4)]

    tries = [limiter.pay((STRICT, "ada"), (HUNDRED, "here")) for limiter in limiters * 5]
    ends = await asyncio.gather(*tries, return_exceptions=True)

    assert sum(isinstance(end, Paid) for end in ends) == 3
    assert sum(isinstance(end, Throttled) for end in ends) == 17
    counts = await database.session().all(query(select(rate_counts.c.count).order_by(rate_counts.c.count), int))
    assert counts == [3, 3]  # whoever was refused has spent nothing anywhere


async def test_what_was_right_is_given_back_once(database: Database) -> None:
    limiter = Limiter(database)
    for _ in range(10):
        paid = await limiter.pay((STRICT, "ada"), (HUNDRED, "here"))
        await paid.give_back()
        await paid.give_back()
    session = database.session()
    await (await limiter.pay((STRICT, "ada"))).give_back(session)
    await session.commit()
    assert await limiter.spend_strictly(STRICT, "ada") == Spent(3, 2, end_of_window(STRICT))
    assert await limiter.spend_strictly(HUNDRED, "here") == Spent(100, 99, end_of_window(HUNDRED))


async def test_a_count_in_memory_can_be_taken_back(database: Database) -> None:
    limiter = Limiter(database)
    for _ in range(10):
        limiter.spend(THREE, "ada")
        limiter.unspend(THREE, "ada")
    limiter.unspend(THREE, "ada")
    await limiter.share()
    assert limiter.spend(THREE, "ada") == Spent(3, 2, end_of_window(THREE))


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_processes_add_up_their_counts(database: Database) -> None:
    one, other = Limiter(database), Limiter(database)
    for _ in range(60):
        one.spend(HUNDRED, "ada")
    for _ in range(30):
        other.spend(HUNDRED, "ada")

    await one.share()
    await other.share()
    told = other.spend(HUNDRED, "ada")
    one.spend(HUNDRED, "ada")
    await asyncio.gather(one.share(), other.share())
    await one.share()
    last = one.spend(HUNDRED, "ada")

    assert told == Spent(100, 9, end_of_window(HUNDRED))
    assert last is not None
    assert last.remaining in (7, 8)  # whether the other's last call was added before or after ours
    assert await database.session().one(query(select(rate_counts.c.count), int)) == 92


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_what_could_not_be_shared_is_shared_later(settings: Settings, database: Database) -> None:
    gone = await connect(settings)
    one, other = Limiter(gone), Limiter(database)
    for _ in range(60):
        one.spend(HUNDRED, "ada")
    await gone.close()
    with pytest.raises(Unavailable):
        await one.share()
    one._database = database

    await one.share()
    other.spend(HUNDRED, "ada")
    await other.share()

    assert other.spend(HUNDRED, "ada") == Spent(100, 38, end_of_window(HUNDRED))


async def test_closed_windows_are_swept_away(database: Database) -> None:
    limiter = Limiter(database)
    await limiter.spend_strictly(STRICT, "ada")
    await limiter.spend_strictly(STRICT, "bob")
    session = database.session()
    await session.run(command(update(rate_counts).where(rate_counts.c.key == "strict:ada").values(ends=1)))
    await session.commit()

    await limiter.sweep()

    assert await database.session().all(query(select(rate_counts.c.key), str)) == ["strict:bob"]
    assert await database.session().one(query(select(func.count()).select_from(rate_counts), int)) == 1
