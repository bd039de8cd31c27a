from __future__ import annotations

import asyncio
import contextlib
import email
import email.policy
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Literal

import httpx

from kith.app import House, open_house
from kith.base.db import Database, connect
from kith.base.db.postgres import Postgres
from kith.base.errors import Unavailable
from kith.base.ids import RENEW_SECONDS, IDs
from kith.base.settings import load
from kith.base.stored_settings import load_stored
from kith.identity.users.passwords import Passwords
from kith.identity.users.service import NewUser, Role
from kith.identity.users.service import create as create_user
from kith.social.accounts import store as accounts
from kith.social.accounts.user_accounts import make as make_account
from kith.social.ids import UserId
from tests.town import postgres
from tests.town.kept_relay import KeptRelay
from tests.town.nursery import Child, give_birth, run
from tests.town.people import Person
from tests.town.ports import ReservedPort
from tests.town.quick_http import QuickTransport
from tests.town.ready_keys import give_key
from tests.town.templates import Stage, give_sealing_key, postgres_template, sqlite_template

Engine = Literal["sqlite", "postgresql"]
WINDOW_SECONDS = 300
SECONDS_FOR_COUNTING = 20

# Thousands of people are made in a run, and most sign in once. A hash says what it cost, so the server checks these
# as it does its own, and replaces them when somebody signs in through a flow.
_CHEAP = Passwords(rounds=1, kibibytes=64)


class Town:
    """Start it, use it, kill it, start it again; what it kept must still be there."""

    keeps_connections = True

    def __init__(self, engine: Engine, folder: Path, database: str, **settings: str) -> None:
        self.engine = engine
        self.folder = folder
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.database = database
        self._settings = settings
        self._process: Child | subprocess.Popen[bytes] | None = None
        self._people = 0
        self._mails: dict[Path, EmailMessage] = {}
        self._database: Database | None = None
        self._ids: IDs | None = None  # kept with it: to lease and release them is most of the work of opening a house
        self._renewed = 0.0
        self._guests = 0  # who are in a house that stands on it
        self.transport = QuickTransport(keeps=self.keeps_connections)
        self.http = httpx.AsyncClient(base_url=self.base_url, timeout=60, transport=self.transport)

    async def close(self) -> None:
        """Nobody will ask it or start it again."""
        await self.transport.end()
        if self.is_running:
            await self.stop()
        await self._close_database()
        self._reserved.release()

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KITH_")}
        settings = {
            "DATA": str(self.folder),
            "BASE_URL": self.base_url,
            "BIND": f"127.0.0.1:{self.port}",
            "DATABASE": self.database,
            "RATE_LIMITS": "off",
            "LOG_FORMAT": "json",
        }
        settings |= {name.upper(): value for name, value in self._settings.items()}
        return kept | {f"KITH_{name}": value for name, value in settings.items()}

    def change(self, **settings: str) -> None:
        """Other settings, for whatever is started next."""
        self._settings |= settings

    # Its life

    async def start(self) -> None:
        log = self.folder / "server.log"
        self._process = give_birth("serve", environment=self.environment, typed=None, said=log, complained=log)
        await self._until_it_answers()

    async def _until_it_answers(self) -> None:
        give_up = time.monotonic() + 120
        while time.monotonic() < give_up:
            assert self._process is not None
            if self._process.poll() is not None:
                raise AssertionError(f"the server ended by itself:\n{self.log()}")
            with contextlib.suppress(httpx.TransportError):
                if (await self.http.get("/health")).status_code == 200:
                    return
            await asyncio.sleep(0.02)
        raise AssertionError(f"the server did not answer:\n{self.log()}")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def stop(self) -> int:
        """Ask it to stop, and wait until it has; its exit code."""
        return await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """As when the power fails."""
        await self._end(signal.SIGKILL)

    async def _end(self, word: signal.Signals) -> int:
        assert self._process is not None
        if self._guests == 0:
            await self._close_database()
        self._process.send_signal(word)
        code = await asyncio.to_thread(self._process.wait, 120)
        self._process = None
        return code

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def log(self) -> str:
        return (self.folder / "server.log").read_text()

    # Its people and its post

    async def sign_up(self, name: str | None = None, *, role: Role = "user") -> Person:
        """A person with an account, made by the operator."""
        self._people += 1
        username = name or f"person{self._people}_{uuid.uuid4().hex[:6]}"
        password = f"correct horse {username}"
        new = NewUser(username=username, email=f"{username}@example.org", password=password, role=role, confirmed=True)
        async with self.house() as house, house.works.begin() as work:
            user = await create_user(work, _CHEAP, new, judged=True)
            await make_account(work, UserId(user.id))
            account = await accounts.find_of_user(work.db, UserId(user.id))
            assert account is not None
            await give_key(work, account.id)
        return Person(self.http, username, password)

    @asynccontextmanager
    async def house(self) -> AsyncIterator[House]:
        """The parts of this town's server, opened beside it as its commands do.

        To open a database takes longer than what most tests do with it, so that of a running server stays open. Where
        nothing runs, nothing stays open: whoever moves or replaces the database does so then.
        """
        settings = load(self.environment)
        if not self.is_running or settings.database_replicas:
            async with open_house(settings, connections=2) as house:
                yield house
            return
        if self._ids is None:
            self._database = self._database or await connect(settings, connections=4)
            self._ids = IDs(self._database)
            await self._ids.lease()
            self._renewed = time.monotonic()
        assert self._database is not None
        house = House(settings, self._database)
        house.ids = house.works.ids = self._ids
        await load_stored(house.works)
        if time.monotonic() - self._renewed > RENEW_SECONDS:
            await self._ids.renew()
            self._renewed = time.monotonic()
        keeping = asyncio.create_task(house.ids.keep())
        relay = KeptRelay(self._database, house.news) if isinstance(self._database, Postgres) else None
        telling = asyncio.create_task(relay.run()) if relay is not None else None
        self._guests += 1
        try:
            yield house
        finally:
            self._guests -= 1
            # Between two tests the loop stands still: nothing may hold the database then.
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            if relay is not None and telling is not None:
                relay.end()
                await telling
            await house.close()
            if self._guests == 0 and not self.is_running:
                await self._close_database()

    @asynccontextmanager
    async def opened_database(self) -> AsyncIterator[Database]:
        """Its database, for whoever only looks. A whole house would lease ids in it first, which is two writes."""
        if not self.is_running:
            opened = await connect(load(self.environment), connections=1)
            try:
                yield opened
            finally:
                await opened.close()
            return
        if self._database is None:
            self._database = await connect(load(self.environment), connections=4)
        self._guests += 1
        try:
            yield self._database
        finally:
            self._guests -= 1
            if self._guests == 0 and not self.is_running:
                await self._close_database()

    async def _close_database(self) -> None:
        if self._ids is not None:
            ids, self._ids = self._ids, None
            with contextlib.suppress(Unavailable):
                await ids.release()
        if self._database is not None:
            await self._database.close()
            self._database = None

    async def owner(self) -> Person:
        return await self.sign_up(role="owner")

    async def kith(self, *words: str, expect: int = 0) -> str:
        """Run a `kith` command beside the server; what it printed."""
        done = await run(*words, environment=self.environment)
        if self.engine == "sqlite" and self.is_running:
            await self._heard()
        assert done.code == expect, f"kith {' '.join(words)} ended with {done.code}: {done.said}{done.complained}"
        return done.said if expect == 0 else done.said + done.complained

    async def _heard(self) -> None:
        """Wait until the server has taken notice of what a command did: it looks four times a second."""
        give_up = time.monotonic() + 10
        with contextlib.closing(sqlite3.connect(f"file:{self.folder / 'kith.sqlite3'}?mode=ro", uri=True)) as database:
            while database.execute("SELECT count(*) FROM base_news").fetchone()[0] and time.monotonic() < give_up:
                await asyncio.sleep(0.02)

    def setup_link(self) -> str:
        found = re.findall(r"(http\S+/setup/\S+)", self.log())
        assert found, self.log()
        return str(found[-1])

    def mails(self) -> list[EmailMessage]:
        """Oldest first. Whoever waits for one asks again and again, so each is read once."""
        for path in (self.folder / "mail").glob("*.eml"):
            if path not in self._mails:
                self._mails[path] = email.message_from_bytes(path.read_bytes(), policy=_MAILS)
        return [self._mails[path] for path in sorted(self._mails)]


class _ReadMail(EmailMessage):
    """A mail that does not change: each header is taken apart once, which would take most of the time of waiting."""

    def get(self, name: str, failobj: Any = None) -> Any:
        known = self.__dict__.setdefault("_known", {})
        if name not in known:
            known[name] = super().get(name)
        return failobj if known[name] is None else known[name]


_MAILS = email.policy.default.clone(message_factory=_ReadMail)


@asynccontextmanager
async def build_town(
    engine: Engine, folder: Path, *, start: bool = True, kind: type[Town] = Town, **settings: str
) -> AsyncIterator[Town]:
    """A town of its own, with a copy of a database that is ready. One that is not started at once has nothing in it yet."""
    folder.mkdir(parents=True, exist_ok=True)
    stage: Stage = "started" if start else "migrated"
    if start:
        give_sealing_key(folder)
    if engine == "sqlite":
        shutil.copy(await sqlite_template(stage), folder / "kith.sqlite3")
        database = "sqlite"
    else:
        name = f"kith_{uuid.uuid4().hex[:12]}"
        database = await postgres.create_database(name, template=await postgres_template(stage))
    town = kind(engine, folder, database, **settings)
    if settings.get("rate_limits") == "on":
        await _early_in_a_window()
    try:
        if start:
            await town.start()
        yield town
    finally:
        await town.close()
        if engine == "postgresql":
            await postgres.drop_database(name)


async def _early_in_a_window() -> None:
    """Counts begin anew every five minutes; what a test counts should not be cut in two by that."""
    left = WINDOW_SECONDS - time.time() % WINDOW_SECONDS
    if left < SECONDS_FOR_COUNTING:
        await asyncio.sleep(left)
