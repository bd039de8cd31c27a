from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import msgspec

from kith.app import open_house
from kith.base.db import Session, connect
from kith.base.settings import load
from kith.identity.users import service
from tests.town import Person, Town

KITH = [sys.executable, "-c", "import sys; from kith.cli import main; sys.exit(main())"]


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    said: str
    complained: str

    @property
    def json(self) -> Any:
        assert self.said.count("\n") == 1, self
        return msgspec.json.decode(self.said)


async def kith(town: Town, *words: str, typed: str = "", **settings: str) -> Done:
    """Run a `kith` command without a terminal, `typed` on its standard input."""
    process = await asyncio.create_subprocess_exec(
        *KITH,
        *words,
        env=town.environment | {f"KITH_{name.upper()}": value for name, value in settings.items()},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, complained = await process.communicate(typed.encode())
    assert process.returncode is not None
    return Done(process.returncode, said.decode(), complained.decode())


async def settle(town: Town, *names: str, role: service.Role) -> Person:
    """People who are there already; the last of them."""
    async with open_house(load(town.environment), connections=2) as house, house.works.begin() as work:
        for name in names:
            new = service.NewUser(username=name, email=f"{name}@example.org", password="open sesame", role=role)
            await service.create(work, house.passwords, new)
    return Person(town.http, names[-1], "open sesame")


@asynccontextmanager
async def database(town: Town) -> AsyncIterator[Session]:
    """The town's database, behind its back; what was done is kept."""
    opened = await connect(load(town.environment), connections=1)
    session = opened.session()
    try:
        yield session
        await session.commit()
    finally:
        await session.rollback()
        await opened.close()
