"""One soak: load without end, a fault now and then, a look at everything in between and at the end."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from soak.acts import ACTS, Community
from soak.audit import Audit
from soak.community import Size, make_community
from soak.faults import Saboteur
from soak.ledger import Ledger
from soak.listening import Listener
from soak.people import Asker, Person
from soak.plan import Fault, plan
from soak.report import Report, made_of
from soak.staff import Staff
from soak.town import Stage, open_stage
from soak.watch import Watch
from soak.windows import Windows
from tests.social.push_service import Device, open_service
from tests.town.town import Engine

__all__ = ["Options", "soak"]

_AUDIT_EVERY_SECONDS = 240.0
_BACKUP_EVERY_SECONDS = 150.0


class Options(msgspec.Struct, frozen=True, kw_only=True):
    engine: Engine
    seconds: float
    faults: tuple[str, ...]
    seed: int
    folder: Path
    size: Size = Size()
    pause_seconds: float = 0.7  # between two acts of a person, on average


class Gate:
    """Shut while everything is looked at: whoever acts finishes what they have begun, and waits."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._busy = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @asynccontextmanager
    async def passing(self) -> AsyncIterator[None]:
        await self._open.wait()
        self._busy += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._busy -= 1
            if not self._busy:
                self._idle.set()

    @asynccontextmanager
    async def shut(self) -> AsyncIterator[None]:
        self._open.clear()
        try:
            await self._idle.wait()
            yield
        finally:
            self._open.set()


async def soak(options: Options, stop: asyncio.Event, tell: Callable[[str], None]) -> Report:
    """Until its time is over or `stop` is set; either way everything is looked at once more."""
    options.folder.mkdir(parents=True, exist_ok=True)
    ledger, windows = Ledger(options.folder / "ledger.jsonl"), Windows()
    tell(f"starting a town on {options.engine}, seed {options.seed}")
    stack = AsyncExitStack()
    stack.callback(ledger.close)
    async with (
        stack,
        open_stage(options.engine, options.folder) as stage,
        open_service() as pushes,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=5)) as session,
    ):
        asker = Asker(ledger, windows, session)
        community, staff = await make_community(stage, asker, options.seed, options.size)
        device = await _subscribe(pushes.device(), community.core[0])
        tell(f"{len(community.core)} people act; the log of what was accepted is {options.folder / 'ledger.jsonl'}")
        soaking = Soaking(options, stage, ledger, windows, community, staff, tell)
        await soaking.go_on_until(stop)
        return await soaking.end(device)


async def _subscribe(device: Device, me: Person) -> Device:
    sent = {"subscription": device.subscription | {"standard": True}, "data": {"alerts": _ALERTS}}
    answer = await me.ask("set-up", "POST", "/api/v1/push/subscription", json=sent)
    if not answer.is_yes:
        raise RuntimeError(f"no push subscription: {answer}")
    return device


_ALERTS = {"mention": True, "favourite": True, "reblog": True, "follow": True}


class Soaking:
    def __init__(
        self,
        options: Options,
        stage: Stage,
        ledger: Ledger,
        windows: Windows,
        community: Community,
        staff: Staff,
        tell: Callable[[str], None],
    ) -> None:
        self._options, self._stage, self._ledger, self._windows = options, stage, ledger, windows
        self._community, self._staff, self._tell = community, staff, tell
        self._gate = Gate()
        self._watch = Watch(stage, windows, ledger)
        self._audit = Audit(stage, ledger, community, staff)
        self._saboteur = Saboteur(stage, windows, ledger, community.core[0])
        self._listeners = [Listener(me, socket=bool(number % 2)) for number, me in enumerate(community.core)]
        self._backups = 0
        self.left_out: dict[str, str] = {}

    async def go_on_until(self, stop: asyncio.Event) -> None:
        dice = random.Random(self._options.seed)
        going_on = [
            self._watch.look(),
            *(listener.listen() for listener in self._listeners),
            *(self._act(me, random.Random(dice.random())) for me in self._community.core),
            self._act_as_staff(random.Random(dice.random())),
        ]
        tasks = [asyncio.create_task(one) for one in going_on]
        breaking = asyncio.create_task(self._break_things())
        ending = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({*tasks, breaking, ending}, return_when=asyncio.FIRST_COMPLETED)
            await _end(breaking)  # what it broke is mended
            self._tell("everybody finishes what they have begun")
            async with self._gate.shut():
                await _end(ending, *tasks)
        finally:
            await asyncio.gather(*(_end(one) for one in (ending, *tasks)), return_exceptions=True)

    async def _act(self, me: Person, dice: random.Random) -> None:
        acts, weights = list(ACTS), list(ACTS.values())
        while True:
            async with self._gate.passing():
                [act] = dice.choices(acts, weights)
                await act(self._community, me)
            await asyncio.sleep(dice.expovariate(1 / self._options.pause_seconds))

    async def _act_as_staff(self, dice: random.Random) -> None:
        acts, weights = list(self._staff.acts), list(self._staff.acts.values())
        while True:
            async with self._gate.passing():
                [act] = dice.choices(acts, weights)
                await act()
            await asyncio.sleep(dice.expovariate(1 / self._options.pause_seconds))

    async def _break_things(self) -> None:
        started_at = audited_at = backed_up_at = time.monotonic()
        for fault in self._planned():
            await asyncio.sleep(max(0.0, started_at + fault.at - time.monotonic()))
            if time.monotonic() - started_at > self._options.seconds:
                return
            await self._saboteur.do(fault)
            self._tell(f"{self._ledger.faults[-1]}")
            if time.monotonic() - backed_up_at > _BACKUP_EVERY_SECONDS:
                await self._until_calm()
                await self._back_up()
                backed_up_at = time.monotonic()
            if time.monotonic() - audited_at > _AUDIT_EVERY_SECONDS:
                await self._until_calm()
                async with self._gate.shut():
                    await self._audit.look(is_end=False)
                audited_at = time.monotonic()
                self._tell(f"looked at everything: {sum(self._ledger.counted.values())} violations")
        await asyncio.sleep(max(0.0, started_at + self._options.seconds - time.monotonic()))

    def _planned(self) -> list[Fault]:
        kinds = []
        for kind in self._options.faults:
            if why := self._saboteur.why_not(kind):
                self.left_out[kind] = why
                self._tell(f"left out: {kind}, as {why}")
            else:
                kinds.append(kind)
        return plan(self._options.seed, self._options.seconds, kinds)

    async def _until_calm(self) -> None:
        while not self._windows.is_calm:
            await asyncio.sleep(0.5)

    async def _back_up(self) -> None:
        """While people go on; and lists are written to files."""
        for words in (
            ("backup", "make", str(self._options.folder / "backups")),
            ("export", "people", "--output", str(self._options.folder / f"people{self._backups}.csv")),
        ):
            try:
                await self._stage.here.town.kith(*words)
            except AssertionError as error:
                self._ledger.violated("a command failed", str(error)[-800:])
        self._backups += 1

    async def end(self, device: Device) -> Report:
        self._tell("looking at everything, once all that waits is done")
        looking = asyncio.create_task(self._watch.look())
        try:
            await self._until_calm()
            if self._options.seconds > 60:
                await self._back_up()
            await self._audit.look(is_end=True)
            await self._audit.look_outside(self._options.folder / "backups" if self._backups else None)
        finally:
            looking.cancel()
        return made_of(
            self._options.engine,
            self._options.seed,
            self._ledger,
            self._stage,
            self._watch,
            self._listeners,
            device,
            {"backups": self._backups, "left out": self.left_out, "settling s": self._audit.settling},
        )


async def _end(*tasks: asyncio.Task[Any]) -> None:
    """One that has failed by itself fails the soak."""
    for task in tasks:
        task.cancel()
    for task in tasks:
        with contextlib.suppress(asyncio.CancelledError):
            await task
