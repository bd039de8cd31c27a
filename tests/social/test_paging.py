"""Whoever walks a timeline, in either direction and in steps of any size, meets everything once while others post."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.social.members import Member, join_all
from tests.social.posts import arrive, post, settle
from tests.town import Town

OLD = 24


class Place:
    """Somebody reads what two others post."""

    def __init__(self, reader: Member, writers: list[Member]) -> None:
        self.reader = reader
        self.writers = writers
        self.old: list[str] = []
        self.new: list[str] = []

    def paths(self) -> list[str]:
        of_one = f"/api/v1/accounts/{self.writers[0].id}/statuses"
        return ["/api/v1/timelines/home", "/api/v1/timelines/public?local=true", of_one]

    async def step(self, path: str, **where: str | int) -> list[str]:
        joint = "&" if "?" in path else "?"
        asked = "&".join(f"{name}={value}" for name, value in where.items())
        answer = await self.reader.get(path + joint + asked)
        return [one["id"] for one in answer]


@asynccontextmanager
async def others_posting(place: Place) -> AsyncIterator[None]:
    """Both at once, as fast as they can, until the walk is over."""
    walking = True

    async def write(writer: Member) -> None:
        while walking:
            place.new.append((await post(writer, "meanwhile"))["id"])

    writing = [asyncio.create_task(write(writer)) for writer in place.writers]
    try:
        yield
    finally:
        walking = False
        await asyncio.gather(*writing)


@pytest.fixture
async def place(town: Town) -> Place:
    reader, *writers = await join_all(town, 3)
    for writer in writers:
        await reader.to(writer, "follow")
    await arrive(reader)
    place = Place(reader, writers)
    for number in range(OLD):
        place.old.append((await post(writers[0], f"old {number}"))["id"])
    await settle(town)
    return place


async def test_ids_are_numbers_that_grow(place: Place) -> None:
    numbers = [int(id) for id in place.old]

    assert numbers == sorted(set(numbers))
    assert all(0 < number < 1 << 63 for number in numbers)


async def test_nothing_is_lost_or_doubled_on_the_way_back(place: Place) -> None:
    dice = random.Random(1852)
    async with others_posting(place):
        for path in place.paths():
            seen = await place.step(path, limit=dice.randint(1, 7))
            while int(seen[-1]) > int(place.old[0]):
                seen += await place.step(path, limit=dice.randint(1, 7), max_id=seen[-1])
            assert seen == sorted(set(seen), key=int, reverse=True), path
            assert [id for id in seen if id in place.old] == place.old[::-1], path


async def test_nothing_is_lost_or_doubled_on_the_way_forward(place: Place) -> None:
    """What was there when the walk began is met; what comes meanwhile is met by whoever walks when all is quiet."""
    dice = random.Random(1853)
    async with others_posting(place):
        for path in place.paths():
            seen = [place.old[0]]
            while int(seen[-1]) < int(place.old[-1]):
                seen += reversed(await place.step(path, limit=dice.randint(1, 7), min_id=seen[-1]))
            assert seen == sorted(set(seen), key=int), path
            assert [id for id in seen if id in place.old] == place.old, path
    await settle(place.reader.town)
    for path in place.paths()[:2]:
        seen = [place.old[0]]
        while page := await place.step(path, limit=dice.randint(20, 40), min_id=seen[-1]):
            seen += reversed(page)
        assert seen == sorted(place.old + place.new, key=int), path
