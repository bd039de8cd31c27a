"""Many connections that want to stop the server, while others want to use it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.base.attackers import KINDS, POST, Attackers, ask, until
from tests.conftest import TownBuilder
from tests.social.members import Member, join
from tests.town import Town, build_town

ONE = ["127.0.0.3"]
MANY = [f"127.0.1.{number}" for number in range(1, 31)]
PER_ADDRESS, ALL = 20, 40


@pytest.fixture(scope="module")
async def small(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Town, Member]]:
    """What happens before a request is read is the same with both databases."""
    async with build_town(
        "sqlite",
        tmp_path_factory.mktemp("small"),
        rate_limits="on",
        max_connections_per_address=str(PER_ADDRESS),
        max_connections=str(ALL),
    ) as town:
        yield town, await join(town)


@pytest.fixture
def attackers(small: tuple[Town, Member]) -> Iterator[Attackers]:
    attackers = Attackers(small[0].port)
    yield attackers
    attackers.close()


async def _everybody_is_answered(town: Town, me: Member, address: str) -> None:
    alive, _ = await ask(town.port, "127.0.0.2", "/health")
    mine, answer = await ask(
        town.port, address, "/api/v1/accounts/verify_credentials", f"Authorization: Bearer {me.token}"
    )
    assert (alive, mine) == (200, 200), answer


@pytest.mark.parametrize("kind", KINDS)
async def test_one_address_takes_no_more_than_its_share(
    small: tuple[Town, Member], attackers: Attackers, kind: str
) -> None:
    (town, me), (first, then) = small, KINDS[kind]

    await attackers.connect(60, ONE, first)
    attackers.drip(then)
    await _everybody_is_answered(town, me, ONE[0])
    attackers.drip(then)
    await until(lambda: attackers.held <= PER_ADDRESS)
    await _everybody_is_answered(town, me, ONE[0])


@pytest.mark.parametrize("kind", KINDS)
async def test_many_addresses_take_no_more_than_there_is(
    small: tuple[Town, Member], attackers: Attackers, kind: str
) -> None:
    (town, me), (first, then) = small, KINDS[kind]

    await attackers.connect(60, MANY, first)
    attackers.drip(then)
    await _everybody_is_answered(town, me, MANY[0])
    await until(lambda: attackers.held <= ALL)
    await _everybody_is_answered(town, me, MANY[0])


async def test_who_must_go_is_told_why_in_the_face_they_spoke_to(
    small: tuple[Town, Member], attackers: Attackers
) -> None:
    await attackers.connect(30, ONE, POST.replace(b"/oauth/token", b"/api/v1/apps") + b"Content-Length: 9\r\n\r\n")
    await until(lambda: attackers.held <= PER_ADDRESS)

    told = [answer for answer in attackers.answers() if answer.startswith(b"HTTP/1.1 429 ")]

    assert told
    head, _, body = told[0].partition(b"\r\n\r\n")
    assert json.loads(body) == {"error": "Too many requests"}
    assert b"retry-after: 1" in head
    assert b"connection: close" in head


async def test_what_was_cut_is_counted_and_logged_now_and_then(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on", max_connections_per_address=str(PER_ADDRESS))
    attackers = Attackers(town.port)
    try:
        for _ in range(3):
            await attackers.connect(60, ONE)
        await until(lambda: attackers.held <= PER_ADDRESS)
    finally:
        attackers.close()
    await town.stop()

    lines = [line for line in town.log().splitlines() if '"connections.cut"' in line]
    assert lines
    assert len(lines) < 10
    assert json.loads(lines[0])["crowded_address"] > 0


async def test_limits_that_are_off_cut_nobody_and_hold_up_nobody(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="off", max_connections_per_address="5", max_connections="16")
    me = await join(town)
    attackers = Attackers(town.port)
    try:
        for first, _ in (KINDS["nothing"], KINDS["a slow body"], KINDS["an idle connection"]):
            await attackers.connect(60, ONE, first)
        await _everybody_is_answered(town, me, ONE[0])
        assert attackers.held == 180
    finally:
        attackers.close()


class _Proxied(Attackers):
    async def aclose(self) -> None:
        self.close()


async def test_behind_a_trusted_proxy_it_is_the_caller_who_is_counted(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on", trusted_proxies="127.0.0.9", max_connections_per_address=str(PER_ADDRESS))
    me = await join(town)
    async with aclosing(_Proxied(town.port)) as slow:
        for number in range(60):
            who = f"X-Forwarded-For: 203.0.113.{number}\r\n".encode()
            await slow.connect(1, ["127.0.0.9"], POST + who + b"Content-Length: 1000000\r\n\r\n")
        await _everybody_is_answered(town, me, "127.0.0.9")
        assert slow.held == 60
    async with aclosing(_Proxied(town.port)) as slow:
        who = b"X-Forwarded-For: 198.51.100.1\r\n"
        await slow.connect(60, ["127.0.0.9"], POST + who + b"Content-Length: 1000000\r\n\r\n")
        await until(lambda: slow.held <= PER_ADDRESS)
        await _everybody_is_answered(town, me, "127.0.0.9")
        assert any(answer.startswith(b"HTTP/1.1 429 ") for answer in slow.answers())


async def test_1200_slow_bodies_stop_nothing_and_leave_nothing_behind(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    me = await join(town)
    descriptors = Path(f"/proc/{town.pid}/fd")
    before = len(list(descriptors.iterdir()))
    attackers = Attackers(town.port)
    try:
        await attackers.connect(1200, ONE, KINDS["a slow body"][0])
        for _ in range(5):
            attackers.drip(b"a")
            await _everybody_is_answered(town, me, ONE[0])
        await until(lambda: attackers.held <= 256)
    finally:
        attackers.close()
    await until(lambda: len(list(descriptors.iterdir())) <= before + 3)
