"""Whatever everybody shares has a bound for each host or caller: one at theirs leaves room for all others.

Nothing here is measured in seconds. What is slow is held until everybody else has come to their end.
"""

from __future__ import annotations

import asyncio
import io
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from sqlalchemy import text

from kith.app import KINDS
from kith.base import asking
from kith.base.db import Query, connect, long_reads, query
from kith.base.db.sqlite import WRITERS_EACH
from kith.base.http import Outgoing, OutgoingError
from kith.base.http.client import CALLS_EACH
from kith.base.http.names import EACH, Names
from kith.base.places import Full, Places, every_pool
from kith.base.settings import load
from kith.federation.delivery.host_states import HostTally, host_after
from kith.federation.delivery.tables import DeliveryHost
from kith.federation.fetching import FetchChain, FetchFailed, RemoteClient
from kith.social.files.decoder_processes import MOVING_EACH, STILL_EACH, DecoderProcesses, copying
from kith.social.files.sniff import Sniffed
from tests.social.samples import image_file
from tests.town import Town, build_town

# Every pool there is


@pytest.fixture(scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One that is not started: its parts are what matters here, on one database."""
    async with build_town("sqlite", tmp_path_factory.mktemp("bounds"), start=False) as made:
        yield made


async def test_of_every_pool_one_owner_leaves_something_to_others(town: Town) -> None:
    async with town.house() as house:
        _ = [house.works.services[kind] for kind in list(house.works.services)]
        pools = {pool.name: pool for pool in every_pool()}

        assert {"calls", "outgoing_names", "pictures", "films", "decoders", "passwords"} <= set(pools)
        for name, pool in pools.items():
            if pool.taken or name.startswith(("tried", "counted")):  # of other tests
                continue
            assert pool.kinds, f"{name} has no bound for one owner"
            for kind in pool.kinds:
                await _one_leaves_room(pool, kind)


def _owner(kind: str, name: str) -> dict[str, Any]:
    return {kind: name}


async def _one_leaves_room(pool: Places, kind: str) -> None:
    """Except where there is one place in all, which owners have in turns."""
    async with AsyncExitStack() as held:
        with pytest.raises(Full):
            while True:
                place = await pool.enter(seconds=0, **_owner(kind, "greedy"))
                held.callback(place.give_back)
        if not pool.is_single:
            (await pool.enter(seconds=0, **_owner(kind, "modest"))).give_back()


# Names


class _System:
    """The system's resolver: names that are dead wait until the test ends."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._ends = threading.Event()

    def answer(self, host: str, port: Any, *_: Any, **__: Any) -> list[Any]:
        self.asked.append(host)
        if "dead" in host:
            self._ends.wait()
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port or 0))]

    def end(self) -> None:
        self._ends.set()

    async def until_asked(self, count: int) -> None:
        while len(self.asked) < count:
            await asyncio.sleep(0.005)


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> Iterator[_System]:
    made = _System()
    monkeypatch.setattr(socket, "getaddrinfo", made.answer)
    yield made
    made.end()


class _Somebody:
    def __init__(self, address: str, user_id: int | None = None) -> None:
        self.address, self.user_id = address, user_id
        self.is_entering = self.is_of_known = False

    async def look_again(self) -> None:
        """Whoever it is, they may still do what they ask."""


async def _as(who: _Somebody | None, names: Names, host: str) -> list[str]:
    if who is not None:
        asking.answer_for(who)
    return await names.resolve(host)


HELD: dict[str, tuple[list[tuple[_Somebody | None, str]], tuple[_Somebody | None, str], int]] = {
    "one domain": ([(None, f"a{n}.dead.example") for n in range(20)], (None, "alive.example"), EACH["host"]),
    "one stranger": (
        [(_Somebody("203.0.113.7"), f"dead{n}.example") for n in range(20)],
        (_Somebody("203.0.113.8"), "alive.example"),
        EACH["caller"],
    ),
    "one network of a stranger": (
        [(_Somebody(f"2001:db9::{n:x}"), f"dead{n}.example") for n in range(20)],
        (_Somebody("2001:dba::1"), "alive.example"),
        EACH["caller"],
    ),
    "all strangers": (
        [(_Somebody(f"203.0.113.{n}"), f"dead{n}.example") for n in range(40)],
        (_Somebody("203.0.113.1", user_id=7), "alive.example"),
        16,
    ),
    "all strangers, beside our own work": (
        [(_Somebody(f"203.0.113.{n}"), f"dead{n}.example") for n in range(40)],
        (None, "alive.example"),
        16,
    ),
}


@pytest.mark.parametrize("hostile", HELD)
async def test_dead_names_hold_up_nobody_else(system: _System, hostile: str) -> None:
    dead, (innocent, alive), bound = HELD[hostile]
    names = Names(most_at_once=32, seconds=60)
    held = [asyncio.create_task(_as(who, names, host)) for who, host in dead]
    await system.until_asked(bound)

    found = await asyncio.create_task(_as(innocent, names, alive))

    assert found == ["127.0.0.1"]
    assert len(system.asked) == bound + 1
    assert not any(one.done() for one in held)
    for one in held:
        one.cancel()
    await asyncio.gather(*held, return_exceptions=True)


async def test_who_asks_the_same_waits_for_one_answer(system: _System) -> None:
    names = Names(seconds=60)
    held = [asyncio.create_task(names.resolve("same.dead.example")) for _ in range(50)]
    await system.until_asked(1)
    await asyncio.sleep(0)
    system.end()

    assert await asyncio.gather(*held) == [[]] * 50
    assert system.asked == ["same.dead.example"]


async def test_that_all_places_are_taken_is_said_as_such(system: _System, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls and deliveries to a domain whose other names are dead: we were too busy to ask, which is not its fault."""
    monkeypatch.setattr("kith.base.http.client.LOOK_UP_SECONDS", 0.1)
    outgoing = Outgoing("kith-test", ["127.0.0.1"])
    held = [asyncio.create_task(outgoing.request("GET", f"http://a{n}.dead.example/")) for n in range(EACH["host"])]
    await system.until_asked(EACH["host"])

    with pytest.raises(OutgoingError) as called:
        await outgoing.request("GET", "http://b.dead.example/")
    with pytest.raises(OutgoingError) as written:
        await outgoing.post("http://c.dead.example/inbox", {"host": "c.dead.example"}, b"")

    assert (called.value.reason, written.value.reason) == ("busy", "busy")
    assert host_after(DeliveryHost("c.dead.example"), HostTally(is_unasked=True), datetime.now(UTC)).failures == 0
    await asyncio.gather(*held, return_exceptions=True)
    await outgoing.close()


async def test_a_host_for_which_there_was_no_place_is_not_failing() -> None:
    outgoing = Outgoing("kith-test", ["127.0.0.1"])
    client = RemoteClient(outgoing, ["127.0.0.1"])
    async with _hanging() as (slow, _):
        held = [asyncio.create_task(_call(outgoing, f"{slow}/{n}", None, "")) for n in range(CALLS_EACH["host"])]
        await asyncio.sleep(0.1)

        with pytest.raises(FetchFailed) as caught:
            await client.get(f"{slow}/quick", accept="*/*", chain=FetchChain())
        for one in held:
            one.cancel()
        await asyncio.gather(*held, return_exceptions=True)

        assert (caught.value.reason, caught.value.may_pass) == ("busy", True)
        assert (await client.get(f"{slow}/quick", accept="*/*", chain=FetchChain())).status == 200
    await outgoing.close()


# Calls


@asynccontextmanager
async def _hanging() -> AsyncIterator[tuple[str, str]]:
    """The addresses of a server that begins to answer and one that answers."""
    ends = asyncio.Event()

    async def hang(request: web.Request) -> web.StreamResponse:
        if request.path != "/quick":
            await ends.wait()
        return web.Response()

    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text="here")

    slow, quick = web.Application(), web.Application()
    slow.router.add_get("/{path:.*}", hang)
    quick.router.add_get("/{path:.*}", answer)
    async with TestServer(slow) as one, TestServer(quick) as other:
        yield f"http://127.0.0.1:{one.port}", f"http://127.0.0.1:{other.port}"
        ends.set()


async def _call(outgoing: Outgoing, url: str, who: _Somebody | None, job: str) -> bytes:
    if who is not None:
        asking.answer_for(who)
    with _in_job(job):
        return (await outgoing.request("GET", url, timeout=120)).body


@contextmanager
def _in_job(kind: str) -> Iterator[None]:
    if not kind:
        yield
        return
    with asking.run_job(kind, ""):
        yield


@pytest.mark.parametrize(
    ("hostile", "bound"),
    [((None, ""), "host"), ((None, "fetch"), "job"), ((_Somebody("203.0.113.7"), ""), "host")],
    ids=["one host", "one host in one kind of job", "one host for a stranger"],
)
async def test_a_host_that_does_not_answer_holds_up_no_calls_to_others(
    hostile: tuple[_Somebody | None, str], bound: str
) -> None:
    who, job = hostile
    outgoing = Outgoing("kith-test", ["127.0.0.1"])
    async with _hanging() as (slow, quick):
        held = [asyncio.create_task(_call(outgoing, f"{slow}/{n}", who, job)) for n in range(CALLS_EACH[bound] + 4)]
        await asyncio.sleep(0.1)

        others = [await asyncio.create_task(_call(outgoing, quick, who, job)) for _ in range(4)]

        assert others == [b"here"] * 4
        refused = [one.exception() for one in held if one.done()]
        assert [type(one) for one in refused] == ([Full] * 4 if job else [])  # a job is done later, the others wait
        for one in held:
            one.cancel()
        await asyncio.gather(*held, return_exceptions=True)
    await outgoing.close()


async def test_a_body_that_drips_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what was to take two minutes, a fraction is waited: the host ended nothing, we did."""
    monkeypatch.setattr("kith.base.http.client.SLOW_SECONDS", 0.2)
    ended = asyncio.Event()

    async def drip(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Length": "100000"})
        await answer.prepare(request)
        while not ended.is_set():
            await answer.write(b"x")
            await asyncio.sleep(0.01)
        return answer

    app = web.Application()
    app.router.add_get("/", drip)
    outgoing = Outgoing("kith-test", ["127.0.0.1"])
    async with TestServer(app) as server:
        with pytest.raises(OutgoingError) as caught:
            await outgoing.request("GET", f"http://127.0.0.1:{server.port}/", timeout=120)
        ended.set()
    await outgoing.close()
    assert caught.value.reason == "timeout"


# Decoders


@pytest.mark.parametrize(("moving", "bound"), [(False, STILL_EACH), (True, MOVING_EACH)], ids=["pictures", "films"])
async def test_files_of_one_host_leave_a_decoder_to_others(tmp_path: Path, moving: bool, bound: int) -> None:
    processes = DecoderProcesses(tmp_path)
    picture, kind = image_file("GIF" if moving else "PNG"), "image/gif" if moving else "image/png"

    def make() -> Any:
        return processes.make("attachment", Sniffed(kind, "image"), copying(io.BytesIO(picture)), moving=moving)

    async with AsyncExitStack() as held:
        with asking.about("slow.example"):
            for _ in range(bound):
                await held.enter_async_context(make())
            waiting = asyncio.create_task(make().__aenter__())
            await asyncio.sleep(0)
        with asking.about("other.example"):
            async with make() as made:
                assert made.outcome.kind in ("image", "gifv")
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


# The database


_COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT max(i) FROM n"
_long = query(text(_COUNT.format(400_000)).columns(), int)
_short = query(text(_COUNT.format(10)).columns(), int)


async def test_slow_reads_of_one_caller_hold_up_neither_others_nor_who_writes(town: Town) -> None:
    """On SQLite, where they have threads; on PostgreSQL each has a connection of its own for a moment."""
    database = await connect(load(town.environment), connections=2)

    async def read(who: _Somebody) -> list[int]:
        asking.answer_for(who)
        return await database.session().slow(_long)

    held = [asyncio.create_task(read(_Somebody("203.0.113.7", user_id=1))) for _ in range(6)]
    await asyncio.sleep(0)
    writer = database.session()
    await writer.begin()
    assert await writer.slow(_short) == [10]
    await writer.rollback()
    assert await asyncio.create_task(database.session().slow(_short)) == [10]
    assert not all(one.done() for one in held)
    for one in held:
        one.cancel()
    await asyncio.gather(*held, return_exceptions=True)
    await database.close()


async def test_a_read_that_turns_out_to_be_long_is_made_beside_the_loop(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How far there is to walk is decided by what others have written. On SQLite, which is read in the loop."""
    monkeypatch.setattr(long_reads, "SECONDS", 0.001)
    database = await connect(load(town.environment), connections=2)

    async def turns_while(asked: Query[int], count: int) -> int:
        turns, reading = 0, asyncio.create_task(database.session().all(asked))
        while not reading.done():
            turns += 1
            await asyncio.sleep(0)
        assert reading.result() == [count]
        return turns

    assert await turns_while(_short, 10) < 5
    assert await turns_while(_long, 400_000) > 20
    assert await turns_while(_long, 400_000) > 20  # at once, without a try
    assert await turns_while(_short, 10) < 5
    writer = database.session()
    await writer.begin()
    assert await writer.all(_long) == [400_000]
    await writer.rollback()
    await database.close()


def test_what_was_long_once_is_tried_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    known = long_reads.LongReads()
    known.remember("SELECT 1")
    assert (known.is_known("SELECT 1"), known.is_known("SELECT 2")) == (True, False)
    monkeypatch.setattr(long_reads, "REMEMBERED", -1.0)
    known.remember("SELECT 1")
    assert not known.is_known("SELECT 1")


async def test_writers_of_one_caller_stand_behind_the_line_and_others_in_it(town: Town) -> None:
    """On SQLite, where one writes at a time."""
    database = await connect(load(town.environment), connections=2)
    order: list[str] = []

    async def write(who: _Somebody) -> None:
        asking.answer_for(who)
        session = database.session()
        await session.begin()
        order.append(who.address)
        await session.rollback()

    holder = database.session()
    await holder.begin()
    flood = [asyncio.create_task(write(_Somebody("203.0.113.7", user_id=1))) for _ in range(100)]
    await asyncio.sleep(0)
    other = asyncio.create_task(write(_Somebody("203.0.113.8", user_id=2)))
    await asyncio.sleep(0)
    await holder.rollback()
    await asyncio.gather(*flood, other)
    await database.close()

    assert order.index("203.0.113.8") == WRITERS_EACH


# Jobs

# Kinds that ask nobody outside, or only hosts that the operator has named, or have bounds of their own.
_OWN = {
    "archives.make", "archives.sweep", "accounts.forget_files", "backups.run", "blueprints.apply", "blueprints.discover",
    "events.match", "identity.oauth_recheck", "identity.saml_recheck", "levels.note", "federation_delivery.overdue", "federation_delivery.send_to_troubled", "federation_keys.make",
    "federation_people.look_for_stale", "federation_posts.link_answers", "identity.ldap_sync", "identity.oauth_keys", "identity.stage_mail",
    "mail.send", "media.forget", "media.keep_budget", "media.sweep", "push.deliver", "timelines.bring_home",
    "timelines.bring_to_list", "timelines.build", "timelines.fill_list", "trends.refresh",
    "trends.request_review",
}  # fmt: skip


def test_every_kind_of_job_that_asks_hosts_of_others_makes_room() -> None:
    fixed = {kind.name for kind in KINDS if kind.outside and kind.long_after is None}
    assert fixed - _OWN == set()
    assert _OWN - {kind.name for kind in KINDS} == set()
