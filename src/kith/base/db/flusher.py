"""A thread that does one thing at a time for the event loop: it ends transactions, which waits for the disk.

A pool of threads would do the same, but handing over through one costs more than many a commit.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

__all__ = ["Flusher"]


class Flusher:
    """Started with the first call. Whoever calls waits for the answer before the next call."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._ready = threading.Lock()  # held while there is nothing to do
        self._ready.acquire()
        self._thread: threading.Thread | None = None
        self._do: Callable[[], object] | None = None
        self._done: asyncio.Future[None] | None = None

    def run(self, do: Callable[[], object]) -> asyncio.Future[None]:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._do, self._done = do, done
        self._ready.release()
        return done

    def _work(self) -> None:
        while True:
            self._ready.acquire()
            do, done = self._do, self._done
            if do is None or done is None:
                return
            failure: BaseException | None = None
            try:
                do()
            except BaseException as error:  # noqa: BLE001 - passed on to whoever waits
                failure = error
            done.get_loop().call_soon_threadsafe(_tell, done, failure)

    def close(self) -> None:
        """After the last call was answered."""
        if self._thread is not None:
            self._do = self._done = None
            self._ready.release()
            self._thread.join()
            self._thread = None


def _tell(done: asyncio.Future[None], failure: BaseException | None) -> None:
    if done.cancelled():
        return
    if failure is None:
        done.set_result(None)
    else:
        done.set_exception(failure)
