"""The gateway in front of servers of other makes: hostile messages on their way in, hostile answers on their way out."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.hostile_http.answers import ANSWERS, Answer
from tests.hostile_http.attacking import Attack
from tests.hostile_http.messages import MESSAGES
from tests.hostile_http.mutations import mutations
from tests.hostile_http.upstreams import UPSTREAMS
from tests.identity.gateway.conftest import GateTowns
from tests.identity.gateway.gateways import Gateway, Visitor, make_gateway, visitor_of
from tests.identity.records import owner_of
from tests.search_size import is_whole_search
from tests.town import Person, Town
from tests.town.ports import ReservedPort

SEED = 20_260_725


def _messages() -> list[bytes]:
    if is_whole_search():
        return [*(one.sent for one in MESSAGES), *mutations(20_000, SEED)]
    chance = random.Random(SEED)
    some = [one.sent for one in chance.sample(MESSAGES, 120) if len(one.sent) < 2000]
    return [*some, *mutations(200, SEED)]


async def _enter(town: Town, gateway: Gateway) -> tuple[Person, bytes]:
    """Somebody who has signed in there, and the lines by which they are known."""
    person, visitor = await visitor_of(town)
    await visitor.follow(gateway.at("/"))
    return person, _lines(visitor, gateway)


def _lines(visitor: Visitor, gateway: Gateway) -> bytes:
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.held(gateway.host).items())
    assert cookie
    return f"Host: {gateway.host}\r\nCookie: {cookie}\r\n".encode()


@pytest.mark.parametrize("name", UPSTREAMS)
async def test_the_gateway_and_the_application_agree_on_what_was_asked(
    gate_towns: GateTowns, name: str, tmp_path: Path
) -> None:
    town = await gate_towns.get("sqlite")
    async with UPSTREAMS[name](tmp_path) as (port, log):
        gateway = await make_gateway(town, await owner_of(town), internal_host=f"http://127.0.0.1:{port}")
        attacker, theirs = await _enter(town, gateway)
        visitor, ours = await _enter(town, gateway)
        await _until_written(log, attacker.username, visitor.username)
        log.write_text("")
        attack = Attack(town.port, attacker=theirs, visitor=ours)
        await attack.run(_messages())
        asked = log.read_bytes().decode("latin-1").splitlines()

    print(f"{name}: {attack.sent} messages, {len(asked)} requests reached the application")
    assert attack.misled == []
    assert _odd(asked, attacker.username, visitor.username) == []


async def _until_written(log: Path, *names: str) -> None:
    """A server writes its line of a request after its answer."""
    async with asyncio.timeout(20):
        while not all(f" 1:{name}" in log.read_text() for name in names):
            await asyncio.sleep(0.02)


def _odd(asked: list[str], attacker: str, visitor: str) -> list[str]:
    """Requests of nobody, of two people, or of the visitor who asked for nothing but their own pages, once each."""
    times = Counter(asked)
    return [
        one
        for one in asked
        if not one.endswith(f" 1:{attacker}")
        and not (re.fullmatch(rf"GET /visitor-\d+ 1:{visitor}", one) and times[one] == 1)
    ]


# Answers


class _HostileApplication:
    """Gives each answer of the table at its own path, and right ones everywhere else, over connections that last."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.is_sent = asyncio.Event()

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                method, path, *_ = head.split(" ")
                answer = self.answers.get(path)
                if answer is None:
                    body = f"{method} {path} ".encode()
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
                    writer.write(b"" if method == "HEAD" else body)
                    continue
                for piece in answer.pieces:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0.01)
                self.is_sent.set()
                if answer.ends:
                    break
        writer.close()


@asynccontextmanager
async def _application() -> AsyncIterator[tuple[_HostileApplication, int]]:
    application = _HostileApplication()
    with ReservedPort() as port:
        server = await asyncio.start_server(application.meet, "127.0.0.1", port.number)
        try:
            yield application, port.number
        finally:
            server.close()


async def _ask(town: Town, method: str, path: str, lines: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", town.port)
    try:
        writer.write(f"{method} {path} HTTP/1.1\r\n".encode() + lines + b"Connection: close\r\n\r\n")
        told = b""
        async with asyncio.timeout(20):
            with contextlib.suppress(ConnectionError):  # how half an answer ends
                while piece := await reader.read(65536):
                    told += piece
        return told
    finally:
        writer.close()


async def test_no_answer_is_read_as_two_and_none_as_anothers(gate_towns: GateTowns) -> None:
    """After each hostile answer three visitors ask at once: one of them gets the connection, if it was kept."""
    town = await gate_towns.get("sqlite")
    async with _application() as (application, port):
        gateway = await make_gateway(town, await owner_of(town), internal_host=f"http://127.0.0.1:{port}")
        _, lines = await _enter(town, gateway)
        wrong: dict[str, bytes] = {}
        for number, (name, answer) in enumerate(ANSWERS.items()):
            application.answers[f"/hostile-{number}"] = answer
            told = await _ask(town, answer.method, f"/hostile-{number}", lines)
            if not answer.fits(told):
                wrong[name] = told
            await asyncio.wait_for(application.is_sent.wait(), 20)
            application.is_sent.clear()
            paths = [f"/visitor-{number}-{one}" for one in range(3)]
            for path, read in zip(paths, await asyncio.gather(*(_ask(town, "GET", path, lines) for path in paths)), strict=True):  # fmt: skip
                if not read.endswith(f"\r\n\r\nGET {path} ".encode()) or read.count(b"HTTP/1.1 ") != 1:
                    wrong[f"a visitor after: {name}"] = read

    assert wrong == {}
