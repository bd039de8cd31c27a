"""Sockets and streams pass the edge like every request: with an id, a log line, guards and the dialect's refusals."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from kith.base.edge import Edge
from kith.base.errors import Forbidden, Problem
from kith.base.exchange import JSON, Answer, Dialect, Exchange, Server
from kith.base.limits import Limiter
from kith.base.log import AccessLog
from kith.base.routing import Router, get, socket, stream
from kith.base.server import ConnectionLimits, listen
from kith.base.server import HttpServer as Listening
from kith.base.socket import TheSocket


async def closed(_exchange: Exchange) -> None:
    raise Forbidden("Not for you")


@socket("/socket")
async def repeat(socket: TheSocket) -> None:
    await socket.accept(socket.subprotocols[0] if socket.subprotocols else "")
    while (message := await socket.receive()) is not None:
        await socket.send(f"{message!s} again")


@socket("/closed", guards=[closed])
async def never(socket: TheSocket) -> None:
    raise AssertionError


@get("/page")
async def page() -> dict[str, str]:
    return {}


async def _pieces() -> AsyncIterator[bytes]:
    for number in range(3):
        yield f"event: update\ndata: {number}\n\n".encode()


@stream("/stream")
async def events() -> Answer:
    return Answer(200, ((b"content-type", b"text/event-stream"),), pieces=_pieces())


def shape(problem: Problem, _exchange: Exchange) -> Answer:
    return Answer(problem.status, JSON, json.dumps({"error": problem.message}).encode())


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[int, io.StringIO]]:
    no_data: Any = SimpleNamespace(services={Limiter: Limiter(None, enabled=False)})  # type: ignore[arg-type]
    plain, lines = Dialect(name="plain", headers=((b"x-dialect", b"plain"),), shape=shape), io.StringIO()
    log = AccessLog(lines, as_json=True, enabled=True)
    edge = Edge(
        Server(works=no_data), Router([repeat, never, page, events]), dialect_of=lambda _path: plain, access_log=log
    )
    server = Listening(edge, listen("127.0.0.1", 0, shared=False), ConnectionLimits(per_address=0))
    await server.start()
    try:
        yield server.address[1], lines
    finally:
        await server.stop(1)
        log.flush()


async def test_a_socket_has_an_exchange_of_its_own() -> None:
    async with serving() as (port, lines):
        address = f"ws://127.0.0.1:{port}/socket"
        async with connect(address, subprotocols=[Subprotocol("kith")], compression=None) as client:
            assert client.subprotocol == "kith"
            assert client.response is not None
            assert len(client.response.headers["x-request-id"]) == 32
            assert client.response.headers["x-dialect"] == "plain"
            await client.send("hello")
            assert await client.recv() == "hello again"
        while "/socket" not in lines.getvalue():
            await asyncio.sleep(0)
    line = json.loads(lines.getvalue().splitlines()[0])
    assert (line["method"], line["route"], line["status"]) == ("WEBSOCKET", "/socket", 101)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/closed", 403, "Not for you"),
        ("/page", 405, 'Method "WEBSOCKET" not allowed.'),
        ("/nowhere", 404, "Record not found"),
    ],
)
async def test_a_socket_that_is_refused_is_told_why_in_the_dialect(path: str, status: int, words: str) -> None:
    async with serving() as (port, _):
        with pytest.raises(InvalidStatus) as caught:
            async with connect(f"ws://127.0.0.1:{port}{path}"):
                pass
    assert caught.value.response.status_code == status
    assert json.loads(caught.value.response.body or b"") == {"error": words}


async def test_a_stream_comes_piece_by_piece() -> None:
    async with serving() as (port, _), httpx.AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{port}/stream")
    assert answer.headers["content-type"] == "text/event-stream"
    assert "content-length" not in answer.headers
    assert [line for line in answer.text.splitlines() if line.startswith("data")] == ["data: 0", "data: 1", "data: 2"]
