"""Listening to streams, as apps do: by Server-Sent Events (httpx) and by WebSocket (websockets)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import httpx
from websockets.asyncio.client import ClientConnection, connect

from tests.social.members import Member
from tests.town.plain import PLAIN

PATIENCE = 60
BASE = "/api/v1/streaming"


class Events:
    """An open event stream, read line by line."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def line(self) -> str:
        async with asyncio.timeout(PATIENCE):
            return await anext(self._lines)

    async def next(self) -> tuple[str, Any]:
        """The next event: its name, and its payload if that is JSON."""
        while (line := await self.line()).startswith(":") or not line:
            pass
        assert line.startswith("event: "), line
        data = await self.line()
        assert data.startswith("data: "), data
        assert await self.line() == ""
        return line.removeprefix("event: "), _payload(data.removeprefix("data: "))

    async def ended(self) -> bool:
        """Wait for the end of the stream, whatever comes before it."""
        async with asyncio.timeout(PATIENCE):
            async for _ in self._lines:
                pass
        return True

    async def until(self, name: str, id: str) -> list[tuple[str, str]]:
        return await heard_until(self, name, id)


class Socket:
    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def next_of(self) -> tuple[list[str], str, Any]:
        """Which stream, which event, which payload."""
        async with asyncio.timeout(PATIENCE):
            told = json.loads(await self.socket.recv())
        assert "error" not in told, told
        payload = told.get("payload")
        assert payload is None or isinstance(payload, str)
        return told["stream"], told["event"], None if payload is None else _payload(payload)

    async def next(self) -> tuple[str, Any]:
        _stream, name, payload = await self.next_of()
        return name, payload

    async def answer(self) -> Any:
        async with asyncio.timeout(PATIENCE):
            return json.loads(await self.socket.recv())

    async def asks(self, type: str, stream: str, **more: str) -> None:
        await self.socket.send(json.dumps({"type": type, "stream": stream, **more}))

    async def subscribes(self, stream: str, **more: str) -> None:
        """And knows that it is done: the answer to something wrong comes after it."""
        await self.asks("subscribe", stream, **more)
        await self.asks("subscribe", "nonsense")
        assert (await self.answer())["status"] == 400

    async def closed(self) -> tuple[int, str]:
        """With which code, after whatever was said before."""
        async with asyncio.timeout(PATIENCE):
            await self.socket.wait_closed()
        return self.socket.close_code or 0, self.socket.close_reason or ""

    async def until(self, name: str, id: str) -> list[tuple[str, str]]:
        return await heard_until(self, name, id)


def _payload(text: str) -> Any:
    return json.loads(text) if text.startswith(("{", "[")) else text


async def heard_until(ear: Events | Socket, name: str, id: str) -> list[tuple[str, str]]:
    """All that came before an event and the event itself, each by its name and the id it is about."""
    heard: list[tuple[str, str]] = []
    while (name, id) not in heard:
        event, payload = await ear.next()
        heard.append((event, payload["id"] if isinstance(payload, dict) else payload))
    return heard


@asynccontextmanager
async def listen(member: Member, path: str, base_url: str = "", **params: str) -> AsyncIterator[Events]:
    """An event stream, from the moment it has greeted."""
    headers = {"Authorization": f"Bearer {member.token}"}
    async with (
        httpx.AsyncClient(base_url=base_url or member.town.base_url, timeout=PATIENCE, verify=PLAIN) as http,
        http.stream("GET", f"{BASE}/{path}", params=params, headers=headers) as response,
    ):
        assert response.status_code == 200, await response.aread()
        events = Events(response)
        assert await events.line() == ":)"
        yield events


def address_of(member: Member, base_url: str = "", **params: str) -> str:
    at = (base_url or member.town.base_url).replace("http", "ws", 1)
    return f"{at}{BASE}?{urlencode(params)}" if params else f"{at}{BASE}"


@asynccontextmanager
async def open_socket(member: Member, stream: str = "", base_url: str = "", **more: str) -> AsyncIterator[Socket]:
    named = {"stream": stream} if stream else {}
    address = address_of(member, base_url, access_token=member.token, **named, **more)
    async with connect(
        address, compression=None, max_size=None, open_timeout=PATIENCE, ping_timeout=PATIENCE
    ) as socket:
        yield Socket(socket)
