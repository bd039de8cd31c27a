"""Emoji of another server take few statements and only so much room, and are forgotten a stretch at a time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
import pytest
from sqlalchemy import func, select

from kith.app import House
from kith.base.db import command, insert_into, query
from kith.base.jobs.tables import jobs
from kith.social.admission.tables import ServerBlock, server_blocks
from kith.social.emojis import remote
from kith.social.emojis.tables import emojis
from kith.social.remote_media import rejecting
from kith.social.remote_media.rejecting import REJECT, Reject, reject
from tests.conftest import TownBuilder

DOMAIN = "emoji.example"
_kept = query(select(func.count()).select_from(emojis).where(emojis.c.domain == DOMAIN), int)
_files = query(select(emojis.c.file).where(emojis.c.domain == DOMAIN).distinct(), str)
_block = command(insert_into(server_blocks))
_steps = query(select(jobs.c.payload).where(jobs.c.kind == REJECT.name).order_by(jobs.c.id), str)


class _Told(msgspec.Struct):
    shortcode: str
    url: str
    id: str | None = None
    updated: None = None


class _Counting:
    """A session that knows how many statements were written, and of how many rows each."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.written: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def run(self, command: Any, /, **params: Any) -> Any:
        self.written.append(1)
        return await self._session.run(command, **params)

    async def many(self, command: Any, rows: Any, /) -> None:
        self.written.append(len(rows))
        await self._session.many(command, rows)


async def _learn(house: House, count: int, picture: str = "1") -> list[int]:
    told = [_Told(f"e{number}", f"https://{DOMAIN}/{picture}/{number}.png") for number in range(count)]
    async with house.works.begin() as work:
        work.db = counting = _Counting(work.db)
        await remote.remember(work, DOMAIN, told)
    return counting.written


async def _count(house: House) -> int:
    async with house.works.begin() as work:
        return await work.db.one(_kept) or 0


async def test_all_that_one_activity_brings_is_written_at_once(new_town: TownBuilder) -> None:
    town = await new_town(worker="off")
    async with town.house() as house:
        assert await _learn(house, 250) == [250]
        assert await _learn(house, 250) == []
        assert await _learn(house, 250, "2") == [250]
        async with house.works.begin() as work:
            assert all("/2/" in file for file in await work.db.all(_files))


async def test_a_server_has_only_so_many(new_town: TownBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MOST_OF_SERVER", 5)
    town = await new_town(worker="off")
    async with town.house() as house:
        await _learn(house, 3)
        await _learn(house, 9)
        await _learn(house, 20, "2")

        assert await _count(house) == 5


async def test_those_of_a_server_that_is_suspended_go_a_stretch_at_a_time(
    new_town: TownBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rejecting, "BATCH", 2)
    town = await new_town(worker="off")
    async with town.house() as house:
        await _learn(house, 5)
        async with house.works.begin() as work:
            await work.db.run(_block, **_suspended(work.new_id(), work.now))
        left = []
        step = Reject(domain=DOMAIN, part="emoji")
        for _ in range(3):
            async with house.works.begin() as work:
                await reject(work, step)
            left.append(await _count(house))
        async with house.works.begin() as work:
            steps = await work.db.all(_steps)
    assert left == [3, 1, 0]
    assert len(steps) == 2


def _suspended(id: int, now: datetime) -> dict[str, Any]:
    block = ServerBlock(id, DOMAIN, "suspend", False, False, False, None, None, now)
    return {name: getattr(block, name) for name in ServerBlock.__struct_fields__}
