"""A server that makes way for a new process of the same program, which may have changed meanwhile: on SIGHUP.

One process becomes the new one itself, with the sockets it listens on and whatever waits in them; several are replaced
by the one that keeps them, one at a time.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import msgspec
import structlog

from kith.base.settings import BadSettings, Settings, label
from kith.cli.running import KITH

__all__ = ["Replacement", "refuse_other_places", "start_anew", "trial_of"]

# Where a server listens, and what it stands on: sockets are handed on, and others may not be free.
_STAY = (
    *("data", "database", "processes", "worker", "gateway", "acme"),
    *(name for name in Settings.__struct_fields__ if name == "bind" or name.endswith("_bind")),
)

_log = structlog.get_logger()


def _places(settings: Settings) -> dict[str, str]:
    return {name: str(getattr(settings, name)) for name in _STAY}


def trial_of(settings: Settings) -> list[str]:
    """The command that tries whether a new process could take over from one with these settings."""
    return [*KITH, "serve", "--try", msgspec.json.encode(_places(settings)).decode()]


def refuse_other_places(settings: Settings, running: str) -> None:
    was = msgspec.json.decode(running, type=dict[str, str])
    other = [label(name) for name, value in _places(settings).items() if was.get(name) != value]
    if other:
        raise BadSettings(f"what has changed takes a restart: {', '.join(other)}")


class Replacement:
    """Whether this process is to be replaced. A terminal that is closed sends the same signal, and means to stop."""

    def __init__(self, stopping: asyncio.Event, settings: Settings, *, is_child: bool) -> None:
        self.is_wanted = False
        self._settings = settings
        self._stopping = stopping
        self._is_child = is_child
        self._had_terminal = os.isatty(0)
        self._trying: asyncio.Task[None] | None = None
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._hear)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})

    def stop(self) -> None:
        """End this process, also while it is making way for the next one."""
        self.is_wanted = False
        self._stopping.set()

    def _hear(self) -> None:
        if self._had_terminal and not os.isatty(0):
            self._stopping.set()
        elif self._is_child:
            self._make_way()
        elif self._trying is None or self._trying.done():
            self._trying = asyncio.create_task(self._try())

    async def _try(self) -> None:
        """First it is tried whether the program can start as it is now, and the database is brought up for it."""
        process = await asyncio.create_subprocess_exec(*trial_of(self._settings))
        if await process.wait():
            _log.error("processes.not_replaced", cause="the program cannot start as it is set up now")
        else:
            self._make_way()

    def _make_way(self) -> None:
        """One more word until then asks for nothing that is not about to be; it must not end this process either."""
        if not self._stopping.is_set():
            asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)
            signal.signal(signal.SIGHUP, lambda *_: None)
            self.is_wanted = True
            self._stopping.set()


def start_anew(left: dict[str, str]) -> None:
    """Become the program as it is now; `left` are the descriptors that it takes over."""
    sys.stdout.flush()
    sys.stderr.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})  # one more word waits for the new program
    os.execve(KITH[0], [*KITH, "serve"], os.environ | left)  # noqa: S606 - our own words
