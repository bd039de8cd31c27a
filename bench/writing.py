"""Writing: the CPU that a post and a favourite cost all told, in every process of the server, with their jobs.

Wall time says little of what a write costs, for most of it is done after the answer. `python -m bench.writing` runs
this alone.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec
import uvloop
from sqlalchemy import and_, func, select

from bench import load
from bench.community import Community, Member, Size, seed
from bench.report import RESULTS, Result, result
from bench.stage import ENGINES, baseline, open_house_of, until_200
from kith.base.db import query
from kith.base.jobs.kinds import QUICK as QUICK_LANE
from kith.base.jobs.tables import jobs
from tests.town import Town, build_town
from tests.town.town import Engine

SIZE = Size(members=200, follows=5_000, statuses=5_000)
POSTS, FAVOURITES, PLAIN = 400, 800, 8_000
_waiting = query(
    select(func.count()).select_from(jobs).where(and_(jobs.c.lane == QUICK_LANE, jobs.c.key.is_(None))), int
)


class Place(msgspec.Struct):
    town: Town
    community: Community
    pairs: Iterator[tuple[int, Member]]

    @property
    def posts(self) -> list[str]:
        body = json.dumps({"status": "Bread, rivers and lanterns: {number}"})
        return [self._request("/api/v1/statuses", body, who) for who in self.community.members[1:]]

    @property
    def favourites(self) -> list[str]:
        """Never the same twice: a favourite that is there already costs nothing."""
        some = itertools.islice(self.pairs, FAVOURITES + load.CONNECTIONS)
        return [self._request(f"/api/v1/statuses/{id}/favourite", "{}", who) for id, who in some]

    def _request(self, path: str, body: str, who: Member) -> str:
        return (
            f"POST {path} HTTP/1.1\r\nhost: {load.HOST}:{self.town.port}\r\nauthorization: Bearer {who.token}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body.replace('{number}', '0' * 16))}\r\n\r\n{body}"
        )

    async def cpu_of(self, requests: list[str], count: int) -> float:
        """Microseconds for each, until nothing waits to be done any more."""
        before = _cpu_of_all(self.town.pid)
        done = await asyncio.to_thread(_send, self.town.port, requests, count)
        await self._quiet()
        return (_cpu_of_all(self.town.pid) - before) / done * 1e6

    async def _quiet(self) -> None:
        async with self.town.house() as house:
            for _ in range(6_000):
                if not await house.works.open().db.one(_waiting):
                    return
                await asyncio.sleep(0.02)
        raise RuntimeError("the jobs were not done in two minutes")


def _send(port: int, requests: list[str] | str, count: int) -> int:
    sender = load.Load(port, requests, load.CONNECTIONS)
    took, _ = sender.press(load.MOST_SECONDS, count)
    sender.close()
    return len(took)


def _cpu_of_all(pid: int) -> float:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return load.cpu_seconds(pid) + sum(_cpu_of_all(int(child)) for child in children)


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    cost: dict[str, list[float]] = defaultdict(list)
    engines = ENGINES[:1] if quick else ENGINES
    async with AsyncExitStack() as stack:
        places = [await stack.enter_async_context(_settle(folder, engine)) for engine in engines]
        plain = await stack.enter_async_context(baseline("bench.bare"))
        for number in range(4 if quick else 8):
            round_cost = {"bare": await _cpu_of_plain(plain.pid, plain.port)}
            for place in places:
                round_cost[f"{place.town.engine}.post"] = await place.cpu_of(place.posts, POSTS)
                round_cost[f"{place.town.engine}.favourite"] = await place.cpu_of(place.favourites, FAVOURITES)
            if number:  # the first round fills the caches
                for name, value in round_cost.items():
                    cost[name].append(value)
    base = ("writing.bare", cost["bare"])
    return [
        result(f"writing.{name}", each, "µs of CPU", baseline=None if name == "bare" else base)
        for name, each in cost.items()
    ]


async def _cpu_of_plain(pid: int, port: int) -> float:
    before = load.cpu_seconds(pid)
    request = f"GET / HTTP/1.1\r\nhost: {load.HOST}:{port}\r\n\r\n"
    done = await asyncio.to_thread(_send, port, request, PLAIN)
    return (load.cpu_seconds(pid) - before) / done * 1e6


@asynccontextmanager
async def _settle(folder: Path, engine: Engine) -> AsyncIterator[Place]:
    async with build_town(engine, folder / f"writing-{engine}", start=False) as town:
        async with open_house_of(town) as house:
            community = await seed(house, SIZE)
        await town.start()
        await until_200(town.http, "/health/ready")
        pairs = itertools.product(reversed(community.public_ids), community.members)
        yield Place(town, community, pairs)


async def _main() -> None:
    RESULTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=RESULTS, prefix=".run-") as name:
        for row in await measure(Path(name), quick=True):
            print(f"{row.name:32} {row.value:8.0f} {row.unit} {row.ratio or 1:8.1f} x bare")


if __name__ == "__main__":
    uvloop.run(_main())
