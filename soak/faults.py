"""The faults themselves: each breaks something for a while and mends it."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Awaitable, Callable

from soak.acts import upload
from soak.ledger import Ledger
from soak.people import Person
from soak.plan import Fault
from soak.town import Stage
from soak.windows import Windows

__all__ = ["Saboteur"]

# How long after its end a fault may still be felt. A process that could not renew its slot of ids does so every
# ten seconds.
_GRACE = {"kill": 4.0, "database": 15.0, "disk": 15.0, "slow-disk": 10.0, "network": 5.0, "clock": 15.0}


class Saboteur:
    def __init__(self, stage: Stage, windows: Windows, ledger: Ledger, prober: Person) -> None:
        self._stage, self._windows, self._ledger, self._prober = stage, windows, ledger, prober
        self._kinds: dict[str, Callable[[Fault], Awaitable[str]]] = {
            "kill": self._kill,
            "database": self._database,
            "disk": self._disk,
            "slow-disk": self._slow_disk,
            "network": self._network,
            "clock": self._clock,
        }

    def why_not(self, kind: str) -> str | None:
        """What this machine cannot do."""
        if kind == "disk" and not self._stage.can_fill:
            return "this user may not mount"
        if kind in ("slow-disk", "clock") and not self._stage.can_bend:
            return "there is no C compiler"
        return None

    async def do(self, fault: Fault) -> None:
        window = self._windows.open(fault.kind, _GRACE[fault.kind])
        began = self._ledger.now
        try:
            words = await self._kinds[fault.kind](fault)
        finally:
            self._windows.close(window)
        done = {"at": round(began, 1), "kind": fault.kind, "seconds": round(self._ledger.now - began, 1), "what": words}
        self._ledger.faults.append(done)
        self._ledger.write(fault=done)

    async def _kill(self, fault: Fault) -> str:
        """One process, most often of the server under soak; it is started again a little later."""
        site = self._stage.there if fault.number % 5 == 0 else self._stage.here
        process = site.processes[fault.number // 5 % len(site.processes)]
        await process.kill()
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            process.start()
            await process.until_it_answers()
        return process.name

    async def _database(self, fault: Fault) -> str:
        """PostgreSQL ends at once and comes back. SQLite has nothing to restart: another program holds its pen."""
        site = self._stage.here
        if site.postgres is not None:
            await site.postgres.stop()
            try:
                await asyncio.sleep(fault.seconds)
            finally:
                await site.postgres.start()
            return "PostgreSQL restarted"
        connection = sqlite3.connect(site.disk.folder / "kith.sqlite3", timeout=20, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            await asyncio.sleep(fault.seconds)
            connection.execute("ROLLBACK")
        finally:
            connection.close()
        return "SQLite locked by another program"

    async def _disk(self, fault: Fault) -> str:
        """Full to the last byte. Whoever reads is answered; whoever brings a file is told that there is no room."""
        for disk in self._stage.disks:
            disk.fill()
        try:
            refused = 0
            for _ in range(max(2, int(fault.seconds / 2))):
                await asyncio.sleep(fault.seconds / max(2, int(fault.seconds / 2)))
                for disk in self._stage.disks:
                    disk.fill()  # what was given back meanwhile
                refused += await self._probe()
        finally:
            for disk in self._stage.disks:
                disk.empty()
        return f"{refused} uploads refused with 507"

    async def _probe(self) -> int:
        me = self._prober
        for path in ("/api/v1/timelines/home", "/api/v1/notifications", "/api/v1/accounts/verify_credentials"):
            answer = await me.ask("read, disk full", "GET", path)
            if not answer.is_yes:
                self._ledger.violated("reading failed on a full disk", f"{path}: {answer}")
        before = self._ledger.answers["upload", "507"]
        if await upload(me) is not None:
            self._ledger.violated("a file was taken on a full disk", "upload answered with 200")
        return self._ledger.answers["upload", "507"] - before

    async def _slow_disk(self, fault: Fault) -> str:
        seconds = (0.02, 0.1, 0.3)[fault.number % 3]
        controls = [one.control for one in self._stage.here.processes]
        if self._stage.postgres_control is not None:
            controls.append(self._stage.postgres_control)
        for control in controls:
            control.tell(flush_seconds=seconds)
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            for control in controls:
                control.tell(flush_seconds=0)
        return f"{seconds * 1000:.0f} ms for every flush"

    async def _network(self, fault: Fault) -> str:
        roads = [self._stage.road(site) for site in self._stage.sites]
        chosen = [roads, roads[:1], roads[1:]][fault.number % 3]
        words = ["both ways", "towards here", "towards the peer"][fault.number % 3]
        is_slow = fault.number // 3 % 4 == 0
        for road in chosen:
            if is_slow:
                road.delay_seconds = 1.5
            else:
                road.cut()
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            for road in roads:
                road.mend()
        return f"{'slow' if is_slow else 'cut'} {words}"

    async def _clock(self, fault: Fault) -> str:
        """One process is minutes ahead or behind, the others seconds apart; then all are right again at once."""
        minutes = (2, -2, 1, -1)[fault.number % 4]
        processes = self._stage.here.processes
        ahead = processes[fault.number // 4 % len(processes)]
        for number, process in enumerate(processes):
            process.control.tell(clock_seconds=minutes * 60 if process is ahead else (number - 2) * 1.5)
        try:
            await asyncio.sleep(fault.seconds)
        finally:
            for process in processes:
                with contextlib.suppress(OSError):
                    process.control.tell(clock_seconds=0)
        return f"{ahead.name} {minutes:+d} min"
