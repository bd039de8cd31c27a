"""One caller who asks the same over and over, on many connections, whatever is answered: a process of its own.

Given the port and the number of connections, and the request on standard input; it goes on until it is ended.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

from bench.load import HOST


async def _ask(port: int, request: bytes) -> None:
    while True:
        with suppress(OSError, asyncio.IncompleteReadError, ValueError, IndexError):
            reader, writer = await asyncio.open_connection(HOST, port)
            while True:
                writer.write(request)
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
        await asyncio.sleep(0.05)


async def _go_on(port: int, connections: int, request: bytes) -> None:
    await asyncio.gather(*(_ask(port, request) for _ in range(connections)))


if __name__ == "__main__":
    asyncio.run(_go_on(int(sys.argv[1]), int(sys.argv[2]), sys.stdin.buffer.read()))
