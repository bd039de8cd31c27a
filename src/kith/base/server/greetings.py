"""Whose handshake of TLS is next.

The answer to a client's first words costs thousands of times what these cost the client, and it is worked out on the
event loop, where everybody waits for it. So nothing is begun until these words are there whole, and then one is
answered each time the loop goes round, of one address after the other. Whoever begins hundreds waits behind themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket

from kith.base.server.turns import STRANGER, Turns
from kith.base.tls_hellos import HANDSHAKE, bytes_needed

__all__ = ["Greetings"]

IN_A_ROUND = 1  # with a certificate of RSA it takes five milliseconds
_FIRST_REST, _LONGEST_REST = 0.02, 1.0  # seconds, where fewer bytes are told of than were asked for


class Greetings:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._turns = Turns(loop, at_once=IN_A_ROUND, for_strangers=IN_A_ROUND, each=1)

    async def wait(self, client: socket.socket, address: str, seconds: float) -> None:
        """Until it is the client's turn. Nothing of what it has sent is read. The socket is closed where it fails."""
        try:
            async with asyncio.timeout(seconds):
                await self._until_whole(client)
            await self._turn(address)
        except BaseException:
            client.close()
            raise

    async def _until_whole(self, client: socket.socket) -> None:
        """Until a whole first message is there, of however many records, or something that is none."""
        data = await self._peek(client, 1)
        with contextlib.suppress(ValueError):
            while data[0] == HANDSHAKE and (needed := bytes_needed(data)):
                data = await self._peek(client, needed)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)

    async def _peek(self, client: socket.socket, count: int) -> bytes:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, count)
        rest = _FIRST_REST
        while True:
            await self._until_readable(client)
            found = client.recv(count, socket.MSG_PEEK)
            if not found:
                raise ConnectionAbortedError("the client has gone")
            if len(found) == count:
                return found
            await asyncio.sleep(rest)
            rest = min(2 * rest, _LONGEST_REST)

    async def _until_readable(self, client: socket.socket) -> None:
        came: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(client, lambda: None if came.done() else came.set_result(None))
        try:
            await came
        finally:
            self._loop.remove_reader(client)

    async def _turn(self, address: str) -> None:
        if self._turns.is_free(address):
            return
        turn: asyncio.Future[None] = self._loop.create_future()
        self._turns.wait(STRANGER, address, lambda: None if turn.done() else turn.set_result(None))
        await turn
