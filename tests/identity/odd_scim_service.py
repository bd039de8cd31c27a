"""A SCIM service that behaves as badly as it is told to, and remembers what it was sent."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any


class Sent:
    def __init__(self, method: str, path: str, body: Any) -> None:
        self.method = method
        self.path = path
        self.body = body


class OddService:
    """`patch`: whether it says that it can do that. `answers` are given first, one for each call that changes."""

    def __init__(self, *, patch: bool = True) -> None:
        self.patch = patch
        self.answers: list[bytes] = []
        self.sent: list[Sent] = []
        self.held: dict[str, dict[str, Any]] = {}
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        found = re.search(r"(?i)content-length: (\d+)", head)
        body = await reader.readexactly(int(found[1]) if found else 0)
        method, path, _ = head.split(" ", 2)
        sent = Sent(method, path, json.loads(body) if body else None)
        if method != "GET":
            self.sent.append(sent)
        scripted = self.answers.pop(0) if self.answers and method != "GET" else None
        writer.write(scripted if scripted is not None else self._answered(sent))
        await writer.drain()
        writer.close()

    def _answered(self, sent: Sent) -> bytes:
        if "ServiceProviderConfig" in sent.path:
            return answer(200, {"patch": {"supported": self.patch}})
        kind, _, id = sent.path.strip("/").partition("/")
        if sent.method == "POST":
            id = f"{kind}-{len(self.held)}"
            self.held[id] = sent.body
            return answer(201, {"id": id})
        if sent.method == "GET":
            return answer(200, {"Resources": []})
        if id not in self.held:
            return answer(404, {"detail": "unknown"})
        if sent.method == "DELETE":
            del self.held[id]
            return answer(204)
        if sent.method == "PUT":
            self.held[id] = sent.body
        return answer(200, {"id": id})

    def names(self) -> set[str]:
        return {one["userName"] for one in self.held.values() if "userName" in one}


def answer(status: int, body: Any = None, **headers: str) -> bytes:
    raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(raw)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + raw


@asynccontextmanager
async def odd_service(**options: Any) -> AsyncIterator[OddService]:
    service = OddService(**options)
    server = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield service
