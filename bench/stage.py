"""The servers under measurement: the two baselines and a town on each database, all running side by side."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import msgspec

from bench import load
from bench.memory import Memory, memory_of
from kith.app import House, open_house
from kith.base.settings import load as load_settings
from kith.identity.users import service, store
from kith.identity.users.passwords import Passwords
from tests.town import Town, build_town
from tests.town.town import Engine

ENGINES: tuple[Engine, ...] = ("sqlite", "postgresql")
ROOT = Path(__file__).parent.parent
USERS = 1_000
PAGE = "/api/v2/core/users/?limit=20"
NAME, PASSWORD = "bench", "correct horse bench"
SETTLE_SECONDS = 1.5
GIVE_UP_SECONDS = 30.0


class Burst(msgspec.Struct, frozen=True):
    """What one burst of load showed."""

    rate: float
    cpu_us: float
    p50_ms: float
    p99_ms: float
    client_share: float


class Candidate(msgspec.Struct, frozen=True):
    """One thing to ask of one server."""

    name: str
    pid: int
    port: int
    path: str
    credentials: str | None = None
    bearer: str | None = None
    cookie: str | None = None

    @property
    def request(self) -> str:
        lines = [f"GET {self.path} HTTP/1.1", f"host: {load.HOST}:{self.port}"]
        if self.credentials is not None:
            lines.append(f"authorization: Basic {base64.b64encode(self.credentials.encode()).decode()}")
        if self.bearer is not None:
            lines.append(f"authorization: Bearer {self.bearer}")
        if self.cookie is not None:
            lines.append(f"cookie: {self.cookie}")
        return "\r\n".join(lines) + "\r\n\r\n"

    async def burst(self, seconds: float) -> Burst:
        told = {
            "port": self.port,
            "pid": self.pid,
            "request": self.request,
            "connections": load.CONNECTIONS,
            "seconds": seconds,
        }
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-I", "-S", load.__file__],
            input=json.dumps(told).encode(),
            capture_output=True,
            check=False,
            timeout=seconds + GIVE_UP_SECONDS,
        )
        if done.returncode:
            raise RuntimeError(f"the load on {self.name} failed:\n{done.stderr.decode()}")
        return msgspec.json.decode(done.stdout, type=Burst)


class Baseline:
    """One of the baselines, running."""

    def __init__(self, module: str, *words: str) -> None:
        self.port = _free_port()
        self._process = subprocess.Popen([sys.executable, "-m", module, str(self.port), *words], cwd=ROOT)

    @property
    def pid(self) -> int:
        return self._process.pid

    async def until_it_answers(self) -> None:
        async with httpx.AsyncClient(base_url=f"http://{load.HOST}:{self.port}") as http:
            await until_200(http, "/")

    async def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(self._process.wait, 30)


@asynccontextmanager
async def baseline(module: str, *words: str) -> AsyncIterator[Baseline]:
    server = Baseline(module, *words)
    try:
        await server.until_it_answers()
        yield server
    finally:
        await server.stop()


class Stage:
    """Everything that serves, and what each weighed before it had served anybody."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self.pids: dict[str, int] = {}
        self.idle: dict[str, Memory] = {}
        self.is_warm = False

    async def warm(self, seconds: float) -> None:
        """One burst each, for whoever needs the servers to have served."""
        if not self.is_warm:
            for candidate in self.candidates:
                await candidate.burst(seconds)
        self.is_warm = True


@asynccontextmanager
async def open_stage(folder: Path) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        stage = Stage()
        towns = [
            await stack.enter_async_context(build_town(engine, folder / engine, start=False)) for engine in ENGINES
        ]
        plain = await stack.enter_async_context(baseline("bench.bare"))
        stage.pids["bare"] = plain.pid
        stage.candidates.append(Candidate("bare", plain.pid, plain.port, "/"))
        for town in towns:
            await _people(town)
            await town.start()
            await until_200(town.http, "/health/ready")
            stage.pids[town.engine] = town.pid
        await asyncio.sleep(SETTLE_SECONDS)
        stage.idle = {name: memory_of(pid) for name, pid in stage.pids.items()}
        listed = await _listed(towns[0], folder / "listed.json")
        encoding = await stack.enter_async_context(baseline("bench.encoding", str(listed)))
        stage.candidates.append(Candidate("encoding", encoding.pid, encoding.port, "/"))
        stage.candidates.extend(candidate for town in towns for candidate in _asked_of(town))
        yield stage


def _asked_of(town: Town) -> list[Candidate]:
    """`users` asks for the same page again and again; `fresh` for one that nobody has asked for before, so
    that no kept answer can serve."""
    credentials = f"{NAME}:{PASSWORD}"
    asked = {
        "health": ("/health", None),
        "users": (PAGE, credentials),
        "fresh": (f"{PAGE}&n={{number}}", credentials),
    }
    return [Candidate(f"{town.engine}.{name}", town.pid, town.port, path, who) for name, (path, who) in asked.items()]


async def _listed(town: Town, file: Path) -> Path:
    """The page that Kith answers, for the baseline to encode."""
    answer = await town.http.get(PAGE, auth=(NAME, PASSWORD))
    answer.raise_for_status()
    if len(answer.json()["results"]) != 20:
        raise RuntimeError(f"not a full page: {answer.text}")
    file.write_bytes(answer.content)
    return file


async def _people(town: Town) -> None:
    """An owner, and others who share the hash of the owner's password: hashing is not what is measured."""
    async with open_house_of(town) as house, house.works.begin() as work:
        owner = await service.create(
            work,
            house.find(Passwords),
            service.NewUser(username=NAME, password=PASSWORD, role="owner", confirmed=True),
        )
        for number in range(1, USERS):
            await store.insert(
                work.db,
                {
                    "uuid": str(uuid.uuid4()),
                    "username": f"person{number:04}",
                    "name": f"Person {number}",
                    "email": f"person{number:04}@example.org",
                    "password": owner.password,
                    "is_active": True,
                    "role": "user",
                    "type": "internal",
                    "path": "users",
                    "attributes": {"locale": "en", "number": number},
                    "created_at": work.now,
                    "updated_at": work.now,
                    "last_login_at": None,
                    "password_changed_at": work.now,
                    "confirmed_at": work.now,
                    "approved_at": work.now,
                },
            )


@asynccontextmanager
async def open_house_of(town: Town) -> AsyncIterator[House]:
    """The town's insides, in this process, while its server does not run."""
    settings = load_settings(
        {name: text for name, text in town.environment.items() if name.startswith("KITH_")}, town.folder
    )
    async with open_house(settings) as house:
        yield house


async def until_200(http: httpx.AsyncClient, path: str) -> None:
    give_up = time.monotonic() + GIVE_UP_SECONDS
    while time.monotonic() < give_up:
        with contextlib.suppress(httpx.TransportError):
            if (await http.get(path)).status_code == 200:
                return
        await asyncio.sleep(0.01)
    raise RuntimeError(f"{http.base_url}{path} did not answer")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((load.HOST, 0))
        return int(probe.getsockname()[1])
