"""Keeps the web processes: one that dies is started again, and on SIGHUP each makes way for a new one in turn.

Each process has its own listening sockets, which stay open here while it is replaced: whoever connects meanwhile waits
in them for the next one. After a death they are closed, so that the system gives newcomers to the other processes.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress

import structlog
from prometheus_client.multiprocess import mark_process_dead

from kith.base.metrics import PROCESS_DEATHS
from kith.base.server.kept_listeners import LINE, READY, environment_of
from kith.base.watchdog import notify
from kith.cli.running import KITH

__all__ = ["Keeper", "pause_after"]

LONGEST_PAUSE = 60.0
LONG_LIFE = 60.0  # seconds after which a death is the first one again
READY_SECONDS = 120.0
_MOST_SOCKETS = 4
_log = structlog.get_logger()


def pause_after(deaths: int) -> float:
    """Seconds until the next start, after so many deaths in a row."""
    return min(2.0 ** min(deaths - 1, 10), LONGEST_PAUSE)


class _Child:
    """A web process, and the line on which it says what it listens on and that it is ready."""

    def __init__(self, environment: dict[str, str], listeners: dict[str, int]) -> None:
        self.line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.line.setblocking(False)
        self.process = subprocess.Popen(  # noqa: S603 - our own words
            [*KITH, "serve", "--child"],
            env=environment | environment_of(listeners) | {LINE: str(theirs.fileno())},
            pass_fds=(theirs.fileno(), *listeners.values()),
        )
        theirs.close()
        self.started_at = time.monotonic()
        self.is_ready = self.is_leaving = False


class _Place:
    """One of the processes that are to be there: who has it, who is to take it over, and its sockets."""

    def __init__(self) -> None:
        self.child: _Child | None = None
        self.next: _Child | None = None
        self.listeners: dict[str, int] = {}
        self.deaths = 0
        self.start_at: float | None = 0.0

    def close_listeners(self) -> None:
        for descriptor in self.listeners.values():
            os.close(descriptor)
        self.listeners.clear()


class Keeper:
    def __init__(self, count: int, environment: dict[str, str], folder: str, trial: list[str]) -> None:
        """`trial` is the command that tries whether processes could be replaced."""
        self._environment, self._folder, self._tries = environment, folder, trial
        self._places = [_Place() for _ in range(count)]
        self._selector = selectors.DefaultSelector()
        self._is_stopping = self._is_asked_again = False
        self._trial: subprocess.Popen[bytes] | None = None
        self._turn: list[tuple[_Place, _Child]] = []  # which processes are yet to be replaced

    def run(self) -> None:
        """Until a word to stop has come and all of them have ended."""
        self._hear_signals()
        while not (self._is_stopping and not self._children() and self._trial is None):
            if not self._is_stopping:
                self._start_due()
            for key, _ in self._selector.select(self._patience()):
                key.data()
            self._bury()
            if not self._is_stopping:
                self._go_on()

    def _hear_signals(self) -> None:
        woken, waking = socket.socketpair()
        for one in (woken, waking):
            one.setblocking(False)
        signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
        self._waking = waking

        def hear() -> None:
            with suppress(BlockingIOError):
                for word in woken.recv(4096):
                    if word in (signal.SIGTERM, signal.SIGINT):
                        self._stop()
                    elif word == signal.SIGHUP:
                        self._replace()

        self._selector.register(woken, selectors.EVENT_READ, hear)
        for word in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(word, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})

    def _children(self) -> list[_Child]:
        return [child for place in self._places for child in (place.child, place.next) if child is not None]

    def _stop(self) -> None:
        self._is_stopping = True
        notify("STOPPING=1", os.environ)
        for process in (*(child.process for child in self._children()), self._trial):
            if process is not None:
                process.terminate()

    def _patience(self) -> float | None:
        """Until something is due that nobody will tell of."""
        due = [place.start_at for place in self._places if place.child is None and place.start_at is not None]
        due += [place.next.started_at + READY_SECONDS for place in self._places if place.next is not None]
        return None if not due or self._is_stopping else max(0.0, min(due) - time.monotonic())

    # Starting

    def _start_due(self) -> None:
        for place in self._places:
            if place.child is None and place.start_at is not None and place.start_at <= time.monotonic():
                place.child = self._start(place)

    def _start(self, place: _Place) -> _Child:
        child = _Child(self._environment, place.listeners)
        self._selector.register(child.line, selectors.EVENT_READ, self._hearing(place, child))
        return child

    def _hearing(self, place: _Place, child: _Child) -> Callable[[], None]:
        def hear() -> None:
            words, descriptors, _, _ = socket.recv_fds(child.line, 1024, _MOST_SOCKETS)
            if not words:
                self._selector.unregister(child.line)
            elif words == READY:
                child.is_ready = True
            else:
                for descriptor in descriptors:
                    if (before := place.listeners.get(words.decode())) is not None:
                        os.close(before)
                    place.listeners[words.decode()] = descriptor

        return hear

    # Deaths

    def _bury(self) -> None:
        for place in self._places:
            for child in (place.child, place.next):
                if child is not None and child.process.poll() is not None:
                    self._forget(child)
                    self._fill(place, child)

    def _forget(self, child: _Child) -> None:
        with suppress(KeyError):
            self._selector.unregister(child.line)
        child.line.close()
        mark_process_dead(child.process.pid, self._folder)  # type: ignore[no-untyped-call]
        if not child.is_leaving and not self._is_stopping:
            self._tell(child)

    def _fill(self, place: _Place, child: _Child) -> None:
        if child is place.next:
            place.next = None
            self._give_up("the new process ended before it was ready")
            return
        place.child = place.next
        if place.child is not None:
            place.next = None
            return
        lived = time.monotonic() - child.started_at
        place.deaths = 1 if lived >= LONG_LIFE else place.deaths + 1
        place.start_at = time.monotonic() + pause_after(place.deaths)
        place.close_listeners()

    def _tell(self, child: _Child) -> None:
        code = child.process.returncode
        how = signal.Signals(-code).name if code < 0 else f"exit {code}"
        PROCESS_DEATHS.labels(how).inc()
        _log.error(
            "process.died",
            pid=child.process.pid,
            how=how,
            lived_seconds=round(time.monotonic() - child.started_at, 1),
        )

    # Replacing them

    def _replace(self) -> None:
        """First it is tried whether the program can start as it is now, and the database is brought up for it."""
        if self._trial is not None or self._turn:
            self._is_asked_again = True
        elif not self._is_stopping:
            self._trial = subprocess.Popen(self._tries, env=self._environment)  # noqa: S603 - our own words

    def _go_on(self) -> None:
        if self._trial is not None and (code := self._trial.poll()) is not None:
            self._trial = None
            if code:
                self._give_up("the program cannot start as it is set up now")
            else:
                self._turn = [(place, place.child) for place in self._places if place.child is not None]
        if self._turn:
            self._hand_over(*self._turn[0])
        elif self._trial is None and self._is_asked_again:
            self._is_asked_again = False
            self._replace()

    def _hand_over(self, place: _Place, old: _Child) -> None:
        if place.child is not old:  # that died meanwhile, or has left
            self._turn.pop(0)
            if not self._turn:
                _log.info("processes.replaced", count=len(self._places))
            self._go_on()
        elif place.next is None:
            place.next = self._start(place)
        elif place.next.is_ready and not old.is_leaving:
            old.is_leaving = True
            old.process.send_signal(signal.SIGHUP)
        elif not place.next.is_ready and time.monotonic() - place.next.started_at > READY_SECONDS:
            place.next.process.kill()

    def _give_up(self, why: str) -> None:
        """Those that are not replaced yet go on as they are."""
        self._turn.clear()
        _log.error("processes.not_replaced", cause=why)
