"""Hostile messages sent through a proxy, and innocent visitors behind them who must get their own answers."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterable

__all__ = ["Attack"]

AT_ONCE = 48
QUIET_SECONDS = 0.5  # after which an attacker whose message is not whole gives up
PATIENCE_SECONDS = 30.0
_ANSWER = re.compile(rb"GET /(?:end|visitor)-(\d+) ")


class Attack:
    """`misled` are visitors, and attackers too, who got an answer that was another's."""

    def __init__(
        self, port: int, *, attacker: bytes = b"Host: x\r\n", visitor: bytes = b"Host: visitor.example\r\n"
    ) -> None:
        """`attacker` and `visitor` are the lines that name the host they ask, and perhaps who they are."""
        self._port = port
        self._attacker = attacker
        self._visitor = visitor
        self.misled: list[str] = []
        self.sent = 0

    async def run(self, messages: Iterable[bytes]) -> None:
        waiting = iter(enumerate(messages))
        await asyncio.gather(*(self._lane(waiting) for _ in range(AT_ONCE)))

    async def _lane(self, waiting: Iterable[tuple[int, bytes]]) -> None:
        visitor = _Visitor(self._port, self._visitor)
        for number, message in waiting:
            self.sent += 1
            self._look(number, await self._send(number, message), message)
            answer = await visitor.ask(number)
            if f"GET /visitor-{number} ".encode() not in answer:
                self.misled.append(f"visitor {number} read {answer[:200]!r} after {message!r}")
        visitor.close()

    async def _send(self, number: int, message: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        end = b"GET /end-%d HTTP/1.1\r\n%bConnection: close\r\n\r\n" % (number, self._attacker)
        answer = b""
        try:
            with contextlib.suppress(ConnectionError, TimeoutError):
                writer.write(message.replace(b"Host: x\r\n", self._attacker, 1) + end)
                while piece := await asyncio.wait_for(reader.read(65536), QUIET_SECONDS):
                    answer += piece
        finally:
            writer.close()
        return answer

    def _look(self, number: int, answer: bytes, message: bytes) -> None:
        for found in _ANSWER.findall(answer):
            if int(found) != number:
                self.misled.append(f"attacker {number} read {answer[:300]!r} after {message!r}")


class _Visitor:
    """Somebody who keeps a connection for as long as the proxy does."""

    def __init__(self, port: int, lines: bytes) -> None:
        self._port = port
        self._lines = lines
        self._open: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, number: int) -> bytes:
        for _ in range(3):
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                try:
                    return await asyncio.wait_for(self._ask(number), PATIENCE_SECONDS)
                except TimeoutError:
                    return b"nothing in time"
            self.close()
        return b"nothing"

    async def _ask(self, number: int) -> bytes:
        if self._open is None:
            self._open = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._open
        writer.write(b"GET /visitor-%d HTTP/1.1\r\n%b\r\n" % (number, self._lines))
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else await self._chunks(reader)
        if re.search(rb"(?i)connection: close", head):
            self.close()
        return head + body

    async def _chunks(self, reader: asyncio.StreamReader) -> bytes:
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
        return body

    def close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None
