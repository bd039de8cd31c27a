from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kith.app import open_house
from kith.base.db import Session, connect
from kith.base.settings import load
from kith.identity.users import service
from kith.identity.users.passwords import Passwords
from tests.town import Person, Town
from tests.town.nursery import Done, run


async def kith(town: Town, *words: str, typed: str = "", **settings: str) -> Done:
    """Run a `kith` command without a terminal, `typed` on its standard input."""
    environment = town.environment | {f"KITH_{name.upper()}": value for name, value in settings.items()}
    return await run(*words, environment=environment, typed=typed)


async def settle(town: Town, *names: str, role: service.Role) -> Person:
    """People who are there already; the last of them."""
    async with open_house(load(town.environment), connections=2) as house:
        for name in names:
            new = service.NewUser(username=name, email=f"{name}@example.org", password="open sesame", role=role)
            async with house.works.begin() as work:
                await service.create(work, house.find(Passwords), new)
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
