"""The gateway: nginx's question for somebody who is signed in beside a bare application, and proxy mode beside nginx's
own `proxy_pass` to the same application; large bodies and sockets with the memory they take."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

from bench import load
from bench.memory import memory_of
from bench.report import Result, Target, result
from bench.stage import ENGINES, Burst, Candidate, baseline
from tests.identity.gateway.gateways import Gateway, Visitor, make_gateway, visitor_of
from tests.identity.gateway.servers import nginx
from tests.town import Town, build_town
from tests.town.ports import ReservedPort

QUESTION_TARGET = Target(least=0.4, of_ratio=True)
PROXY_TARGET = Target(least=0.15, of_ratio=True)
MEMORY_TARGET = Target(most=16)
PIECE = bytes(1 << 18)
_PROXY = """
    upstream app {{ server 127.0.0.1:{upstream}; keepalive 32; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://app;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }}
    }}
"""


class Asked(Candidate, frozen=True):
    """With headers of its own."""

    lines: tuple[str, ...] = ()

    @property
    def request(self) -> str:
        return "\r\n".join((f"GET {self.path} HTTP/1.1", *self.lines)) + "\r\n\r\n"


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    rounds, seconds = (3, 0.5) if quick else (9, 0.8)
    found: list[Result] = []
    for engine in ENGINES[:1] if quick else ENGINES:
        async with AsyncExitStack() as stack:
            town = await stack.enter_async_context(build_town(engine, folder / f"gateway-{engine}", gateway="on"))
            bare = await stack.enter_async_context(baseline("bench.bare"))
            app = await stack.enter_async_context(baseline("bench.gateway_upstream"))
            port = stack.enter_context(ReservedPort())
            block = _PROXY.format(upstream=app.port, port=port.number)
            beside = await stack.enter_async_context(nginx(folder / f"nginx-{engine}", block, port.number))
            asked, proxied, cookie = await _entered(town, app.port)
            candidates = [
                Candidate("bare", bare.pid, bare.port, "/"),
                Asked("question", town.pid, town.port, "/outpost.kith/auth/nginx", lines=asked),
                Candidate("nginx", beside, port.number, "/"),
                Asked("proxy", town.pid, town.port, "/", lines=(f"host: {proxied.host}", f"cookie: {cookie}")),
            ]
            bursts: dict[str, list[Burst]] = defaultdict(list)
            for _ in range(rounds):
                for candidate in candidates:
                    bursts[candidate.name].append(await candidate.burst(seconds))
            found += _rows(f"gateway.{engine}", bursts)
            size = (200 << 20) if quick else (1 << 30)
            found += await _heavy(f"gateway.{engine}", town, proxied, cookie, size)
    return found


async def _entered(town: Town, app_port: int) -> tuple[tuple[str, ...], Gateway, str]:
    """Somebody who is signed in at two gateways: what nginx sends for the one, and their cookie for the other."""
    owner = await town.owner()
    forward = await make_gateway(town, owner, mode="forward_single", internal_host="")
    proxied = await make_gateway(town, owner, internal_host=f"http://127.0.0.1:{app_port}")
    _, visitor = await visitor_of(town)
    await visitor.follow(forward.at("/outpost.kith/start"))
    await visitor.follow(proxied.at("/"))
    lines = (
        f"host: 127.0.0.1:{town.port}",
        f"x-original-url: {forward.at('/pictures/one.png?size=2')}",
        f"cookie: {_cookie(visitor, forward)}",
    )
    return lines, proxied, _cookie(visitor, proxied)


def _cookie(visitor: Visitor, gateway: Gateway) -> str:
    return "; ".join(f"{name}={value}" for name, value in visitor.cookies[gateway.host].items())


def _rows(name: str, bursts: dict[str, list[Burst]]) -> list[Result]:
    rates = {one: [burst.rate for burst in some] for one, some in bursts.items()}
    cpu = {one: [burst.cpu_us for burst in some] for one, some in bursts.items()}
    p99 = {one: [burst.p99_ms for burst in some] for one, some in bursts.items()}
    bare, beside = (f"{name}.bare", rates["bare"]), (f"{name}.nginx", rates["nginx"])
    return [
        result(bare[0], rates["bare"], "requests/s"),
        result(f"{name}.question", rates["question"], "requests/s", baseline=bare, target=QUESTION_TARGET),
        result(f"{name}.question.cpu", cpu["question"], "µs/request", baseline=(f"{name}.bare.cpu", cpu["bare"])),
        result(f"{name}.question.p99", p99["question"], "ms"),
        result(beside[0], rates["nginx"], "requests/s"),
        result(f"{name}.proxy", rates["proxy"], "requests/s", baseline=beside, target=PROXY_TARGET),
        result(f"{name}.proxy.cpu", cpu["proxy"], "µs/request"),
        result(f"{name}.proxy.p99", p99["proxy"], "ms"),
    ]


# Large bodies


async def _heavy(name: str, town: Town, gateway: Gateway, cookie: str, size: int) -> list[Result]:
    ways: dict[str, Callable[[Town, Gateway, str, int], Any]] = {"upload": _up, "download": _down, "socket": _talk}
    found = []
    for what, carry in ways.items():
        watch = _Watch(town.pid)
        started_at = time.perf_counter()
        await asyncio.to_thread(carry, town, gateway, cookie, size)
        took = time.perf_counter() - started_at
        found.append(result(f"{name}.{what}", [size / took / 1e6], "MB/s"))
        found.append(result(f"{name}.{what}.memory", [watch.stop()], "MB more", target=MEMORY_TARGET))
    return found


class _Watch:
    """How much more memory a process takes at most than in the beginning."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._first = self._most = memory_of(pid).rss
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._stopping.wait(0.02):
            self._most = max(self._most, memory_of(self._pid).rss)

    def stop(self) -> float:
        self._stopping.set()
        self._thread.join()
        return self._most - self._first


def _head(gateway: Gateway, cookie: str, line: str, more: str = "") -> bytes:
    return f"{line} HTTP/1.1\r\nhost: {gateway.host}\r\ncookie: {cookie}\r\nconnection: close\r\n{more}\r\n".encode()


def _up(town: Town, gateway: Gateway, cookie: str, size: int) -> None:
    with socket.create_connection((load.HOST, town.port)) as one:
        one.sendall(_head(gateway, cookie, "POST /take", f"content-length: {size}\r\n"))
        for _ in range(size // len(PIECE)):
            one.sendall(PIECE)
        answer = b""
        while data := one.recv(1 << 16):
            answer += data
    if not answer.endswith(b"%d" % size):
        raise RuntimeError(f"not all of it arrived: {answer[-200:]!r}")


def _down(town: Town, gateway: Gateway, cookie: str, size: int) -> None:
    with socket.create_connection((load.HOST, town.port)) as one:
        one.sendall(_head(gateway, cookie, f"GET /give?{size}"))
        count = 0
        while data := one.recv(1 << 18):
            count += len(data)
    if count < size:
        raise RuntimeError(f"not all of it came: {count}")


def _talk(town: Town, gateway: Gateway, cookie: str, size: int) -> None:
    raw = socket.create_connection((load.HOST, town.port))
    with connect(f"ws://{gateway.host}/ws", sock=raw, additional_headers={"Cookie": cookie}, proxy=None) as one:
        for _ in range(size // len(PIECE)):
            one.send(PIECE)
        one.send("how much?")
        told = one.recv()
    if told != str(size):
        raise RuntimeError(f"not all of it was heard: {told!r}")
