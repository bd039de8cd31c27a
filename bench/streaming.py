"""Streams: 2,000 of them open, 500 told of every post while 50 posts a second go on, beside a bare application."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from bench import listeners
from bench.community import Community, Member, Size, seed
from bench.listeners import Found, Plan
from bench.report import Baseline, Result, Target, result
from bench.stage import baseline, open_house_of
from tests.town import build_town

OPEN, RATE = 2_000, 50.0
SIZE = Size(members=2, follows=1, statuses=20)
BASE = "/api/v1/streaming"
_TARGETS = {"last.p99": Target(most=250), "memory": Target(most=40)}
_ROWS = {
    "last.p50": ("ms", "p50_ms"), "last.p99": ("ms", "p99_ms"), "health.p50": ("ms", "health_p50_ms"),
    "health.p99": ("ms", "health_p99_ms"), "memory": ("KB/stream", "kilobytes"),
    "cpu": ("ms/post", "cpu_ms"), "lost": ("posts", "lost"),
}  # fmt: skip


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    seconds = 4.0 if quick else 15.0
    async with AsyncExitStack() as stack:
        town = await stack.enter_async_context(
            build_town("sqlite", folder / "streaming", start=False, log_level="warning")
        )
        async with open_house_of(town) as house:
            community = await seed(house, SIZE)
        bare = await stack.enter_async_context(baseline("bench.bare_streams"))
        found = {"bare": await _listen(_bare_plan(bare.port, bare.pid, seconds))}
        for what in ("sse", "websocket"):
            await town.start()  # a fresh one each, so that it is weighed before anybody listens
            found[what] = await _listen(_plan(town.port, town.pid, community, seconds, what))
            await town.stop()
    return [
        result(
            f"streaming.{name}.{what}", [getattr(told, field)], unit,
            baseline=None if name == "bare" or what == "lost" else _base(what, found["bare"], field),
            target=None if name == "bare" else _TARGETS.get(what),
        )
        for name, told in found.items()
        for what, (unit, field) in _ROWS.items()
    ]  # fmt: skip


def _base(what: str, bare: Found, field: str) -> Baseline:
    return f"streaming.bare.{what}", [max(getattr(bare, field), 0.001)]


def _plan(port: int, pid: int, community: Community, seconds: float, what: str) -> Plan:
    body = json.dumps({"status": "Something to be heard by all who follow: {mark}, and that is all there is."})
    length = len(body.replace("{mark}", "mark000000x"))
    head = f"POST /api/v1/statuses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {community.author.token}\r\n"
    post = f"{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    told = [_opening(what, "user", one) for one in community.followers]
    idle = [_opening(what, "direct", one) for one in community.followers * 3]
    return Plan(port, pid, told, idle[: OPEN - len(told)], post, RATE, seconds)


def _opening(what: str, stream: str, who: Member) -> str:
    if what == "sse":
        return f"GET {BASE}/{stream} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {who.token}\r\n\r\n"
    return (
        f"GET {BASE}?stream={stream} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {who.token}\r\nupgrade: websocket\r\n"
        "connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )


def _bare_plan(port: int, pid: int, seconds: float) -> Plan:
    body = "{mark}" + "x" * 2_400  # about as long as a post
    length = len(body.replace("{mark}", "mark000000x"))
    post = f"POST /post HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}"
    told, idle = (f"GET /{path} HTTP/1.1\r\nhost: x\r\n\r\n" for path in ("listen", "idle"))
    return Plan(port, pid, [told] * 500, [idle] * (OPEN - 500), post, RATE, seconds)


async def _listen(plan: Plan) -> Found:
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-m", listeners.__name__], input=msgspec.json.encode(plan),
        capture_output=True, check=False, timeout=plan.seconds + 180,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"listening failed:\n{done.stderr.decode()}")
    return msgspec.json.decode(done.stdout, type=Found)
