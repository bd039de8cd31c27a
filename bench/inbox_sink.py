"""`bench.inbox_sink PORT`: the inboxes of many hosts, which are the addresses of the loopback network.

Every address but those under 127.9 answers at once. GET tells how many posts came, to how many hosts, and when the
last host got its first one; GET /forget begins anew.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from typing import cast

import msgspec
import uvloop

ACCEPTED = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"
SILENT = "127.9."


class Tally(msgspec.Struct):
    received: int = 0
    hosts: set[str] = msgspec.field(default_factory=set)
    last_at: float = 0.0


class Told(msgspec.Struct):
    received: int
    hosts: int
    last_at: float


tally = Tally()


class Inbox(asyncio.Protocol):
    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._host = ""
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._host = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        if self._transport is None or self._host.startswith(SILENT):
            return None
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            head = self._read[:end].lower()
            if head.startswith(b"get"):
                self._read = b""
                return self._tell(head)
            length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
            if len(self._read) < end + 4 + length:
                return None
            self._read = self._read[end + 4 + length :]
            tally.received += 1
            if self._host not in tally.hosts:
                tally.hosts.add(self._host)
                tally.last_at = time.monotonic()
            self._transport.write(ACCEPTED)
        return None

    def _tell(self, head: bytes) -> None:
        if head.startswith(b"get /forget"):
            tally.received, tally.hosts = 0, set()
        body = msgspec.json.encode(Told(tally.received, len(tally.hosts), tally.last_at))
        cast("asyncio.Transport", self._transport).write(
            b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
        )


async def serve(port: int) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for word in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(word, stopping.set)
    server = await loop.create_server(Inbox, "0.0.0.0", port, backlog=1024)
    await stopping.wait()
    server.close()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
