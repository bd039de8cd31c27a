"""HTTP/1.1 and WebSockets as they are spoken on the wire, and clients that are too slow for them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gc
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.frames import Frame, Opcode
from websockets.typing import Subprotocol

from kith.base.errors import Problem
from kith.base.reading_turns import IN_A_ROUND, ReadingTurns
from kith.base.server import ConnectionLimits, HttpServer, listen
from kith.base.server.call import Call
from kith.base.server.connections import UNREAD_SECONDS
from kith.base.server.frame_heads import FrameHeads
from kith.base.server.proxies import Proxies, plain
from kith.base.server.turns import CREDENTIALS, KNOWN, OF_ONE_ADDRESS, STRANGER, Turns
from kith.base.server.websocket import MOST_HELD
from tests.base.attackers import Attackers, until

App = Callable[[Any, Any, Any], Awaitable[None]]
QUICK = ConnectionLimits(
    head_seconds=0.2,
    body_seconds=0.6,
    grace_seconds=0.2,
    silence_seconds=0.4,
    idle_seconds=0.3,
    known_idle_seconds=0.3,
    max_body=1 << 30,
)
HOST = b"Host: x\r\n"


async def _answer(send: Any, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": body})


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """What was asked, said again."""
    try:
        if "refusal" in scope:
            raise scope["refusal"]
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
    except Problem as problem:
        await _answer(send, problem.status, problem.message.encode())
        return
    told = f"{scope['method']} {scope['path']} {scope['query_string'].decode()} ".encode()
    await _answer(send, 200, told + body)


async def endless(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})


@asynccontextmanager
async def serving(app: App, limits: ConnectionLimits = ConnectionLimits(per_address=0)) -> AsyncIterator[HttpServer]:  # noqa: B008
    server = HttpServer(app, listen("127.0.0.1", 0, shared=False), limits)
    await server.start()
    try:
        yield server
    finally:
        await server.stop(1)


async def talk(server: HttpServer, *words: bytes, end: bool = True) -> bytes:
    """Everything that is answered until the connection ends."""
    reader, writer = await asyncio.open_connection(*server.address)
    for word in words:
        writer.write(word)
        await writer.drain()
    if end:
        writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer


def statuses(answer: bytes) -> list[int]:
    return [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]]


@pytest.mark.parametrize(
    ("sent", "bodies"),
    [
        (b"GET /a?b=%20c HTTP/1.1\r\n" + HOST + b"\r\n", [b"GET /a b=%20c "]),
        (b"GET /%C3%A4%2f%2F%ff HTTP/1.1\r\n" + HOST + b"\r\n", ["GET /ä//\ufffd  ".encode()]),
        (b"GET http://x/a HTTP/1.1\r\n" + HOST + b"\r\n", [b"GET /a  "]),
        (b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", [b"OPTIONS *  "]),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nhello", [b"POST /  hello"]),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nA: b\r\n\r\n", [b"POST /  hello"]),
        ((b"GET /1 HTTP/1.1\r\n" + HOST + b"\r\n") * 40, [b"GET /1  "] * 40),
        (
            b"POST /1 HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\n\r\nhi" + b"GET /2 HTTP/1.1\r\n" + HOST + b"\r\n",
            [b"POST /1  hi", b"GET /2  "],
        ),
        (b"\r\n\r\nGET /1 HTTP/1.1\r\n" + HOST + b"\r\n", [b"GET /1  "]),
        (b"GET /1 HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n" + b"GET /2 HTTP/1.1\r\n" + HOST + b"\r\n", [b"GET /1  "]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 7, 100_000])
async def test_requests_are_read_in_whatever_pieces_they_come(sent: bytes, bodies: list[bytes], size: int) -> None:
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    async with serving(echo) as server:
        answer = await talk(server, *pieces)

    assert statuses(answer) == [200] * len(bodies)
    assert [part.partition(b"\r\n\r\n")[2] for part in answer.split(b"HTTP/1.1 200 OK")[1:]] == bodies


async def test_whoever_sends_on_after_a_wish_for_another_protocol_reads_the_answer() -> None:
    request = b"GET / HTTP/1.1\r\n" + HOST
    async with serving(echo) as server:
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(request + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
        await asyncio.sleep(0.1)  # it is answered, and nothing was read yet
        for _ in range(2):  # the first would end a closed connection, the second would notice
            writer.write(request + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0.05)
        answer = await reader.read()
        writer.close()

    assert statuses(answer) == [200]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"\0\xff\xfe\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: -5\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nA: " + b"b" * 200_000, 400),
        (b"Mxyz /nothing-here HTTP/1.1\r\n" + HOST + b"\r\n", 501),
        (b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414),
        (b"GET / HTTP/1.1\r\n" + HOST + b"A: " + b"a" * 70_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + HOST + b"A: " + b"a" * 70_000, 431),
        (b"GET / HTTP/1.1\r\n" + HOST + b"A: b\r\n" * 300 + b"\r\n", 431),
    ],
)
async def test_what_cannot_be_read_is_refused_and_ends_the_connection(sent: bytes, status: int) -> None:
    async with serving(echo) as server:
        answer = await talk(server, sent, end=False)

    assert statuses(answer) == [status]
    assert b"connection: close" in answer


@given(st.lists(st.binary(max_size=300), max_size=5))
async def test_no_bytes_whatever_break_it(pieces: list[bytes]) -> None:
    async with serving(echo) as server:
        with contextlib.suppress(ConnectionError):  # what comes after a refusal may end the connection first
            await talk(server, *pieces, b"\r\n\r\n")
        answer = await talk(server, b"GET /still HTTP/1.1\r\n" + HOST + b"\r\n")
    assert b"GET /still" in answer


async def test_head_has_the_length_and_no_body() -> None:
    async def known(_scope: Any, _receive: Any, send: Any) -> None:
        await _answer(send, 200, b"hello", (b"Content-Length", b"5"))

    async with serving(known) as server:
        answer = await talk(server, b"HEAD /abc HTTP/1.1\r\n" + HOST + b"\r\n")
    assert b"content-length: 5\r\n" in answer
    assert answer.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("version", "asked", "stays"),
    [
        ("1.1", "", True),
        ("1.1", "Connection: close\r\n", False),
        ("1.0", "", False),
        ("1.0", "Connection: keep-alive\r\n", True),
    ],
)
async def test_a_connection_is_kept_as_was_asked(version: str, asked: str, stays: bool) -> None:
    async with serving(echo) as server:
        reader, writer = await asyncio.open_connection(*server.address)
        request = f"GET / HTTP/{version}\r\nHost: x\r\n{asked}\r\n".encode()
        writer.write(request)
        first = await reader.readuntil(b"GET /  ")
        writer.write(request)
        second = await reader.read(10)
        writer.close()
    assert (b"connection: close" in first) is not stays
    assert second.startswith(b"HTTP/1.1") is stays


async def test_an_answer_without_a_length_comes_in_chunks_or_until_the_end() -> None:
    async def parts(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for part in (b"ab", b"", b"c"):
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body"})

    async with serving(parts) as server:
        new = await talk(server, b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
        old = await talk(server, b"GET / HTTP/1.0\r\n\r\n")
    assert b"transfer-encoding: chunked" in new
    assert new.endswith(b"\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
    assert old.endswith(b"\r\n\r\nabc")


async def test_a_header_that_holds_a_line_of_its_own_never_leaves() -> None:
    async def splitting(_scope: Any, _receive: Any, send: Any) -> None:
        await _answer(send, 200, b"", (b"location", b"/\r\nset-cookie: a=b"))

    async with serving(splitting) as server:
        answer = await talk(server, b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
    assert statuses(answer) == [500]
    assert b"set-cookie" not in answer


async def test_a_body_that_waits_for_a_word_gets_it_when_it_is_wanted() -> None:
    async with serving(echo) as server:
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"hi")
        assert (await reader.readuntil(b"hi")).startswith(b"HTTP/1.1 200")
        writer.close()


async def test_a_large_body_arrives_whole_although_it_is_taken_slowly() -> None:
    body = bytes(range(256)) * 8192
    async with serving(echo) as server:
        answer = await talk(server, b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body), body)
    assert answer.endswith(body)


SLOW = {
    "nothing": (b"", b"", 0),
    "half a head": (b"GET / HTTP/1.1\r\nX: ", b"a", 408),
    "a trickling body": (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 9999\r\n\r\n", b"a", 408),
    "trickling chunks": (b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n", 408),
    "a stopped upload": (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 9999999\r\n\r\n" + b"a" * 99_999, b"", 408),
    "idleness": (b"GET / HTTP/1.1\r\n" + HOST + b"\r\n", b"", 200),
}


@pytest.mark.parametrize("rate", [0, 1024])
@pytest.mark.parametrize("kind", SLOW)
async def test_who_keeps_the_server_waiting_is_parted_from(kind: str, rate: int) -> None:
    first, then, status = SLOW[kind]
    limits = ConnectionLimits(**{name: getattr(QUICK, name) for name in QUICK.__struct_fields__} | {"least_rate": rate})
    async with serving(echo, limits) as server:
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(first)
        reading = asyncio.create_task(reader.read())
        while not reading.done():
            writer.write(then)
            await asyncio.wait({reading}, timeout=0.05)
        answer = reading.result()
        writer.close()
    assert statuses(answer) == ([status] if status else [])


async def test_who_does_not_read_is_cut_off_and_what_they_left_is_thrown_away() -> None:
    async with serving(endless, QUICK) as server:
        lazy = Attackers(server.address[1])
        await lazy.connect(10, ["127.0.0.1"], b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
        await until(lambda: lazy.held == 0)
        await until(lambda: not server.open)
        lazy.close()


async def test_answers_that_nobody_reads_are_no_more_than_fits() -> None:
    """Whoever leaves most unread goes first, and nothing keeps their answer; whoever reads is answered."""
    answer, short = bytes(8 << 20), bytes(1 << 20)

    async def large(scope: Any, _receive: Any, send: Any) -> None:
        await _answer(send, 200, answer if scope["path"] == "/large" else short)

    async with serving(large, ConnectionLimits(per_address=0, unread_bytes=40 << 20)) as server:
        greedy, modest = Attackers(server.address[1]), Attackers(server.address[1])
        await modest.connect(4, ["127.0.0.2"], b"GET /small HTTP/1.1\r\n" + HOST + b"\r\n")
        await greedy.connect(30, ["127.0.0.1"], b"GET /large HTTP/1.1\r\n" + HOST + b"\r\n")
        await until(lambda: greedy.held <= 5)
        assert sum(one.unsent() for one in server.open) <= 40 << 20
        assert modest.held == 4
        assert sys.getrefcount(answer) < 20
        begun = server.register.now
        await until(lambda: server.register.now > begun + UNREAD_SECONDS)
        read = await talk(server, b"GET /large HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n", end=False)
        greedy.close()
        modest.close()
    assert statuses(read) == [200]


async def test_a_word_to_stop_lets_what_is_under_way_be_answered() -> None:
    entered, go = asyncio.Event(), asyncio.Event()

    async def slowly(_scope: Any, _receive: Any, send: Any) -> None:
        entered.set()
        await go.wait()
        await _answer(send, 200, b"done")

    async with serving(slowly) as server:
        talking = asyncio.create_task(talk(server, b"GET / HTTP/1.1\r\n" + HOST + b"\r\n", end=False))
        idle = await asyncio.open_connection(*server.address)
        await entered.wait()
        stopping = asyncio.create_task(server.stop(30))
        assert await idle[0].read() == b""
        idle[1].close()
        go.set()
        await stopping
        answer = await talking
    assert statuses(answer) == [200]
    assert b"connection: close" in answer


async def test_a_websocket_is_opened_spoken_through_and_closed() -> None:
    async def repeat(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept", "subprotocol": scope["subprotocols"][0]})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": f"{scope['path']} {message.get('text')}"})

    async with (
        serving(repeat) as server,
        connect(
            f"ws://127.0.0.1:{server.address[1]}/streaming", subprotocols=[Subprotocol("kith")], compression=None
        ) as client,
    ):
        assert client.subprotocol == "kith"
        for word in ("a", "ä" * 100_000):
            await client.send(word)
            assert await client.recv() == f"/streaming {word}"


async def test_a_websocket_that_is_not_wanted_is_refused() -> None:
    async def refuse(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.close"})

    key = base64.b64encode(bytes(16))
    sent = b"GET / HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    async with serving(refuse) as server:
        answer = await talk(server, sent + b"Sec-WebSocket-Key: " + key + b"\r\n\r\n", end=False)
    assert statuses(answer) == [403]


@pytest.mark.parametrize(
    ("peer", "forwarded", "caller"),
    [
        ("10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.7, 10.0.0.2"], "198.51.100.7"),
        ("10.0.0.1", ["made up", "203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["a" * 60_000], "10.0.0.1"),
        ("10.0.0.1", ["::ffff:203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["2001:DB8::1"], "2001:db8::1"),
        ("10.0.0.1", ["10.0.0.2, 10.0.0.3"], "10.0.0.2"),
    ],
)
def test_the_caller_is_the_nearest_address_that_is_not_a_proxys(peer: str, forwarded: list[str], caller: str) -> None:
    headers = [(b"x-forwarded-for", line.encode()) for line in forwarded]
    assert Proxies(("10.0.0.0/8",)).caller(peer, headers) == caller


@pytest.mark.parametrize(
    ("address", "same"),
    [("::ffff:1.2.3.4", "1.2.3.4"), ("1.2.3.4", "1.2.3.4"), ("::1", "::1"), ("fe80::1%eth0", "fe80::1"), ("", "")],
)
def test_an_address_is_written_in_one_way(address: str, same: str) -> None:
    assert plain(address) == same


async def test_known_people_come_first_and_addresses_take_turns() -> None:
    turns, begun = Turns(asyncio.get_running_loop()), list[str]()
    while turns.is_free(f"somebody {len(begun)}"):
        begun.append("at once")
    begun.clear()
    for number in range(100):
        turns.wait(STRANGER, "flood", lambda number=number: begun.append(f"flood {number}"))  # type: ignore[misc]
    turns.wait(STRANGER, "else", lambda: begun.append("else"))
    turns.wait(CREDENTIALS, "flood", lambda: begun.append("credentials"))
    turns.wait(KNOWN, "flood", lambda: begun.append("known"))
    for _ in range(40):
        await asyncio.sleep(0)

    assert begun[:5] == ["known", "credentials", "flood 0", "else", "flood 1"]
    assert len(begun) == 103
    assert turns.is_free("somebody")


async def test_whoever_comes_while_one_floods_waits_for_few_of_theirs() -> None:
    turns, begun = Turns(asyncio.get_running_loop()), list[str]()
    while turns.is_free("flood"):
        begun.append("flood")
    for _ in range(100):
        turns.wait(KNOWN, "flood", lambda: begun.append("flood"))
    for rounds in range(1, 6):
        assert turns.is_free(f"somebody {rounds}")
        assert len(begun) == OF_ONE_ADDRESS * rounds
        await asyncio.sleep(0)


async def test_an_answered_request_is_gone_without_a_search_for_garbage() -> None:
    """Where every request leaves something that holds itself, all others wait several times a second until it is found."""
    gc.collect()
    gc.disable()
    try:
        async with serving(echo) as server:
            answer = await talk(server, (b"GET /1 HTTP/1.1\r\n" + HOST + b"\r\n") * 5)
        left = [one for one in gc.get_objects() if isinstance(one, Call)]
    finally:
        gc.enable()
    assert len(statuses(answer)) == 5
    assert left == []


# Costly bytes


def _sent_meanwhile(server: HttpServer, sent: bytes) -> socket.socket:
    """A connection on which as much of `sent` waits as the system takes; nothing of it is read before the loop runs."""
    client = socket.create_connection(server.address[:2])
    client.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while sent:
            sent = sent[client.send(sent) :]
    return client


async def test_who_sends_much_that_is_costly_to_read_leaves_others_their_turn() -> None:
    head = b"POST /flood HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
    read, at_others = 0, list[int]()

    async def count(scope: Any, receive: Any, send: Any) -> None:
        nonlocal read
        if scope["path"] == "/other":
            at_others.append(read)
        while scope["path"] == "/flood" and (message := await receive())["type"] == "http.request":
            read += len(message["body"])
        await _answer(send, 200, b"")

    async with serving(count) as server:
        floods = [_sent_meanwhile(server, head + b"8\r\nsmall in\r\n" * 80_000) for _ in range(4)]
        other = _sent_meanwhile(server, b"GET /other HTTP/1.1\r\n" + HOST + b"\r\n")
        await until(lambda: bool(at_others))
        for client in (*floods, other):
            client.close()

    assert at_others[0] <= 2 * IN_A_ROUND  # a round may begin before the loop comes to who was not there yet


async def test_what_waits_to_be_read_takes_turns_by_address_and_a_round_has_an_end() -> None:
    turns, read = ReadingTurns(asyncio.get_running_loop()), list[str]()

    def reader(who: str, times: int) -> Callable[[], int]:
        def go_on() -> int:
            read.append(who)
            if times > 1:
                turns.wait(who, reader(who, times - 1))
            return IN_A_ROUND // 2

        return go_on

    for _ in range(3):
        turns.wait("flood", reader("flood", 5))
    turns.wait("other", reader("other", 1))
    assert not turns.may_read(1)
    await asyncio.sleep(0)

    assert read == ["flood", "other"]
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(read) == 16
    assert turns.may_read(IN_A_ROUND)
    assert not turns.may_read(1)


@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 125, 126, 300, 70_000]), st.booleans()), max_size=6), st.integers(1, 200)
)
def test_frames_are_counted_in_whatever_pieces_they_come(frames: list[tuple[int, bool]], size: int) -> None:
    sent = b"".join(Frame(Opcode.BINARY, b"a" * length).serialize(mask=mask) for length, mask in frames)
    heads, ends, gone = FrameHeads(), list[int](), 0
    for start in range(0, len(sent), size):
        piece, at = sent[start : start + size], 0
        while at < len(piece):
            at = heads.end_of_frame(piece, at)
        gone += at
        ends.append(heads.count)

    assert gone == len(sent)
    assert heads.count == len(frames)


async def _listen(_scope: Any, receive: Any, send: Any) -> None:
    """Takes whatever comes."""
    await receive()
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


async def _deaf(_scope: Any, receive: Any, send: Any) -> None:
    """Takes nothing, and goes on for ever."""
    await receive()
    await send({"type": "websocket.accept"})
    await asyncio.Event().wait()


async def _open_socket(server: HttpServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(*server.address)
    key = base64.b64encode(bytes(16))
    words = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    writer.write(b"GET / HTTP/1.1\r\n" + HOST + words + b"Sec-WebSocket-Key: " + key + b"\r\n\r\n")
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
    return reader, writer


def _frame(first: int, data: bytes = b"") -> bytes:
    return bytes((first, 0x80 | len(data))) + bytes(4) + data


FLOODS = {
    "pings": _frame(0x89) * 100_000,
    "pings with words": _frame(0x89, b"a" * 100) * 20_000,
    "pongs": _frame(0x8A) * 100_000,
    "messages": _frame(0x81) * 100_000,
    "pieces of nothing": _frame(0x01) + _frame(0x00) * 100_000,
    "too many pieces of a message": _frame(0x01) + _frame(0x00, b"a") * 70,
}


@pytest.mark.parametrize("kind", FLOODS)
async def test_a_socket_with_more_frames_than_anybody_needs_is_ended(kind: str) -> None:
    async with serving(_listen) as server:
        reader, writer = await _open_socket(server)
        writer.write(FLOODS[kind])
        answer = b""
        with contextlib.suppress(ConnectionError):
            answer = await reader.read()
        [socket_] = [one.websocket for one in server.open] or [None]
        writer.close()

    if answer:  # else it was still sending, and the system has thrown it away
        assert b"\x88\x02\x03\xf0" in answer  # 1008
        assert answer.count(b"\x8a") <= 100 / 16 + 1
    assert socket_ is None or not socket_._rest


async def test_of_pings_that_come_together_the_last_is_answered() -> None:
    async with serving(_listen) as server:
        reader, writer = await _open_socket(server)
        writer.write(b"".join(_frame(0x89, b"%d" % number) for number in range(10)))
        assert await reader.readexactly(3) == b"\x8a\x019"
        writer.write(_frame(0x89, b"again"))
        assert await reader.readexactly(7) == b"\x8a\x05again"
        writer.close()


@pytest.mark.parametrize("data", [_frame(0x81), _frame(0x82, b"a" * 125), _frame(0x01) + _frame(0x80)])
async def test_what_an_application_does_not_take_from_a_socket_is_left_unread(data: bytes) -> None:
    async with serving(_deaf) as server:
        _, writer = await _open_socket(server)
        writer.write(data * 30)
        [connection] = server.open
        await until(lambda: connection.websocket is not None and connection.websocket.is_still)
        assert connection.websocket is not None
        assert len(connection.websocket._inbox) <= MOST_HELD + 1
        writer.close()


async def test_a_socket_whose_client_does_not_read_is_not_read_and_pings_do_not_keep_it() -> None:
    async def talk_on(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while True:
            await send({"type": "websocket.send", "text": "a" * 65_536})

    async with serving(talk_on, QUICK) as server:
        reader, writer = await _open_socket(server)
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        [connection] = server.open
        await until(lambda: connection.drained is not None)
        while server.open:
            with contextlib.suppress(ConnectionError):
                writer.write(_frame(0x89))
            assert connection.unsent() < 1 << 20
            await asyncio.sleep(0.02)
        writer.close()
