"""The power fails while people post: whatever was sent until it was taken is there once, everywhere it belongs."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from tests.crash.test_kills import Doomed, doomed_server
from tests.modes import sized
from tests.social.members import Member, join
from tests.social.posts import arrive, post, walk
from tests.social.samples import image_file
from tests.town.town import Engine

KILLS = sized(4, 10)
POSTS = 80
CLIENTS = 8


class Told(msgspec.Struct):
    """What somebody wants to say, until it has been taken."""

    number: int
    author: Member
    is_reply: bool
    has_picture: bool
    is_mention: bool
    media_id: str | None = None
    status: dict[str, Any] | None = None


class Storm:
    """Two who post, two who read, and clients that send the same again until they are answered."""

    def __init__(self, doomed: Doomed) -> None:
        self.doomed = doomed
        self.authors: list[Member] = []
        self.readers: list[Member] = []
        self.root: dict[str, Any] = {}
        self.all: list[Told] = []
        self.taken = 0
        self.one_more = asyncio.Event()

    async def prepare(self) -> None:
        """In a calm life."""
        town = self.doomed.town
        await town.start()
        self.authors, self.readers = [await join(town) for _ in range(2)], [await join(town) for _ in range(2)]
        await arrive(*self.readers)
        for reader in self.readers:
            for author in self.authors:
                await reader.to(author, "follow")
        self.root = await post(self.authors[0], "the root")
        await arrive(*self.readers)
        await town.stop()
        self.all = [
            Told(number, self.authors[number % 2], number % 3 == 0, number % 4 == 0, number % 5 == 0)
            for number in range(POSTS)
        ]

    async def blow(self) -> None:
        """Lives and deaths, each in the middle of what the clients want."""
        dice = random.Random(1859)
        waiting = iter(self.all)
        await self.doomed.live()
        clients = [asyncio.create_task(self._client(waiting)) for _ in range(CLIENTS)]
        for _ in range(KILLS):
            enough = min(self.taken + dice.choice([0, 1, 3, 5, 8, 13]), POSTS - CLIENTS)
            while self.taken < enough:
                self.one_more.clear()
                await self.one_more.wait()
            await asyncio.sleep(dice.random() / 50)  # not always right after an answer
            await self.doomed.die()
            await self.doomed.live()
        await asyncio.gather(*clients)

    async def _client(self, waiting: Any) -> None:
        for told in waiting:
            if told.has_picture:
                files = {"file": ("a.png", image_file("PNG", (20, 10)), "image/png")}
                told.media_id = (await self._insist(told, "/api/v2/media", files=files))["id"]
            told.status = await self._insist(
                told, "/api/v1/statuses", json=self._body(told), headers={"Idempotency-Key": f"post {told.number}"}
            )
            self.taken += 1
            self.one_more.set()

    def _body(self, told: Told) -> dict[str, Any]:
        words = f"number {told.number}" + (f" @{self.readers[0].name}" if told.is_mention else "")
        reply = {"in_reply_to_id": self.root["id"]} if told.is_reply else {}
        return {"status": words, "media_ids": [told.media_id] if told.media_id else [], **reply}

    async def _insist(self, told: Told, path: str, **options: Any) -> Any:
        while True:
            try:
                return await told.author.post(path, **options)
            except httpx.TransportError:
                await asyncio.sleep(0.05)

    async def calm(self) -> None:
        """Until nothing is left to do; what a dead server held comes back when its lease has run out."""
        await self.doomed.until_no_job_is_left("state >= 0")
        assert await self.doomed.rows("SELECT kind, error FROM base_jobs") == []


async def _ids(member: Member, path: str) -> Counter[str]:
    return Counter(id for page in await walk(member, f"{path}?limit=40") for id in page)


@pytest.fixture
async def storm(engine: Engine, tmp_path: Path) -> Any:
    async with doomed_server(engine, tmp_path / "town") as doomed:
        yield Storm(doomed)


async def test_posts_pictures_homes_and_counts_survive_kills(storm: Storm) -> None:
    # given
    await storm.prepare()
    async with asyncio.timeout(600):
        await storm.blow()

    # when
    await storm.calm()

    # then
    posted = {told.number: told.status["id"] for told in storm.all if told.status}
    assert len(posted) == len(set(posted.values())) == POSTS
    everything = Counter([*posted.values(), storm.root["id"]])
    for reader in storm.readers:
        assert await _ids(reader, "/api/v1/timelines/home") == everything
    answers = Counter(
        posted[told.number] for told in storm.all if told.is_reply and told.author is not storm.authors[0]
    )
    assert await _ids(storm.readers[0], "/api/v1/timelines/public") == everything - answers
    for author in storm.authors:
        own = Counter(posted[told.number] for told in storm.all if told.author is author)
        own.update([storm.root["id"]] if author is storm.authors[0] else [])
        assert await _ids(author, f"/api/v1/accounts/{author.id}/statuses") == own
        assert (await author.refreshed())["statuses_count"] == own.total()
    await _check_replies(storm, posted)
    await _check_pictures(storm)
    await _check_notices(storm, posted)
    if storm.doomed.town.engine == "sqlite":
        assert await storm.doomed.rows("PRAGMA integrity_check") == [("ok",)]
        assert await storm.doomed.rows("PRAGMA foreign_key_check") == []


async def _check_replies(storm: Storm, posted: dict[int, str]) -> None:
    replies = {posted[told.number] for told in storm.all if told.is_reply}
    reader, path = storm.readers[0], f"/api/v1/statuses/{storm.root['id']}"
    assert (await reader.get(path))["replies_count"] == len(replies)
    found = [one["id"] for one in (await reader.get(f"{path}/context"))["descendants"]]
    assert (len(found), set(found)) == (len(replies), replies)


async def _check_pictures(storm: Storm) -> None:
    http = storm.doomed.town.http
    for told in storm.all:
        assert told.status is not None
        shown = (await http.get(f"/api/v1/statuses/{told.status['id']}")).json()
        assert f"number {told.number}" in shown["content"]
        assert [one["id"] for one in shown["media_attachments"]] == ([told.media_id] if told.has_picture else [])
        for attached in shown["media_attachments"]:
            for url in (attached["url"], attached["preview_url"]):
                assert (await http.get(url)).status_code == 200


async def _check_notices(storm: Storm, posted: dict[int, str]) -> None:
    wanted = Counter(posted[told.number] for told in storm.all if told.is_mention)
    told = await storm.readers[0].get("/api/v1/notifications", params={"types[]": "mention", "limit": 80})
    assert Counter(one["status"]["id"] for one in told) == wanted
