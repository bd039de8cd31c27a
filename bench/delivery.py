"""Deliveries: what a signed one costs beside its bare RSA signature, and how soon a post has reached every host."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import msgspec
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256

from bench.inbox_sink import Told
from bench.memory import memory_of
from bench.report import Result, Target, result
from bench.stage import ENGINES, Baseline, baseline, open_house_of
from kith.app import House
from kith.federation.delivery import store
from kith.federation.delivery.service import deliver
from kith.federation.keys import service as keys
from tests.town import Town, build_town
from tests.town.town import Engine

TARGET = Target(0.5, of_ratio=True)
HOSTS_IN_A_ROUND, INBOXES_OF_A_HOST = 10, 200
SIGNATURES = 1_000
LIVING, REFUSING, SILENT = 450, 25, 25
FOLLOWERS_OF_A_HOST = 10
GIVE_UP_SECONDS = 120.0
LOOK_SECONDS = 0.05
NOTE = {
    "id": "https://a.example/users/ada/statuses/1/activity", "type": "Create", "actor": "https://a.example/users/ada",
    "object": {"id": "https://a.example/users/ada/statuses/1", "type": "Note", "content": "<p>words</p>" * 100},
}  # fmt: skip


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    found: dict[str, list[float]] = defaultdict(list)
    async with AsyncExitStack() as stack:
        sink = Sink(await stack.enter_async_context(baseline("bench.inbox_sink")))
        for engine in ENGINES:
            town = await stack.enter_async_context(
                build_town(engine, folder / f"delivery-{engine}", start=False, private_hosts="127.0.0.0/8",
                           log_level="warning")
            )  # fmt: skip
            async with open_house_of(town) as house:
                for _ in range(2 if quick else 5):
                    found[f"{engine}.bare"].append(await _sign(house))
                    cpu, wall = await _send(house, sink)
                    found[f"{engine}.signed"].append(cpu)
                    found[f"{engine}.wall"].append(wall)
            for what, inboxes in (("shared", 1), ("personal", FOLLOWERS_OF_A_HOST)):
                await _fan_out(town, sink, inboxes, f"{engine}.{what}", found)
        await sink.close()
    return [row for engine in ENGINES for row in _rows(engine, found)]


def _rows(engine: Engine, found: dict[str, list[float]]) -> list[Result]:
    name = f"delivery.{engine}"
    bare = (f"{name}.bare", found[f"{engine}.bare"])
    rows = [
        result(bare[0], bare[1], "per CPU s"),
        result(f"{name}.signed", found[f"{engine}.signed"], "per CPU s", baseline=bare, target=TARGET),
        result(f"{name}.wall", found[f"{engine}.wall"], "per s"),
    ]
    for what in ("shared", "personal"):
        for measured, unit in (("seconds", "s"), ("idle", "MB"), ("memory", "MB")):
            rows.append(result(f"{name}.{what}.{measured}", found[f"{engine}.{what}.{measured}"], unit))
    return rows


class Sink:
    def __init__(self, server: Baseline) -> None:
        self.port = server.port
        self._http = httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}")

    def inbox(self, network: str, host: int, path: str = "inbox", port: int | None = None) -> str:
        return f"http://127.{network}.{host // 250}.{host % 250 + 1}:{port or self.port}/{path}"

    async def tell(self) -> Told:
        return msgspec.json.decode((await self._http.get("/")).content, type=Told)

    async def forget(self) -> None:
        await self._http.get("/forget")

    async def close(self) -> None:
        await self._http.aclose()


async def _sign(house: House) -> float:
    """How many signatures a second of the processor's time is good for."""
    signer, padding, hashing = await keys.signer(house.works.open(), None), PKCS1v15(), SHA256()
    started_at = time.process_time()
    for _ in range(SIGNATURES):
        signer.key.sign(b"x" * 300, padding, hashing)
    return SIGNATURES / (time.process_time() - started_at)


async def _send(house: House, sink: Sink) -> tuple[float, float]:
    """From the call until everything is recorded, with all that this costs here; the sink is another process."""
    await sink.forget()
    count = HOSTS_IN_A_ROUND * INBOXES_OF_A_HOST
    inboxes = [
        sink.inbox("0", host, f"users/{number}/inbox")
        for host in range(HOSTS_IN_A_ROUND)
        for number in range(INBOXES_OF_A_HOST)
    ]
    cpu_before, before = time.process_time(), time.perf_counter()
    async with house.works.begin() as work:
        await deliver(work, activity=NOTE, sender=None, inboxes=inboxes)
    worker = house.worker()
    working = asyncio.create_task(worker.run())
    while sum((await store.waiting(house.works.open().db)).values()):
        await asyncio.sleep(LOOK_SECONDS)
    cpu, wall = time.process_time() - cpu_before, time.perf_counter() - before
    worker.stop()
    await working
    if (await sink.tell()).received != count:
        raise RuntimeError(f"{(await sink.tell()).received} of {count} arrived")
    return count / cpu, count / wall


async def _fan_out(town: Town, sink: Sink, inboxes: int, name: str, found: dict[str, list[float]]) -> None:
    """One post to 500 hosts of which 50 are dead: every second of those refuses, the others take it and fall silent."""
    await town.start()
    try:
        await sink.forget()
        idle = peak = memory_of(town.pid).rss
        paths = ["inbox"] if inboxes == 1 else [f"users/{number}/inbox" for number in range(inboxes)]
        places = [
            *(sink.inbox("0", host, path) for host in range(LIVING) for path in paths),
            *(sink.inbox("8", host, path, port=1) for host in range(REFUSING) for path in paths),
            *(sink.inbox("9", host, path) for host in range(SILENT) for path in paths),
        ]
        async with open_house_of(town) as house:
            async with house.works.begin() as work:
                await deliver(work, activity=NOTE, sender=None, inboxes=sorted(places, key=hash))
            started_at = time.monotonic()
            told = await sink.tell()
            while told.received < LIVING * inboxes:
                if time.monotonic() - started_at > GIVE_UP_SECONDS:
                    raise RuntimeError(f"only {told.received} arrived")
                await asyncio.sleep(LOOK_SECONDS)
                peak = max(peak, memory_of(town.pid).rss)
                told = await sink.tell()
            async with house.works.begin() as work:
                for domain in await store.waiting(work.db):
                    await store.purge(work.db, domain)
        found[f"{name}.seconds"].append(told.last_at - started_at)
        found[f"{name}.idle"].append(idle)
        found[f"{name}.memory"].append(peak)
    finally:
        await town.stop()
