"""Each hostile message has the one outcome it may have, in whatever pieces it comes."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import Any

import pytest

from kith.base.server import HttpServer
from tests.base.test_server import serving
from tests.hostile_http.messages import MESSAGES, Message, Outcome
from tests.hostile_http.recording import Seen, recording

PROBE = b"GET /probe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
SEEN_PROBE = "GET /probe x "
QUIET_SECONDS = 0.3  # in which nothing is said about a message that is not whole
LONGEST_IN_BYTES = 1000


async def _outcome(server: HttpServer, log: list[Seen], message: Message, size: int) -> Outcome:
    """What became of the message; whoever asks for more on the same connection finds out whether it stays."""
    reader, writer = await asyncio.open_connection(*server.address)
    mine, before = writer.get_extra_info("sockname")[1], len(log)  # ports are used again
    waits = message.outcome == Outcome(stays=True)
    sent = message.sent + (b"" if waits else PROBE)
    try:
        with contextlib.suppress(ConnectionError):
            for at in range(0, len(sent), size):
                writer.write(sent[at : at + size])
                await writer.drain()
                if size < len(sent):
                    await asyncio.sleep(0)
        answer = await _answer(reader, QUIET_SECONDS if waits else 20)
    finally:
        writer.close()
    seen = [str(one) for one in log[before:] if one.client[1] == mine]
    answers = [int(code) for code in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer) if code != b"100"]
    stays = waits and not answer
    if seen and seen[-1] == SEEN_PROBE:
        stays = True
        seen.pop(), answers.pop()
    return Outcome(tuple(seen), tuple(answers), stays)


async def _answer(reader: asyncio.StreamReader, seconds: float) -> bytes:
    answer = b""
    with contextlib.suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(seconds):
            while piece := await reader.read(65536):
                answer += piece
    return answer


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
async def test_each_message_has_the_outcome_it_may_have(size: int) -> None:
    messages = [one for one in MESSAGES if size > LONGEST_IN_BYTES or len(one.sent) < LONGEST_IN_BYTES]
    turn = asyncio.Semaphore(50)

    async def one(message: Message) -> Outcome:
        async with turn:
            return await _outcome(server, log, message, size)

    async with recording() as (server, log):
        found = await asyncio.gather(*(one(message) for message in messages))

    misread = {
        message.name: (outcome, message.outcome)
        for message, outcome in zip(messages, found, strict=True)
        if not _fits(outcome, message.outcome, in_pieces=size < LONGEST_IN_BYTES)
    }
    assert misread == {}


def _fits(found: Outcome, wanted: Outcome, *, in_pieces: bool) -> bool:
    """Whoever goes on sending after a refusal may never read it: the system throws it away."""
    if in_pieces and wanted.answers and not wanted.stays and wanted.answers[: len(found.answers)] == found.answers:
        return found.seen == wanted.seen and found.stays == wanted.stays
    return found == wanted


@pytest.mark.parametrize(("host", "seen"), [(b"y", ["GET /1 y "]), (b"Y", ["GET /1 y "]), (b"x", [])])
async def test_a_proxy_that_names_two_hosts_is_refused(host: bytes, seen: list[str]) -> None:
    """One that was misled: it has judged the request by the host in the header, and the target names another."""
    async with recording(is_behind_proxy=True) as (server, log):
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(b"GET http://y/1 HTTP/1.1\r\nHost: " + host + b"\r\nConnection: close\r\n\r\n")
        answer = await _answer(reader, 5)
        writer.close()

    assert [str(one) for one in log] == seen
    assert answer.startswith(b"HTTP/1.1 200 " if seen else b"HTTP/1.1 400 ")


# Answers, and what they leave of a connection


def _says(status: int, body: bytes, *headers: tuple[bytes, bytes]) -> Any:
    async def application(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        await send({"type": "http.response.body", "body": body})

    return application


@pytest.mark.parametrize("length", [b"", b"5", b"0", b"7"])
@pytest.mark.parametrize(
    ("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304), ("HEAD", 404), ("HEAD", 204)]
)
async def test_an_answer_without_a_body_has_none_whatever_the_application_says(
    method: str, status: int, length: bytes
) -> None:
    headers = [(b"Content-Length", length)] if length else []
    asked = f"{method} / HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    async with serving(_says(status, b"hello", *headers)) as server:
        reader, writer = await asyncio.open_connection(*server.address)
        for _ in range(3):
            writer.write(asked)
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
            assert head.startswith(b"HTTP/1.1 %d " % status)
            assert b"transfer-encoding" not in head
            assert (b"content-length" in head) == (bool(length) and status != 204)
        writer.close()


async def _refuses_early(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 403, "headers": []})
    await send({"type": "http.response.body", "body": b"no"})


@pytest.mark.parametrize(
    "sent",
    [
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + b"a" * 70_000,
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n11170\r\n" + b"a" * 70_000 + b"\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n",
    ],
)
async def test_an_answer_before_the_body_has_come_ends_the_connection(sent: bytes) -> None:
    """What follows might be the rest of the body, or a request: nobody could tell."""
    async with serving(_refuses_early) as server:
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(sent)
        answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\nno"), 5)
        with contextlib.suppress(ConnectionError):
            writer.write(b"GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n")
            rest = await asyncio.wait_for(reader.read(), 5)
            assert rest == b""
        writer.close()

    assert b"connection: close" in answer


async def _breaks_off(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"100")]})
    await send({"type": "http.response.body", "body": b"half", "more_body": True})


async def test_half_an_answer_ends_the_connection() -> None:
    async with serving(_breaks_off) as server:
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 2)
        answer = await asyncio.wait_for(reader.read(), 5)
        writer.close()

    assert answer.count(b"HTTP/1.1 ") == 1
    assert answer.endswith(b"half")


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        (b"GET /1 HTTP/1.1\r\nHost: x\r\n\r\n", ["GET /1 x "]),
        (b"POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", ["POST /1 x hello"]),
        (b"POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel", []),
        (b"POST /1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", []),
        (b"GET /1 HTTP/1.1\r\nHost: x\r\n", []),
        (b"", []),
    ],
)
async def test_half_a_request_of_a_client_that_ends_its_side_is_none(sent: bytes, seen: list[str]) -> None:
    async with recording() as (server, log):
        reader, writer = await asyncio.open_connection(*server.address)
        writer.write(sent)
        writer.write_eof()
        answer = await asyncio.wait_for(reader.read(), 5)
        writer.close()

    assert [str(one) for one in log] == seen
    assert answer.count(b"HTTP/1.1 200") == len(seen)
