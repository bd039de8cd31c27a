"""Small posts to many hosts: connections are kept, answers are bounded, and the guard is asked for each address."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from kith.base.http import Outgoing, OutgoingError, wire
from tests.base.test_http import _self_signed

ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok"
HEADERS = {"host": "b.example", "content-type": "text/plain"}


class Listener:
    """Answers each request with what `answer` gives for its number; None hangs up, nothing waits for ever."""

    def __init__(self, answer: Callable[[int], bytes | None]) -> None:
        self._answer = answer
        self.requests: list[bytes] = []
        self.connections = 0
        self.port = 0
        self._ends = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/inbox"

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                body = await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
                self.requests.append(head + body)
                answer = self._answer(len(self.requests))
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()
                if not answer:
                    await self._ends.wait()
        writer.close()

    def end(self) -> None:
        self._ends.set()


@asynccontextmanager
async def listening(answer: Callable[[int], bytes | None]) -> AsyncIterator[tuple[Listener, Outgoing]]:
    listener = Listener(answer)
    server = await asyncio.start_server(listener.talk, "127.0.0.1", 0)
    listener.port = server.sockets[0].getsockname()[1]
    outgoing = Outgoing("kith-test", ["127.0.0.1"])
    try:
        yield listener, outgoing
    finally:
        listener.end()
        await outgoing.close()
        server.close()


async def reason(outgoing: Outgoing, url: str, **headers: str) -> str:
    with pytest.raises(OutgoingError) as caught:
        await outgoing.post(url, HEADERS | headers, b"body")
    return caught.value.reason


async def test_a_connection_is_used_again() -> None:
    async with listening(lambda _: ACCEPTED) as (listener, outgoing):
        for _ in range(5):
            assert (await outgoing.post(listener.url, HEADERS, b"body")).status == 202
    assert listener.connections == 1
    head, _, body = listener.requests[0].partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"POST /inbox HTTP/1.1"
    assert {b"host: b.example", b"content-length: 4", b"user-agent: kith-test"} <= set(head.split(b"\r\n"))
    assert body == b"body"


@pytest.mark.parametrize(
    ("answer", "connections"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 1),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 1),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 1),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 2),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 2),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", 2),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", 2),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n" + b"x" * 200_000, 2),
    ],
)
async def test_the_end_of_an_answer_is_understood(answer: bytes, connections: int) -> None:
    async with listening(lambda _: answer) as (listener, outgoing):
        for _ in range(2):
            assert 200 <= (await outgoing.post(listener.url, HEADERS, b"body")).status < 300
    assert listener.connections == connections


async def test_a_kept_connection_that_was_ended_is_replaced() -> None:
    async with listening(lambda number: None if number == 2 else ACCEPTED) as (listener, outgoing):
        await outgoing.post(listener.url, HEADERS, b"body")
        assert (await outgoing.post(listener.url, HEADERS, b"again")).status == 202
    assert [request[-5:] for request in listener.requests[1:]] == [b"again", b"again"]
    assert listener.connections == 2


async def test_whoever_asks_for_a_pause_is_heard() -> None:
    answer = b"HTTP/1.1 503 Unavailable\r\nretry-after: 120\r\nContent-Length: 0\r\n\r\n"
    async with listening(lambda _: answer) as (listener, outgoing):
        found = await outgoing.post(listener.url, HEADERS, b"body")
    assert (found.status, found.retry_after) == (503, "120")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"no http at all\r\n\r\n", "protocol"),
        (b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nx", "protocol"),
        (b"HTTP/1.1 200 OK\r\n" + b"X-Long: %b\r\n" % (b"x" * 1000) * 50, "too_large"),
        (None, "connect"),
        (b"", "timeout"),
        (b"HTTP/1.1 200", "timeout"),
    ],
)
async def test_what_is_no_answer_is_an_error(answer: bytes | None, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "READ_SECONDS", 0.1)
    async with listening(lambda _: answer) as (listener, outgoing):
        assert await reason(outgoing, listener.url) == why


async def test_nobody_is_asked_who_must_not_be(tmp_path: Path) -> None:
    outgoing = Outgoing("kith-test", ["127.0.0.1"])
    assert await reason(outgoing, "http://10.0.0.1/inbox") == "refused_address"
    assert await reason(outgoing, "http://localhost.invalid/inbox") == "connect"
    assert await reason(outgoing, "http://127.0.0.1:1/inbox") == "connect"
    server = TestServer(web.Application(), scheme="https")
    await server.start_server(ssl=_self_signed(tmp_path))
    assert await reason(outgoing, f"https://127.0.0.1:{server.port}/inbox") == "tls"
    await server.close()
    await outgoing.close()


async def test_a_header_of_a_post_cannot_smuggle_another() -> None:
    async with listening(lambda _: ACCEPTED) as (listener, outgoing):
        assert await reason(outgoing, listener.url, signature="1\r\nx-evil: 2") == "protocol"
    assert listener.requests == []


async def test_whoever_gives_up_ends_the_connection() -> None:
    async with listening(lambda number: b"" if number == 1 else ACCEPTED) as (listener, outgoing):
        asking = asyncio.create_task(outgoing.post(listener.url, HEADERS, b"body"))
        async with asyncio.timeout(120):
            while not listener.requests:
                await asyncio.sleep(0.005)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert (await outgoing.post(listener.url, HEADERS, b"body")).status == 202
    assert listener.connections == 2


async def test_words_without_end_before_an_answer_are_not_read_on() -> None:
    words = b"HTTP/1.1 100 Continue\r\n\r\n"
    async with listening(lambda _: words * 4 + ACCEPTED) as (listener, outgoing):
        assert (await outgoing.post(listener.url, HEADERS, b"body")).status == 202
    async with listening(lambda _: words * 20 + ACCEPTED) as (listener, outgoing):
        assert await reason(outgoing, listener.url) == "too_large"
