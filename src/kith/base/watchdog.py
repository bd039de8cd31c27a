"""Whether the event loop still turns.

While it stands still, nobody is answered. A thread looks at it: after some seconds it logs what the loop is doing,
`/health/ready` says no for a while, and where somebody starts the process again, the process ends itself. A call that
holds the interpreter's lock stops that thread as well; for those there is a timer of the interpreter itself, which
prints the stacks to standard error. systemd is told that the loop turns as long as it does.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping

import msgspec
import structlog

from kith.base.metrics import LOOP_LAG
from kith.base.settings import Settings

__all__ = ["Plan", "Watchdog", "notify", "plan_for", "system_patience"]

LOG_SECONDS = 5.0
RECENT_SECONDS = 10.0
TICK_SECONDS = 1.0
EXIT_CODE = 70

_log = structlog.get_logger()


class Plan(msgspec.Struct, frozen=True):
    """After how many seconds of standing still the stack is logged, and the process ended (None: never)."""

    log_after: float
    end_after: float | None


def plan_for(settings: Settings, environment: Mapping[str, str], *, is_child: bool) -> Plan | None:
    """`auto` ends a process only where it is known that somebody starts it again: our own parent, or systemd."""
    if settings.watchdog == "off":
        return None
    patience = system_patience(environment)
    seconds = float(settings.watchdog_seconds)
    if patience is not None:
        seconds = min(seconds, patience * 0.8)
    ends = settings.watchdog == "end" or (settings.watchdog == "auto" and (is_child or patience is not None))
    return Plan(min(LOG_SECONDS, seconds / 2), seconds if ends else None)


def system_patience(environment: Mapping[str, str]) -> float | None:
    """How often systemd wants to hear from this process (`WatchdogSec=`), in seconds."""
    usec, pid = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", "")
    if not usec.isascii() or not usec.isdigit() or int(usec) == 0 or (pid and pid != str(os.getpid())):
        return None
    return int(usec) / 1_000_000


def notify(words: str, environment: Mapping[str, str]) -> None:
    """Tell systemd, where it listens (`Type=notify`); what it does not hear is no failure."""
    path = environment.get("NOTIFY_SOCKET", "")
    if not path.startswith(("/", "@")):
        return
    address = "\0" + path[1:] if path.startswith("@") else path
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
            sock.setblocking(False)
            sock.sendto(words.encode(), address)
    except OSError as error:
        _log.debug("watchdog.not_heard", cause=str(error))


class Watchdog:
    """Made with the server's other parts; watches from `start` to `stop`."""

    def __init__(self) -> None:
        self._turned_at = self._stalled_at = 0.0
        self._plan: Plan | None = None
        self._tell: Callable[[], None] = lambda: None
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = threading.Event()
        self._loop_thread = 0
        self._reported = False

    @property
    def is_turning(self) -> bool:
        """Whether the loop has not stood still lately."""
        return not self._stalled_at or time.monotonic() - self._stalled_at > RECENT_SECONDS

    def start(self, plan: Plan | None, tell: Callable[[], None] = lambda: None) -> None:
        """Called in the loop that is watched; `tell` is called about every second that it turns."""
        self._plan, self._tell = plan, tell
        self._loop_thread = threading.get_ident()
        self._turned_at = time.monotonic() - TICK_SECONDS
        self._tick()
        if plan is not None:
            threading.Thread(target=self._watch, args=(plan,), name="watchdog", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()
        if self._timer is not None:
            self._timer.cancel()
        faulthandler.cancel_dump_traceback_later()

    def _tick(self) -> None:
        if self._stopped.is_set():
            return
        now = time.monotonic()
        late = now - self._turned_at - TICK_SECONDS
        LOOP_LAG.observe(max(0.0, late))
        self._turned_at = now
        if self._plan is not None:
            if late > self._plan.log_after:
                self._stalled_at = now
                _log.error("loop.turns_again", after_seconds=round(late, 1))
            self._set_timer(self._plan)
        self._reported = False
        self._tell()
        self._timer = asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)

    def _set_timer(self, plan: Plan) -> None:
        """For what holds the interpreter's lock, so that our own thread does not run either."""
        seconds = plan.end_after + 2 if plan.end_after is not None else plan.log_after * 2
        try:
            faulthandler.dump_traceback_later(seconds + TICK_SECONDS, exit=plan.end_after is not None, file=sys.stderr)
        except (OSError, ValueError, RuntimeError, AttributeError):
            return  # standard error is no file

    def _watch(self, plan: Plan) -> None:
        pause = min(TICK_SECONDS, plan.log_after) / 2
        while not self._stopped.wait(pause):
            still = time.monotonic() - self._turned_at - TICK_SECONDS
            if still > plan.log_after and not self._reported:
                self._reported = True
                self._stalled_at = time.monotonic()
                _log.error("loop.stands_still", seconds=round(still, 1), stack=self._stack())
            if plan.end_after is not None and still > plan.end_after:
                _log.critical("loop.given_up", seconds=round(still, 1), stack=self._stack())
                sys.stderr.flush()
                os._exit(EXIT_CODE)

    def _stack(self) -> str:
        frame = sys._current_frames().get(self._loop_thread)
        return "".join(traceback.format_stack(frame)[-40:]) if frame is not None else ""
