"""A service to sign in with and a directory that answer when they are told to."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kith.identity.ldap_server.messages import ResultCode, entry, result
from tests.identity.hostile_directory import read_message

__all__ = ["WaitingDirectory", "WaitingService", "waiting_directory", "waiting_service"]

WRONG = ResultCode(49)


class Waiting:
    """`address` is where it is asked. While `answers` is not set it keeps whoever asks waiting."""

    def __init__(self) -> None:
        self.address = ""
        self.answers = asyncio.Event()
        self.answers.set()
        self._is_asked = asyncio.Event()

    async def _wait(self) -> None:
        self._is_asked.set()
        await self.answers.wait()

    def hold(self) -> None:
        self.answers.clear()
        self._is_asked.clear()

    async def until_asked(self) -> None:
        async with asyncio.timeout(30):
            await self._is_asked.wait()


class WaitingService(Waiting):
    """Knows one person: `id`. It waits with their profile."""

    id = 4711

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            size = re.search(r"(?i)content-length: (\d+)", head)
            await reader.readexactly(int(size[1]) if size is not None else 0)
            told: object = []
            if " /token" in head:
                told = {"access_token": "t", "token_type": "bearer"}
            elif " /user " in head:
                await self._wait()
                told = {"id": self.id, "login": "thief", "name": "Thief"}
            body = json.dumps(told).encode()
            lines = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
            writer.write(lines.encode() + b"Connection: close\r\n\r\n" + body)
            await writer.drain()
        writer.close()


class WaitingDirectory(Waiting):
    """Knows `uid=<name>` with a password, and waits when somebody tries that."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.password = "the old one of the directory"
        self.control = "512"

    @property
    def dn(self) -> str:
        return f"uid={self.name},dc=example,dc=org"

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                message = await read_message(reader)
                number, kind = message.integer(), message.peek()
                if kind == 0x60:
                    given = message.octets(0x60)
                    is_person = self.dn.encode() in given
                    if is_person:
                        await self._wait()
                    is_right = not is_person or self.password.encode() in given
                    writer.write(result(number, 0x61, ResultCode.SUCCESS if is_right else WRONG))
                elif kind == 0x63:
                    told: dict[str, list[str | bytes]] = {
                        "uid": [self.name], "cn": ["Vic"], "entryUUID": ["1"], "userAccountControl": [self.control],
                    }  # fmt: skip
                    writer.write(entry(number, self.dn, told))
                    writer.write(result(number, 0x65, ResultCode.SUCCESS))
                else:
                    break
        writer.close()


@asynccontextmanager
async def waiting_service() -> AsyncIterator[WaitingService]:
    made = WaitingService()
    server = await asyncio.start_server(made.talk, "127.0.0.1", 0)
    made.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield made
    made.answers.set()
    server.close()


@asynccontextmanager
async def waiting_directory(name: str) -> AsyncIterator[WaitingDirectory]:
    made = WaitingDirectory(name)
    server = await asyncio.start_server(made.talk, "127.0.0.1", 0)
    made.address = f"ldap://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield made
    made.answers.set()
    server.close()
