"""Those who listen to streams, run as a process of their own: `bench.listeners`, told by JSON on standard input.

Opens connections, some of which are told of every post; posts at a steady pace; and says how long each post took to
reach the last of them, how long `/health` took meanwhile, and what the server weighed before and after.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import sys
import time
from collections import defaultdict

import msgspec
import uvloop

from bench.load import cpu_seconds
from bench.memory import memory_of

MARK = re.compile(rb"mark(\d{6})x")
TAIL = 16
AT_ONCE = 100
GIVE_UP_SECONDS = 60.0


class Plan(msgspec.Struct, frozen=True):
    port: int
    pid: int
    told: list[str]  # the requests of those who are told of every post, as they go over the wire
    idle: list[str]
    post: str  # with `{mark}` in it
    rate: float
    seconds: float


class Found(msgspec.Struct, frozen=True):
    p50_ms: float
    p99_ms: float
    health_p50_ms: float
    health_p99_ms: float
    kilobytes: float  # of memory, for each open connection
    cpu_ms: float  # of the server, for each post
    lost: int


class Heard:
    def __init__(self, listeners: int) -> None:
        self.listeners = listeners
        self.counts: dict[int, int] = defaultdict(int)
        self.last: dict[int, float] = {}

    def hear(self, number: int) -> None:
        self.counts[number] += 1
        if self.counts[number] == self.listeners:
            self.last[number] = time.perf_counter()


class Ear(asyncio.Protocol):
    def __init__(self, heard: Heard | None) -> None:
        self._heard = heard
        self._tail = b""
        self.greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        if not self.greeted.done():
            self.greeted.set_result(None)
        if self._heard is not None:
            whole, end = self._tail + data, 0
            for found in MARK.finditer(whole):
                self._heard.hear(int(found[1]))
                end = found.end()
            self._tail = whole[max(end, len(whole) - TAIL) :]

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.greeted.done():
            self.greeted.set_exception(exc or ConnectionError("refused"))


async def _open(plan: Plan, requests: list[str], heard: Heard | None) -> list[asyncio.BaseTransport]:
    loop, kept = asyncio.get_running_loop(), []
    for start in range(0, len(requests), AT_ONCE):
        ears = []
        for request in requests[start : start + AT_ONCE]:
            transport, ear = await loop.create_connection(lambda: Ear(heard), "127.0.0.1", plan.port)
            transport.write(request.encode())
            kept.append(transport)
            ears.append(ear.greeted)
        await asyncio.gather(*ears)
    return kept  # type: ignore[return-value]


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: str) -> float:
    began = time.perf_counter()
    writer.write(request.encode())
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    if not head.startswith(b"HTTP/1.1 200") or length is None:
        raise RuntimeError(head.decode())
    await reader.readexactly(int(length[1]))
    return time.perf_counter() - began


async def _watch(plan: Plan, took: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", plan.port)
    while True:
        took.append(await _ask(reader, writer, "GET /health HTTP/1.1\r\nhost: x\r\n\r\n"))
        await asyncio.sleep(0.02)


async def _post(plan: Plan) -> dict[int, float]:
    """At its pace, whether the last was answered or not, over a few connections in turn."""
    lines = [await asyncio.open_connection("127.0.0.1", plan.port) for _ in range(16)]
    locks = [asyncio.Lock() for _ in lines]
    sent: dict[int, float] = {}
    tasks = []

    async def one(number: int) -> None:
        async with locks[number % len(lines)]:
            sent[number] = time.perf_counter()
            await _ask(*lines[number % len(lines)], plan.post.replace("{mark}", f"mark{number:06}x"))

    began = time.perf_counter()
    for number in range(int(plan.rate * plan.seconds)):
        await asyncio.sleep(max(0.0, began + number / plan.rate - time.perf_counter()))
        tasks.append(asyncio.create_task(one(number)))
    await asyncio.gather(*tasks)
    return sent


async def run(plan: Plan) -> Found:
    before = memory_of(plan.pid).rss
    heard = Heard(len(plan.told))
    kept = [*await _open(plan, plan.idle, None), *await _open(plan, plan.told, heard)]
    weight = (memory_of(plan.pid).rss - before) * 1000 / len(kept)
    health: list[float] = []
    watching = asyncio.create_task(_watch(plan, health))
    used = cpu_seconds(plan.pid)
    sent = await _post(plan)
    give_up = time.perf_counter() + GIVE_UP_SECONDS
    while len(heard.last) < len(sent) and time.perf_counter() < give_up:
        await asyncio.sleep(0.05)
    used = cpu_seconds(plan.pid) - used
    watching.cancel()
    took = sorted((at - sent[number]) * 1000 for number, at in heard.last.items())
    slow = sorted(one * 1000 for one in health)
    for transport in kept:
        transport.abort()  # type: ignore[attr-defined]
    return Found(
        p50_ms=statistics.median(took), p99_ms=took[int(len(took) * 0.99)], health_p50_ms=statistics.median(slow),
        health_p99_ms=slow[int(len(slow) * 0.99)], kilobytes=weight,
        cpu_ms=used * 1000 / len(sent), lost=len(sent) - len(took),
    )  # fmt: skip


if __name__ == "__main__":
    found = uvloop.run(run(msgspec.json.decode(sys.stdin.buffer.read(), type=Plan)))
    sys.stdout.buffer.write(msgspec.json.encode(found))
