"""A server of ours whose application writes down what it sees, and says it again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from kith.base.errors import Problem
from kith.base.server import ConnectionLimits, HttpServer, listen

__all__ = ["Seen", "recording"]


class Seen(msgspec.Struct, frozen=True):
    method: str
    path: str
    host: str
    body: bytes
    headers: list[tuple[bytes, bytes]]
    client: tuple[str, int]  # who had the connection

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.host} {self.body.decode('latin-1')}"

    def all_of(self, name: bytes) -> list[str]:
        return [value.decode("latin-1") for key, value in self.headers if key == name]


@asynccontextmanager
async def recording(
    *, limits: ConnectionLimits | None = None, is_behind_proxy: bool = False
) -> AsyncIterator[tuple[HttpServer, list[Seen]]]:
    log: list[Seen] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        try:
            body = await _whole(scope, receive)
        except Problem as problem:
            await _answer(send, problem.status, problem.message.encode())
            return
        if body is None:
            return
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        log.append(Seen(scope["method"], scope["path"], host, body, scope["headers"], scope["client"]))
        await _answer(send, 200, str(log[-1]).encode())

    server = HttpServer(
        application,
        listen("127.0.0.1", 0, shared=False),
        limits or ConnectionLimits(per_address=0, max_body=1 << 20),
        trusted_proxies=("127.0.0.1",) if is_behind_proxy else (),
    )
    await server.start()
    try:
        yield server, log
    finally:
        await server.stop(1)


async def _whole(scope: Any, receive: Any) -> bytes | None:
    if "refusal" in scope:
        raise scope["refusal"]
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None  # its client has gone
        body += bytes(message["body"])
        if not message["more_body"]:
            return body


async def _answer(send: Any, status: int, body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": body})
