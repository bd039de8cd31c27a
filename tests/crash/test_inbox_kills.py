"""The power fails while other servers write to us: what was accepted happens, and happens once."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import httpx
from sqlalchemy import and_, func, select

from kith.base.db import query
from kith.base.jobs.tables import DEAD, jobs
from kith.social.statuses.tables import favourites, statuses
from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import RemotePerson
from tests.modes import sized
from tests.social.members import join
from tests.social.posts import post
from tests.town.town import Engine

POSTS = 60
KILLS = sized(3, 6)
CLIENTS = 8
_ours = jobs.c.kind.like("federation_inbox.%")
_alive = query(select(jobs.c.id).where(and_(_ours, jobs.c.state != DEAD)).limit(1), int)
_dead = query(select(jobs.c.id).where(and_(_ours, jobs.c.state == DEAD)).limit(1), int)
_marks = query(select(func.count()).select_from(favourites), int)
_counted = query(select(func.sum(statuses.c.favourites_count)), int)
_most = query(select(func.max(statuses.c.favourites_count)), int)


class Senders:
    """Other servers try again until they hear that it was taken."""

    def __init__(self, lane: Street, who: RemotePerson, posts: list[str]) -> None:
        self.lane = lane
        self.who = who
        self.taken = 0
        self.news = asyncio.Event()
        self._left = [who.activity("Like", uri) for uri in posts]

    async def send(self) -> None:
        while self._left:
            activity = self._left.pop()
            while not await self._is_taken(activity):
                await asyncio.sleep(0.05)
            self.taken += 1
            self.news.set()

    async def _is_taken(self, activity: dict[str, object]) -> bool:
        try:
            return (await self.lane.says(self.who, activity)).status_code == 202
        except httpx.TransportError:
            return False

    async def until(self, enough: int) -> None:
        while self.taken < enough:
            self.news.clear()
            await self.news.wait()


async def until_all_is_done(lane: Street) -> None:
    """However often the server was killed, nobody has to tell it to go on."""
    async with asyncio.timeout(120):
        while await lane.ask(_alive):
            await asyncio.sleep(0.1)
    assert not await lane.ask(_dead)


async def test_what_was_accepted_happens_once_whenever_the_server_dies(engine: Engine, tmp_path: Path) -> None:
    dice = random.Random(1848)
    async with street(engine, tmp_path) as lane:
        ada, bob = lane.there.person("ada"), await join(lane.here)
        posts = [(await post(bob, f"Post {number}"))["uri"] for number in range(POSTS)]
        senders = Senders(lane, ada, posts)
        clients = [asyncio.create_task(senders.send()) for _ in range(CLIENTS)]
        ends = sorted(dice.sample(range(1, POSTS), KILLS))

        for enough in ends:
            await senders.until(enough)
            await lane.here.kill()
            await lane.here.start()
        await asyncio.gather(*clients)
        await until_all_is_done(lane)

        assert await lane.ask(_marks) == POSTS
        assert await lane.ask(_counted) == POSTS
        assert await lane.ask(_most) == 1


async def test_what_was_accepted_before_the_end_is_done_after_it(engine: Engine, tmp_path: Path) -> None:
    async with street(engine, tmp_path) as lane:
        ada, bob = lane.there.person("ada"), await join(lane.here)
        said = await post(bob)
        await lane.here.stop()
        lane.here.change(worker="off")
        await lane.here.start()
        like = ada.activity("Like", said["uri"])
        for _ in range(2):
            assert (await lane.says(ada, like)).status_code == 202
        assert await lane.waiting() == 1
        assert (await bob.get(f"/api/v1/statuses/{said['id']}"))["favourites_count"] == 0

        await lane.here.kill()
        lane.here.change(worker="on")
        await lane.here.start()
        await lane.settled()

        assert (await bob.get(f"/api/v1/statuses/{said['id']}"))["favourites_count"] == 1
