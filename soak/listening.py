"""Streams that are held open: each says a thing once, and is never quiet for long."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter

import aiohttp

from soak.people import Person

__all__ = ["Listener"]

_QUIET_SECONDS = 90.0
_AGAIN_SECONDS = 2.0


class Listener:
    """One person's home stream, by events or by a socket; opened again whenever it ends."""

    def __init__(self, me: Person, *, socket: bool) -> None:
        self._me, self._socket = me, socket
        self.heard: Counter[str] = Counter()
        self.opened = 0

    async def listen(self) -> None:
        while True:
            started_at = time.monotonic()
            with contextlib.suppress(aiohttp.ClientError, OSError, TimeoutError):
                await (self._by_socket() if self._socket else self._by_events())
            if not self._me.asker.windows.since(started_at):
                self.heard["ended without a fault"] += 1
            await asyncio.sleep(_AGAIN_SECONDS)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Host": self._me.site.host, "Authorization": f"Bearer {self._me.token}"}

    async def _by_events(self) -> None:
        url = f"{self._me.asker.address(self._me.site)}/api/v1/streaming/user"
        session, forever = self._me.asker.session, aiohttp.ClientTimeout(total=None, sock_read=_QUIET_SECONDS)
        async with session.get(url, headers=self._headers, timeout=forever) as response:
            if response.status != 200:
                return
            self.opened += 1
            updates: set[str] = set()
            name = ""
            while line := (await self._in_time(response.content.readline())).decode().strip("\r\n") + "\n":
                if line == "\n" and response.content.at_eof():
                    return
                if line.startswith("event: "):
                    name = line[7:-1]
                elif line.startswith("data: "):
                    self._take(name, line[6:-1], updates)

    async def _by_socket(self) -> None:
        url = f"{self._me.asker.address(self._me.site)}/api/v1/streaming?stream=user".replace("http", "ws", 1)
        async with self._me.asker.session.ws_connect(url, headers=self._headers, heartbeat=30) as socket:
            self.opened += 1
            updates: set[str] = set()
            async for message in socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    told = json.loads(message.data)
                    self._take(told.get("event", ""), told.get("payload") or "", updates)

    async def _in_time(self, line: asyncio.Future[bytes] | object) -> bytes:
        try:
            async with asyncio.timeout(_QUIET_SECONDS):
                return await line  # type: ignore[misc, no-any-return]
        except TimeoutError:
            self._me.ledger.violated("a stream fell silent", f"nothing for {_QUIET_SECONDS} s to {self._me.handle}")
            raise

    def _take(self, name: str, payload: str, updates: set[str]) -> None:
        self.heard[name] += 1
        if name == "update":
            id = json.loads(payload)["id"]
            if id in updates:
                self._me.ledger.violated("doubled", f"a stream told {self._me.handle} of {id} twice")
            updates.add(id)
