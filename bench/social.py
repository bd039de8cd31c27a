"""A community's daily life: reading timelines, posting, favouriting, and how soon followers have a post."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import msgspec
from rich.console import Console
from sqlalchemy import and_, bindparam, func, select

from bench import load
from bench.community import QUICK, TAG, WHOLE, Community, Member, Size, seed
from bench.memory import memory_of
from bench.report import Baseline, Result, Target, result
from bench.stage import GIVE_UP_SECONDS, Burst, baseline, open_house_of, until_200
from kith.base.db import Instant, query
from kith.base.jobs.kinds import QUICK as QUICK_LANE
from kith.base.jobs.tables import jobs
from tests.town import Town, build_town
from tests.town.town import Engine

TOWNS: tuple[tuple[str, Engine, int], ...] = (
    ("sqlite", "sqlite", 1), ("postgresql", "postgresql", 1), ("postgresql-2", "postgresql", 2),
)  # fmt: skip
HOME = "/api/v1/timelines/home"
FAVOURITES = 2_000
POSTS_A_SECOND = 30.0
_waiting = query(
    select(func.count())
    .select_from(jobs)
    .where(and_(jobs.c.lane == QUICK_LANE, jobs.c.run_at <= bindparam("now", type_=Instant()), jobs.c.error.is_(None))),
    int,
)


class Asked(msgspec.Struct, frozen=True):
    """One thing to ask of one server, by one or many in turn."""

    name: str
    pid: int
    port: int
    requests: list[str]

    async def burst(self, seconds: float) -> Burst:
        told = {
            "port": self.port, "pid": self.pid, "request": self.requests, "connections": load.CONNECTIONS,
            "seconds": seconds,
        }  # fmt: skip
        done = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-I", "-S", load.__file__], input=json.dumps(told).encode(),
            capture_output=True, check=False, timeout=seconds + GIVE_UP_SECONDS,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"the load on {self.name} failed:\n{done.stderr.decode()}")
        return msgspec.json.decode(done.stdout, type=Burst)


class Place(msgspec.Struct):
    """A town with a community in it."""

    name: str
    town: Town
    community: Community

    @property
    def filtering(self) -> list[Member]:
        """Half of the members have filters."""
        return self.community.members[::2]

    async def filter(self) -> None:
        """Fifty keywords each, none of which anybody says."""
        for member in self.filtering:
            for number in range(5):
                words = [{"keyword": f"unsaid{number}word{other}"} for other in range(10)]
                await self._write(
                    member, "/api/v2/filters", {"title": "x", "context": ["home"], "keywords_attributes": words}
                )

    async def forget(self) -> None:
        """Anything that is written, so that no rows are kept from a round to the next."""
        await self._write(
            self.community.members[1], "/api/v1/statuses", {"status": "Something", "visibility": "direct"}
        )

    async def _write(self, member: Member, path: str, sent: dict[str, Any]) -> None:
        headers = {"Authorization": f"Bearer {member.token}"}
        (await self.town.http.post(path, json=sent, headers=headers)).raise_for_status()

    def get(self, what: str, path: str, members: list[Member]) -> Asked:
        heads = [_head("GET", path.replace("{me}", str(one.account_id)), self.town.port, one) for one in members]
        return Asked(f"{self.name}.{what}", self.town.pid, self.town.port, [f"{head}\r\n" for head in heads])

    def post(self, what: str, sent: list[tuple[Member, str, str]]) -> Asked:
        requests = [
            f"{_head('POST', path, self.town.port, who)}content-type: application/json\r\n"
            f"content-length: {len(body.replace('{number}', '0' * 16))}\r\n\r\n{body}"
            for who, path, body in sent
        ]
        return Asked(f"{self.name}.{what}", self.town.pid, self.town.port, requests)

    def reading(self) -> list[Asked]:
        members = self.community.members
        one = self.community.thread_id
        return [
            self.get("home", HOME, members),
            self.get("public", "/api/v1/timelines/public", members),
            self.get("tag", f"/api/v1/timelines/tag/{TAG}", members),
            self.get("account", "/api/v1/accounts/{me}/statuses", members),
            self.get("status", f"/api/v1/statuses/{one}", members),
            self.get("context of 50", f"/api/v1/statuses/{one}/context", members),
            self.get("notifications", "/api/v1/notifications", members),
            self.get("grouped notifications", "/api/v2/notifications", members),
            # As if somebody wrote all the time: no rows are kept for a page that nobody has asked for before.
            self.get("fresh notifications", "/api/v1/notifications?since_id={number}", members),
            self.get("fresh grouped notifications", "/api/v2/notifications?since_id={number}", members),
            self.get("fresh home", f"{HOME}?since_id={{number}}", members),
            self.get("filtered home", HOME, self.filtering),
            self.get("verify_credentials", "/api/v1/accounts/verify_credentials", members),
            self.get("relationships of 10", f"/api/v1/accounts/relationships?{self._ten()}", members),
            self.get("markers", "/api/v1/markers?timeline[]=home&timeline[]=notifications", members),
            self.get("instance", "/api/v2/instance", members),
        ]

    def _ten(self) -> str:
        return "&".join(f"id[]={member.account_id}" for member in self.community.members[:10])

    def favouriting(self) -> Iterator[Asked]:
        """Never the same twice: a favourite that is there already costs nothing."""
        pairs = itertools.product(reversed(self.community.public_ids), self.community.members)
        while sent := [
            (who, f"/api/v1/statuses/{id}/favourite", "{}") for id, who in itertools.islice(pairs, FAVOURITES)
        ]:
            yield self.post("favouriting", sent)

    def posting(self) -> Asked:
        body = json.dumps({"status": "Bread, rivers and lanterns: {number}"})
        return self.post("posting", [(who, "/api/v1/statuses", body) for who in self.community.members[1:]])


def _head(method: str, path: str, port: int, who: Member) -> str:
    return f"{method} {path} HTTP/1.1\r\nhost: {load.HOST}:{port}\r\nauthorization: Bearer {who.token}\r\n"


async def measure(folder: Path, console: Console, *, quick: bool) -> list[Result]:
    rounds, seconds = (3, 0.5) if quick else (5, 1.5)
    async with AsyncExitStack() as stack:
        places = [
            await stack.enter_async_context(_settle(folder / f"social-{name}", name, engine, processes, quick=quick))
            for name, engine, processes in TOWNS
        ]
        plain = await stack.enter_async_context(baseline("bench.bare"))
        spliced = await stack.enter_async_context(baseline("bench.splicing", str(await _pages(places[0], folder))))
        console.log("reading ...")
        asked = [
            Asked("bare", plain.pid, plain.port, [plain_request(plain.port)]),
            Asked("splicing", spliced.pid, spliced.port, [plain_request(spliced.port)]),
            *(one for place in places for one in place.reading()),
        ]
        bursts = await _rounds(asked, rounds, seconds, places)
        found = [row for name in bursts for row in _rows(name, bursts)] + _promises(bursts)
        console.log("favouriting, posting ...")
        for place in places:
            found += await _writing(place, rounds, seconds)
            found += await _fan_out(place, count=5 if quick else 15)
            found.append(
                result(f"social.{place.name}.memory", [_weight(place.town.pid)], "MB", target=Target(most=250))
            )
    return found


@asynccontextmanager
async def _settle(folder: Path, name: str, engine: Engine, processes: int, *, quick: bool) -> AsyncIterator[Place]:
    size: Size = QUICK if quick else WHOLE
    async with build_town(engine, folder, start=False, processes=str(processes)) as town:
        async with open_house_of(town) as house:
            community = await seed(house, size)
        if engine == "postgresql":
            # What PostgreSQL does by itself after a while.
            connection = await asyncpg.connect(town.database)
            await connection.execute("VACUUM ANALYZE")
            await connection.close()
        await town.start()
        await until_200(town.http, "/health/ready")
        place = Place(name, town, community)
        await place.filter()
        yield place


async def _pages(place: Place, folder: Path) -> Path:
    """Everybody's home as Kith answers it, for the ceiling to splice."""
    pages = []
    for member in place.community.members:
        answer = await place.town.http.get(HOME, headers={"Authorization": f"Bearer {member.token}"})
        answer.raise_for_status()
        if len(answer.json()) != 20:
            raise RuntimeError(f"not a full page: {answer.text}")
        pages.append(answer.content)
    file = folder / "homes.json"
    file.write_bytes(b"[%b]" % b",".join(pages))
    return file


def plain_request(port: int) -> str:
    return f"GET / HTTP/1.1\r\nhost: {load.HOST}:{port}\r\n\r\n"


async def _rounds(asked: list[Asked], rounds: int, seconds: float, places: list[Place]) -> dict[str, list[Burst]]:
    bursts: dict[str, list[Burst]] = defaultdict(list)
    for one in asked:
        await one.burst(0.2)
    for _ in range(rounds):
        for place in places:
            await place.forget()
        for one in asked:
            bursts[one.name].append(await one.burst(seconds))
    return bursts


def _rates(bursts: dict[str, list[Burst]], name: str) -> Baseline:
    return f"social.{name}.rate", [burst.rate for burst in bursts[name]]


def _rows(name: str, bursts: dict[str, list[Burst]], target: Target | None = None) -> list[Result]:
    mine = bursts[name]
    base = _rates(bursts, "bare") if "bare" in bursts and name != "bare" else None
    return [
        result(f"social.{name}.rate", [one.rate for one in mine], "requests/s", baseline=base, target=target),
        result(f"social.{name}.p50", [one.p50_ms for one in mine], "ms"),
        result(
            f"social.{name}.p99", [one.p99_ms for one in mine], "ms",
            baseline=(f"social.{name}.p50", [one.p50_ms for one in mine]),
            target=Target(most=8, of_ratio=True) if name == "sqlite.home" else None,
        ),
    ]  # fmt: skip


def _promises(bursts: dict[str, list[Burst]]) -> list[Result]:
    """Homes beside the ceiling, and beside each other; what apps ask for when they are opened; notifications."""
    pairs = (
        ("sqlite.home", "splicing", 0.35), ("postgresql.home", "sqlite.home", 0.5),
        ("postgresql-2.home", "postgresql.home", 1.6), ("sqlite.verify_credentials", "bare", 0.35),
    )  # fmt: skip
    rates = [
        result(
            f"social.{name}.rate to {other}", _rates(bursts, name)[1], "requests/s", baseline=_rates(bursts, other),
            target=Target(least=least, of_ratio=True),
        )
        for name, other, least in pairs
    ]  # fmt: skip
    costs = (
        ("sqlite.notifications", "sqlite.home", 1.5), ("sqlite.fresh notifications", "sqlite.fresh home", 1.5),
        ("sqlite.grouped notifications", "sqlite.notifications", 2.0),
        ("sqlite.fresh grouped notifications", "sqlite.fresh notifications", 2.0),
        ("sqlite.filtered home", "sqlite.home", 1.5),
    )  # fmt: skip
    return [
        *rates,
        *(
            result(
                f"social.{name}.cpu to {other}", _cpu(bursts, name)[1], "us", baseline=_cpu(bursts, other),
                target=Target(most=most, of_ratio=True),
            )
            for name, other, most in costs
        ),
    ]  # fmt: skip


def _cpu(bursts: dict[str, list[Burst]], name: str) -> Baseline:
    return f"social.{name}.cpu", [burst.cpu_us for burst in bursts[name]]


async def _writing(place: Place, rounds: int, seconds: float) -> list[Result]:
    """Each is followed by the time its jobs take, so that none is measured while another's are done."""
    bursts: dict[str, list[Burst]] = defaultdict(list)
    lag: list[float] = []
    favourites = place.favouriting()
    for _ in range(rounds):
        for asked in (next(favourites), place.posting()):
            bursts[asked.name].append(await asked.burst(seconds))
            started_at = time.perf_counter()
            await _quiet(place.town)
            if asked.name.endswith("posting"):
                lag.append(time.perf_counter() - started_at)
    found = []
    for name in bursts:
        is_judged = name == "sqlite.posting"
        found += _rows(name, bursts, Target(least=400) if is_judged else None)
    return [*found, result(f"social.{place.name}.posting.jobs done after", lag, "s")]


async def _quiet(town: Town) -> None:
    """Until nothing that is due waits to be done."""
    give_up = time.monotonic() + 120
    async with town.house() as house:
        while time.monotonic() < give_up:
            work = house.works.open()
            if not await work.db.one(_waiting, now=work.now):
                return
            await asyncio.sleep(0.02)
    raise RuntimeError("the jobs were not done in two minutes")


async def _fan_out(place: Place, *, count: int) -> list[Result]:
    """From the post's answer to the last of 500 followers' homes, while others go on posting."""
    took: list[float] = []
    async with httpx.AsyncClient(base_url=place.town.base_url, timeout=30) as http:
        others = asyncio.create_task(_keep_posting(http, place.community.members[1:]))
        try:
            for number in range(count):
                author = {"Authorization": f"Bearer {place.community.author.token}"}
                posted = await http.post("/api/v1/statuses", json={"status": f"News {number}"}, headers=author)
                posted.raise_for_status()
                took.append(await _until_it_came(http, place.community.last, posted.json()["id"]))
        finally:
            others.cancel()
            await asyncio.gather(others, return_exceptions=True)
    return [
        result(f"social.{place.name}.fan-out to 500", took, "s"),
        result(f"social.{place.name}.fan-out to 500, worst", [max(took)], "s", target=Target(most=1.0)),
    ]


async def _keep_posting(http: httpx.AsyncClient, members: list[Member]) -> None:
    for number, who in enumerate(itertools.cycle(members)):
        headers = {"Authorization": f"Bearer {who.token}"}
        (
            await http.post("/api/v1/statuses", json={"status": f"Meanwhile {number}"}, headers=headers)
        ).raise_for_status()
        await asyncio.sleep(1 / POSTS_A_SECOND)


async def _until_it_came(http: httpx.AsyncClient, last: Member, id: str) -> float:
    started_at = time.perf_counter()
    while time.perf_counter() - started_at < GIVE_UP_SECONDS:
        answer = await http.get(HOME, params={"limit": 1}, headers={"Authorization": f"Bearer {last.token}"})
        answer.raise_for_status()
        if answer.json() and answer.json()[0]["id"] == id:
            return time.perf_counter() - started_at
        await asyncio.sleep(0.005)
    raise RuntimeError("the post did not reach the last follower")


def _weight(pid: int) -> float:
    """The heaviest of the server's processes."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return max(memory_of(int(one)).rss for one in (str(pid), *children))
