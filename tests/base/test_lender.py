"""Connections are lent to one at a time, in turn, and never lent on once something went wrong with them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from kith.base.db.lender import Lender
from kith.base.errors import Unavailable
from tests.town.postgres import fresh_database


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with fresh_database() as made:
        yield made


@pytest.fixture
async def lender(url: str) -> AsyncIterator[Lender]:
    made = Lender(url, most=2)
    yield made
    await made.close()


async def _number(connection: Any) -> int:
    return int(await connection.fetchval("SELECT pg_backend_pid()"))


async def test_what_was_given_back_is_lent_again(lender: Lender) -> None:
    one = await lender.take()
    lender.give(one)
    other = await lender.take()
    assert other is one
    lender.give(other)


async def test_whoever_waits_longest_is_served_first(lender: Lender) -> None:
    both = [await lender.take(), await lender.take()]
    served: list[int] = []

    async def wait(number: int) -> None:
        connection = await lender.take()
        served.append(number)
        lender.give(connection)

    waiting = [asyncio.create_task(wait(number)) for number in range(5)]
    await asyncio.sleep(0.05)
    assert served == []
    lender.give(both[0])
    await asyncio.gather(*waiting)
    assert served == [0, 1, 2, 3, 4]
    lender.give(both[1])


async def test_who_leaves_the_queue_takes_nothing_with_them(lender: Lender) -> None:
    both = [await lender.take(), await lender.take()]
    gone, patient = (asyncio.create_task(lender.take()) for _ in range(2))
    await asyncio.sleep(0.02)
    lender.give(both[0])  # handed to the first, who is cancelled in the same breath
    gone.cancel()
    with suppress(asyncio.CancelledError):
        lender.give(await gone)
    assert await asyncio.wait_for(patient, 60) is both[0]
    lender.give(both[0])
    lender.give(both[1])


async def test_one_that_the_server_cut_is_replaced(lender: Lender) -> None:
    one, other = await lender.take(), await lender.take()
    number = await _number(one)
    lender.give(one)
    await other.execute("SELECT pg_terminate_backend($1)", number)
    async with asyncio.timeout(120):
        while not one.is_closed():
            await asyncio.sleep(0.01)
    new = await lender.take()
    assert await _number(new) != number
    lender.give(new)
    lender.give(other)


async def test_one_that_came_to_no_answer_is_given_up_and_makes_room(lender: Lender) -> None:
    one, other = await lender.take(), await lender.take()
    waiting = asyncio.create_task(lender.take())
    await asyncio.sleep(0.02)
    lender.give(one, is_well=False)
    new = await asyncio.wait_for(waiting, 60)
    assert new is not one
    assert one.is_closed()
    lender.give(new)
    lender.give(other)


async def test_nobody_is_served_after_the_end(lender: Lender) -> None:
    both = [await lender.take(), await lender.take()]
    waiting = asyncio.create_task(lender.take())
    await asyncio.sleep(0.02)
    await lender.close()
    with pytest.raises(Unavailable):
        await waiting
    with pytest.raises(Unavailable):
        await lender.take()
    assert all(one.is_closed() for one in both)
