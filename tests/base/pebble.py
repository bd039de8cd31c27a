"""Pebble, the ACME server that Let's Encrypt's authors wrote for tests: strict, and now and then it refuses a nonce."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

import httpx

from tests.social.push_service import self_signed
from tests.town.debian import find_program
from tests.town.ports import ReservedPort

__all__ = ["Pebble", "pebble"]


class Pebble:
    def __init__(self, folder: Path, http_port: int) -> None:
        self._folder, self._http_port = folder, http_port
        self._ports = ReservedPort(), ReservedPort()
        folder.mkdir()
        _, self.authority = self_signed(folder, "pebble")  # for its own address
        self.directory = f"https://127.0.0.1:{self._ports[0].number}/dir"
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self, *, quick: bool = True) -> None:
        """`quick`: it validates at once, and not after some seconds."""
        listening, management = self._ports
        settings = {
            "listenAddress": f"127.0.0.1:{listening.number}",
            "managementListenAddress": f"127.0.0.1:{management.number}",
            "certificate": str(self._folder / "pebble-server.pem"),
            "privateKey": str(self._folder / "pebble-server.pem"),
            "httpPort": self._http_port,
            "tlsPort": 1,
            "ocspResponderURL": "",
            "externalAccountBindingRequired": False,
        }
        file = self._folder / "pebble.json"
        file.write_text(json.dumps({"pebble": settings}))
        with (self._folder / "pebble.log").open("ab") as log:
            self._process = self._run(file, log, quick=quick)
        async with asyncio.timeout(30):
            while True:
                try:
                    self.root = await self._get_root()
                except httpx.TransportError:
                    await asyncio.sleep(0.05)
                else:
                    return

    @staticmethod
    def _run(file: Path, log: BinaryIO, *, quick: bool) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [find_program("pebble", "pebble"), "-strict", "-config", str(file)],
            env=os.environ | ({"PEBBLE_VA_NOSLEEP": "1"} if quick else {}),
            stdout=log,
            stderr=subprocess.STDOUT,
        )

    async def _get_root(self) -> str:
        context = ssl.create_default_context(cafile=str(self.authority))
        async with httpx.AsyncClient(verify=context) as http:
            return (await http.get(f"https://127.0.0.1:{self._ports[1].number}/roots/0")).text

    async def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
            self._process = None

    def log(self) -> str:
        return (self._folder / "pebble.log").read_text()

    def release(self) -> None:
        for port in self._ports:
            port.release()


@asynccontextmanager
async def pebble(folder: Path, http_port: int) -> AsyncIterator[Pebble]:
    made = Pebble(folder, http_port)
    try:
        await made.start()
        yield made
    finally:
        await made.stop()
        made.release()
