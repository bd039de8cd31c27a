"""The LDAP server over many people: binds apart from hashing, searches for one, and reading everybody page by page."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.identity import fill_with_people
from bench.memory import memory_of
from bench.report import Result, Target, result
from kith.identity.ldap_server.ber import ENUMERATED, INTEGER, OCTETS, SEQUENCE, BerReader, encode, encode_integer
from tests.town import build_town
from tests.town.ports import ReservedPort
from tests.town.town import Engine

ENGINES: tuple[Engine, ...] = ("sqlite", "postgresql")
PEOPLE = 20_000
PAGE = 500
CLIENTS = 8
BASE = "dc=example,dc=org"
FLAT = Target(most=40)  # megabytes more than before


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    found: list[Result] = []
    for engine in ENGINES:
        with ReservedPort() as port:
            bind = f"127.0.0.1:{port.number}"
            async with build_town(engine, folder / f"ldap-{engine}", ldap_bind=bind) as town:
                boss = await town.sign_up("boss", role="owner")
                made = await boss.call("POST", "/api/v2/providers/ldap/", json={"name": "tree", "base_dn": BASE})
                sent = {"name": "Old", "slug": "old", "provider": made.json()["pk"]}
                (await boss.call("POST", "/api/v2/core/applications/", json=sent)).raise_for_status()
                await fill_with_people(town, PEOPLE // (4 if quick else 1))
                words = ("tokens", "create", "boss", "--intent", "app_password", "--scopes", "api")
                key = (await town.kith(*words)).strip()
                found += await _measure(engine, town.pid, port.number, key, seconds=1.0 if quick else 4.0)
    return found


async def _measure(engine: Engine, pid: int, port: int, key: str, *, seconds: float) -> list[Result]:
    clients = [await _Client.open(port) for _ in range(CLIENTS)]
    binds = await _rate(clients, lambda one, _: one.bind(key), seconds)
    searches = await _rate(clients, lambda one, number: one.find(f"person{number * 37 % 5_000:06}"), seconds)
    before = memory_of(pid).pss
    started_at = time.perf_counter()
    count = await clients[0].read_all()
    took = time.perf_counter() - started_at
    more = memory_of(pid).pss - before
    for one in clients:
        one.close()
    return [
        result(f"ldap.{engine}.binds", [binds], "per s"),
        result(f"ldap.{engine}.searches", [searches], "per s"),
        result(f"ldap.{engine}.entries", [count / took], "per s"),
        result(f"ldap.{engine}.reading_all.memory", [more], "MB more", target=FLAT),
    ]


async def _rate(clients: list[_Client], ask: Callable[[_Client, int], Awaitable[None]], seconds: float) -> float:
    done = 0
    until = time.perf_counter() + seconds

    async def go_on(one: _Client) -> None:
        nonlocal done
        while time.perf_counter() < until:
            await ask(one, done)
            done += 1

    await asyncio.gather(*(go_on(one) for one in clients))
    return done / seconds


class _Client:
    """As little of a client as it takes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._id = 0
        self._cookie = b""

    @classmethod
    async def open(cls, port: int) -> _Client:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    def close(self) -> None:
        self._writer.close()

    async def bind(self, password: str) -> None:
        name = f"cn=boss,ou=users,{BASE}".encode()
        [(_, answer)] = await self._ask(
            encode(0x60, encode_integer(3) + encode(OCTETS, name) + encode(0x80, password.encode()))
        )
        if answer.integer(ENUMERATED):
            raise RuntimeError(f"not bound: {answer.rest()!r}")

    async def find(self, name: str) -> None:
        found = await self._ask(_search(encode(0xA3, encode(OCTETS, b"uid") + encode(OCTETS, name.encode()))))
        if len(found) != 2:
            raise RuntimeError(f"{name} was not found")

    async def read_all(self) -> int:
        count, cookie = 0, b""
        while True:
            value = encode(SEQUENCE, encode_integer(PAGE) + encode(OCTETS, cookie))
            control = encode(SEQUENCE, encode(OCTETS, b"1.2.840.113556.1.4.319") + encode(OCTETS, value))
            found = await self._ask(_search(encode(0x87, b"objectClass")), encode(0xA0, control))
            count += len(found) - 1
            cookie = self._cookie
            if not cookie:
                return count

    async def _ask(self, request: bytes, controls: bytes = b"") -> list[tuple[int, BerReader]]:
        self._id += 1
        self._cookie = b""
        self._writer.write(encode(SEQUENCE, encode_integer(self._id) + request + controls))
        found: list[tuple[int, BerReader]] = []
        while True:
            message = BerReader(await self._message()).inside(SEQUENCE)
            message.integer(INTEGER)
            tag = message.peek()
            found.append((tag, message.inside(None)))
            if tag != 0x64:
                if message.peek() == 0xA0:
                    control = message.inside(0xA0).inside(SEQUENCE)
                    control.octets()
                    page = BerReader(control.octets()).inside(SEQUENCE)
                    page.integer()
                    self._cookie = page.octets()
                return found

    async def _message(self) -> bytes:
        head = await self._reader.readexactly(2)
        if head[1] >= 0x80:
            head += await self._reader.readexactly(head[1] & 0x7F)
        size = head[1] if len(head) == 2 else int.from_bytes(head[2:], "big")
        return head + await self._reader.readexactly(size)


def _search(asked: bytes) -> bytes:
    limits = encode_integer(2, ENUMERATED) + encode_integer(0, ENUMERATED) + encode_integer(0) + encode_integer(0)
    wanted = encode(SEQUENCE, encode(OCTETS, b"mail") + encode(OCTETS, b"memberOf"))
    return encode(0x63, encode(OCTETS, BASE.encode()) + limits + encode(0x01, b"\0") + asked + wanted)
