"""Processes of Kith that are started as an operator starts them, killed, and started again; what each weighs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import msgspec

from soak.shim import Control
from tests.town.plain import PLAIN
from tests.town.ports import ReservedPort

__all__ = ["Process", "Weight"]

_PAGE = os.sysconf("SC_PAGE_SIZE")
_PATIENCE_SECONDS = 120.0
_CACHE_BYTES = re.compile(r"^kith_cache_bytes\{[^}]*\} (\S+)$", re.MULTILINE)
_COMMAND = "import sys; from kith.cli import main; sys.argv[0] = 'kith'; sys.exit(main())"


class Weight(msgspec.Struct, frozen=True):
    """What a process held at a moment, itself and what it had started."""

    at: float
    seconds_alive: float
    memory: int
    files: int
    cached: int  # of the memory, what caches hold: each has a limit


class Process:
    """`kith serve` or `kith work`."""

    def __init__(
        self, name: str, word: str, environment: dict[str, str], log: Path, control: Control, metrics: ReservedPort
    ) -> None:
        self.name, self.control = name, control
        self._metrics = f"http://127.0.0.1:{metrics.number}/metrics"
        bind = {"KITH_METRICS_BIND" if word == "serve" else "KITH_WORK_METRICS_BIND": f"127.0.0.1:{metrics.number}"}
        self.port = int(environment["KITH_BIND"].rpartition(":")[2]) if word == "serve" else None
        self._words = [sys.executable, "-P", "-c", _COMMAND, word]
        self._environment, self._log = environment | control.environment | bind, log
        self._process: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self.weights: list[list[Weight]] = []  # of each of its lives
        self._cached = 0

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._words,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,  # Ctrl-C is for the soak
            )
        self._started_at = time.monotonic()
        self.weights.append([])
        self._cached = 0

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def has_ended_by_itself(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    async def kill(self) -> None:
        """As when the power fails."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> None:
        await self._end(signal.SIGTERM)

    async def _end(self, word: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(word)
        try:
            await asyncio.to_thread(self._process.wait, 60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait, 10)
        self._process = None

    async def until_it_answers(self) -> None:
        if self.port is None:
            return
        give_up = time.monotonic() + _PATIENCE_SECONDS
        async with httpx.AsyncClient(timeout=10, verify=PLAIN) as http:
            while time.monotonic() < give_up and self.is_running:
                with contextlib.suppress(httpx.TransportError):
                    if (await http.get(f"http://127.0.0.1:{self.port}/health")).status_code == 200:
                        return
                await asyncio.sleep(0.1)
        raise RuntimeError(f"{self.name} did not answer; see {self._log}")

    def weigh(self) -> None:
        if not self.is_running:
            return
        with contextlib.suppress(OSError, ValueError, IndexError):  # it ended meanwhile
            folder = Path("/proc") / str(self.pid)
            memory = int((folder / "statm").read_text().split()[1]) * _PAGE
            files = len(list((folder / "fd").iterdir()))
            now = time.monotonic()
            self.weights[-1].append(Weight(now, now - self._started_at, memory, files, self._cached))

    async def ask_caches(self, http: httpx.AsyncClient) -> None:
        """A server that is busy or gone says nothing: then what it said before is held true."""
        with contextlib.suppress(httpx.HTTPError):
            told = (await http.get(self._metrics)).text
            self._cached = int(sum(map(float, _CACHE_BYTES.findall(told))))
