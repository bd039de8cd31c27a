"""A town of several processes over one PostgreSQL: servers behind a balancer, and workers beside them.

`KITH_TEST_NODES=3+2` makes every town on PostgreSQL one of these, so that any test can be run against it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from tests.town.nursery import Child, give_birth
from tests.town.plain import PLAIN
from tests.town.ports import ReservedPort
from tests.town.town import Town

__all__ = ["SeveralTown", "nodes_wanted"]

# What only one process of a machine can listen on.
_ONCE = ("KITH_METRICS_BIND", "KITH_LDAP_BIND", "KITH_LDAPS_BIND", "KITH_RADIUS_BIND", "KITH_GATEWAY_TLS_BIND")


def nodes_wanted() -> tuple[int, int] | None:
    servers, plus, workers = os.environ.get("KITH_TEST_NODES", "").partition("+")
    return (int(servers), int(workers)) if plus else None


class SeveralTown(Town):
    keeps_connections = False  # each request goes to the next server
    servers = 3
    workers = 2

    async def start(self) -> None:
        self._ports = [ReservedPort() for _ in range(self.servers)]
        self.serving: dict[int, Child | subprocess.Popen[bytes]] = {}
        self.working: list[Child | subprocess.Popen[bytes]] = []
        for number in range(self.servers):
            self.start_server(number)
            await self.answering([number])  # the first has prepared the database before the others come
        for _ in range(self.workers):
            self.start_worker()
        self._process = self.serving[0]
        ports = [str(port) for port in (self.port, *(one.number for one in self._ports))]
        program = str(Path(__file__).with_name("balancer.py"))
        self._balancer = subprocess.Popen([sys.executable, "-P", program, *ports], stdin=subprocess.DEVNULL)
        await self._until_it_answers()

    def start_server(self, number: int) -> None:
        """Number `number`, at its own address; again, where it has ended."""
        environment = self.environment | {"KITH_BIND": f"127.0.0.1:{self._ports[number].number}", "KITH_WORKER": "off"}
        if number:
            environment = {name: value for name, value in environment.items() if name not in _ONCE}
        log = self.folder / "server.log"
        self.serving[number] = give_birth("serve", environment=environment, typed=None, said=log, complained=log)

    def start_worker(self) -> None:
        environment = {name: value for name, value in self.environment.items() if name not in _ONCE}
        log = self.folder / "server.log"
        self.working.append(give_birth("work", environment=environment, typed=None, said=log, complained=log))

    async def answering(self, numbers: Sequence[int]) -> None:
        """Until each of these says that it is well."""
        give_up = time.monotonic() + 120
        async with httpx.AsyncClient(timeout=60, verify=PLAIN) as http:
            for number in numbers:
                while time.monotonic() < give_up:
                    with contextlib.suppress(httpx.TransportError):
                        if (await http.get(f"{self.address(number)}/health")).status_code == 200:
                            break
                    await asyncio.sleep(0.02)
                else:
                    raise AssertionError(f"server {number} did not answer:\n{self.log()}")

    def address(self, number: int) -> str:
        """Of one server, past the balancer."""
        return f"http://127.0.0.1:{self._ports[number].number}"

    async def _end(self, word: signal.Signals) -> int:
        everybody = [*self.working, *self.serving.values()]
        for one in everybody:
            one.send_signal(word)
        codes = await asyncio.gather(*(asyncio.to_thread(one.wait, 120) for one in everybody))
        self._balancer.terminate()
        self._balancer.wait(20)
        for port in self._ports:
            port.release()
        self._process = None
        return max(codes, key=abs)
