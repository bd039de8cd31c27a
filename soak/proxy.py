"""The road between two servers: it can be cut, and it can be slow."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from itertools import count

__all__ = ["Road"]


class Road:
    """Whoever connects to its port is led to the next of those behind it that answers."""

    def __init__(self, port: int, behind: Sequence[int]) -> None:
        self._port, self._behind = port, behind
        self._turns = count()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.is_cut = False
        self.delay_seconds = 0.0

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self._port, reuse_address=True)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self.drop()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # for what was closed to be gone

    def cut(self) -> None:
        """What is on its way is lost, in either direction; nobody comes through until `mend`."""
        self.is_cut = True
        self.drop()

    def mend(self) -> None:
        self.is_cut, self.delay_seconds = False, 0.0

    def drop(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = {writer}
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            there_reader, there_writer = await self._connect()
            writers.add(there_writer)
            self._writers.add(there_writer)
            await asyncio.gather(self._pour(reader, there_writer), self._pour(there_reader, writer))
        except OSError:
            pass  # nobody is there: whoever came finds that out
        finally:
            for one in writers:
                one.close()
            self._writers -= writers
            self._tasks.discard(task)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for _ in () if self.is_cut else self._behind:
            with contextlib.suppress(OSError):
                port = self._behind[next(self._turns) % len(self._behind)]
                return await asyncio.open_connection("127.0.0.1", port)
        raise OSError("nobody is there")

    async def _pour(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(65536):
                if self.delay_seconds:
                    await asyncio.sleep(self.delay_seconds)
                writer.write(piece)
                await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()
        except (OSError, RuntimeError):
            writer.transport.abort()
