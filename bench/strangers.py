"""One host or one caller who does their worst, and how long everybody else waits: beside a quiet server, in one run."""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from bench import load
from bench.report import Result, Target, result
from bench.stage import ENGINES
from tests.federation.test_slow_hosts import Files, files, worthless
from tests.social.members import Member, join, stranger
from tests.social.samples import image_file
from tests.social.test_mirror import attached
from tests.town import Town, build_town
from tests.town.named import NamedTown
from tests.town.plain import PLAIN

TWICE = Target(most=2, of_ratio=True)
HOSTILE_ADDRESS, HOSTILE_AT_ONCE = "203.0.113.66", 40
BIG = (3000, 3000)

Probe = Callable[[], Awaitable[httpx.Response]]
Harm = AbstractAsyncContextManager[None]


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    probes = 15 if quick else 40
    found: list[Result] = []
    for engine in ENGINES[:1] if quick else ENGINES:
        async with AsyncExitStack() as stack:
            settings: dict[str, Any] = {"private_hosts": "127.0.0.1", "trusted_proxies": "127.0.0.1"}
            town = await stack.enter_async_context(
                build_town(engine, folder / f"strangers-{engine}", kind=NamedTown, **settings)
            )
            there, slow = [await stack.enter_async_context(files()) for _ in range(2)]
            limits = httpx.Limits(max_connections=200)
            headers = {"x-forwarded-for": HOSTILE_ADDRESS}
            hostile = await stack.enter_async_context(
                httpx.AsyncClient(base_url=town.base_url, timeout=120, verify=PLAIN, limits=limits, headers=headers)
            )
            scene = await _Scene.made(town, hostile, there, slow, probes)
            for name, probe, harm in scene.rows():
                found += await _row(f"strangers.{engine}.{name}", probe, harm, probes)
    return found


class _Scene:
    """Everything that is asked for, made before anything is measured."""

    def __init__(self, town: Town, hostile: httpx.AsyncClient, ada: Member, mallory: Member) -> None:
        self.town, self.hostile, self.ada, self.mallory = town, hostile, ada, mallory
        self.numbers = itertools.count()
        self.large = image_file("PNG", BIG)
        self.pictures: Iterator[str] = iter(())
        self.dripping: Iterator[str] = iter(())

    @classmethod
    async def made(cls, town: Town, hostile: httpx.AsyncClient, there: Files, slow: Files, probes: int) -> _Scene:
        scene = cls(town, hostile, await join(town), await join(town))
        far = await stranger(town)
        urls = [f"http://innocent.example:{there.port}/picture{n}" for n in range(6 * probes)]
        drips = [f"http://slow.example:{slow.port}/drip/{n}" for n in range(100)]
        scene.pictures = iter([(await attached(town, far, url))[1] for url in urls])
        scene.dripping = itertools.cycle([(await attached(town, far, url))[1] for url in drips])
        return scene

    def rows(self) -> list[tuple[str, Probe, Harm]]:
        return [
            ("dead_names.picture", self._picture, _over_and_over(self._dead_name)),
            ("dripping_pictures.picture", self._picture, _over_and_over(self._drip)),
            ("uploads.picture", self._picture, _over_and_over(self._upload)),
            ("searches.write", self._write, self._searches()),
            ("writes.write", self._write, self._writes()),
            ("line_ends.write", self._write, self._sent(b"\r\n" * 100_000)),
            ("small_chunks.write", self._write, self._sent(self._head("POST /inbox") + b"1\r\nA\r\n" * 50_000)),
            ("pings.write", self._write, self._sent(self._handshake() + b"\x89\x80\0\0\0\0" * 50_000)),
        ]

    # What everybody else does

    async def _picture(self) -> httpx.Response:
        return await self.town.http.get(f"/media_proxy/{next(self.pictures)}/small")

    async def _write(self) -> httpx.Response:
        return await self.town.http.patch(
            "/api/v1/preferences", headers=_as(self.ada), json={"posting:default:visibility": "unlisted"}
        )

    # What one does to them

    async def _dead_name(self) -> object:
        host = f"dead{next(self.numbers)}.example"
        return await self.hostile.send(worthless(self.town, next(self.numbers), host, HOSTILE_ADDRESS))

    async def _drip(self) -> object:
        return await self.hostile.get(f"/media_proxy/{next(self.dripping)}/small")

    @asynccontextmanager
    async def _searches(self) -> AsyncIterator[None]:
        async with self._flood("GET /api/v2/search?q=what HTTP/1.1", ""):
            yield

    @asynccontextmanager
    async def _writes(self) -> AsyncIterator[None]:
        async with self._flood("POST /api/v1/markers HTTP/1.1", '{"home": {"last_read_id": "1"}}'):
            yield

    @asynccontextmanager
    async def _flood(self, line: str, body: str) -> AsyncIterator[None]:
        names = {
            "host": f"{load.HOST}:{self.town.port}",
            "x-forwarded-for": HOSTILE_ADDRESS,
            "authorization": f"Bearer {self.mallory.token}",
            "content-type": "application/json",
            "content-length": str(len(body)),
        }
        async with self._sent(
            "\r\n".join((line, *(f"{name}: {value}" for name, value in names.items()), "", body)).encode()
        ):
            yield

    def _head(self, line: str, more: str = "transfer-encoding: chunked") -> bytes:
        host = f"host: {load.HOST}:{self.town.port}\r\nx-forwarded-for: {HOSTILE_ADDRESS}"
        return f"{line} HTTP/1.1\r\n{host}\r\n{more}\r\n\r\n".encode()

    def _handshake(self) -> bytes:
        key = "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="
        more = f"connection: upgrade\r\nupgrade: websocket\r\n{key}"
        return self._head(f"GET /api/v1/streaming?access_token={self.mallory.token}", more)

    @asynccontextmanager
    async def _sent(self, request: bytes) -> AsyncIterator[None]:
        """From a process of its own: what it takes there is nobody's time here."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bench.flood", str(self.town.port), str(HOSTILE_AT_ONCE)),
            stdin=asyncio.subprocess.PIPE,
        )
        assert process.stdin is not None
        process.stdin.write(request)
        process.stdin.write_eof()
        try:
            await asyncio.sleep(2)
            yield
        finally:
            process.kill()
            await process.wait()

    async def _upload(self) -> object:
        large = {"file": ("large.png", self.large)}
        return await self.hostile.post("/api/v2/media", headers=_as(self.mallory), files=large)


def _as(member: Member) -> dict[str, str]:
    return {"Authorization": f"Bearer {member.token}"}


async def _row(name: str, probe: Probe, harm: Harm, probes: int) -> list[Result]:
    quiet = await _probed(probe, probes)
    async with harm:
        busy = await _probed(probe, probes)
    found: list[Result] = []
    for what, part in (("p50", 0.5), ("p99", 0.99)):
        base = (f"{name}.quiet.{what}", [_quantile(quiet, part)])
        found.append(result(base[0], base[1], "ms"))
        target = TWICE if what == "p99" else None
        found.append(result(f"{name}.hostile.{what}", [_quantile(busy, part)], "ms", baseline=base, target=target))
    return found


@asynccontextmanager
async def _over_and_over(harm: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    """As many as may be at once, over and over."""

    async def go_on() -> None:
        while True:
            try:
                await harm()
            except httpx.HTTPError:
                await asyncio.sleep(0.01)

    tasks = [asyncio.create_task(go_on()) for _ in range(HOSTILE_AT_ONCE)]
    try:
        await asyncio.sleep(1)
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _probed(probe: Probe, count: int) -> list[float]:
    took: list[float] = []
    for _ in range(count):
        started_at = time.perf_counter()
        answer = await probe()
        took.append((time.perf_counter() - started_at) * 1000)
        assert answer.status_code in (200, 302), answer.text
    return took


def _quantile(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]
