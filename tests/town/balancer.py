"""What stands before several servers of one town: `balancer.py PORT BEHIND...`.

Each connection goes to the next server that answers. It is a program of its own, so that a test that holds up its loop
does not hold up the servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from itertools import count

_turns = count()
_pouring: set[asyncio.Task[None]] = set()  # the loop itself holds no task


async def serve(port: int, behind: list[int]) -> None:
    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there_reader, there_writer = await _connect(behind)
        except OSError:
            writer.close()
            return
        for one, other in ((reader, there_writer), (there_reader, writer)):
            task = asyncio.create_task(_pour(one, other))
            _pouring.add(task)
            task.add_done_callback(_pouring.discard)

    server = await asyncio.start_server(pass_on, "127.0.0.1", port, reuse_address=True, backlog=512)
    async with server:
        await server.serve_forever()


async def _connect(behind: list[int]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The next one; one that does not answer is passed over."""
    for _ in behind:
        with contextlib.suppress(OSError):
            return await asyncio.open_connection("127.0.0.1", behind[next(_turns) % len(behind)])
    raise OSError("nobody is there")


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """What one end says to the other, until it has no more to say."""
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except (OSError, RuntimeError):
        writer.close()  # it is gone: so is this connection, for both


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), [int(one) for one in sys.argv[2:]]))
