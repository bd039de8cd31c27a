"""Taking connections one by one, for whoever wants to look at them before a byte is read.

The loop's own servers read as soon as they have accepted. Where TLS begins only after some thought, what the client
has sent by then would be lost; so the socket is handed over unread.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable

__all__ = ["BACKLOG", "Accepting"]

BACKLOG = 4096
MOST_AT_ONCE = 100  # before others get their turn
REST_SECONDS = 1.0  # when the system has no descriptor or no memory left
_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


class Accepting:
    """Gives every new connection and the address it comes from to `take`, until it is closed."""

    def __init__(self, listener: socket.socket, take: Callable[[socket.socket, str], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._listener = listener
        self._take = take
        self._resting: asyncio.TimerHandle | None = None
        self._is_closed = False
        listener.listen(BACKLOG)
        self._loop.add_reader(listener, self._accept)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        if self._resting is not None:
            self._resting.cancel()
        self._loop.remove_reader(self._listener)
        self._listener.close()

    def _accept(self) -> None:
        for _ in range(MOST_AT_ONCE):
            try:
                accepted, peer = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _EXHAUSTED:
                    raise
                self._loop.remove_reader(self._listener)
                self._resting = self._loop.call_later(REST_SECONDS, self._loop.add_reader, self._listener, self._accept)
                return
            accepted.setblocking(False)
            self._take(accepted, str(peer[0]))
