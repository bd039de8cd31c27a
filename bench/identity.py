"""Large collections: what sorting, searching and paging deep cost beside a plain page; making many people."""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from bench.report import Result, Target, result
from kith.app import open_house
from kith.base.paging import OffsetPage
from kith.base.settings import load as load_settings
from kith.base.work import Work
from kith.identity.collections import RESOURCES
from kith.identity.rest.list_query import ListQuery
from kith.identity.rest.record_store import RecordStore
from kith.identity.users import store
from tests.town import Town, build_town
from tests.town.town import Engine

ENGINES: tuple[Engine, ...] = ("sqlite", "postgresql")
USERS = "/api/v2/core/users/"
PEOPLE = 100_000
ASKED = {
    "plain": "limit=100",
    "sorted and searched": "limit=100&ordering=-email,name&search=9{n:03}",
    "page 900": "limit=100&offset=89900",
}
TARGETS = {"sorted and searched": Target(most=3, of_ratio=True), "page 900": Target(most=5, of_ratio=True)}


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    found: list[Result] = []
    for engine in ENGINES:
        async with build_town(engine, folder / f"identity-{engine}") as town:
            ada = await town.owner()
            await fill_with_people(town, PEOPLE // (10 if quick else 1))
            async with httpx.AsyncClient(base_url=town.base_url, auth=(ada.username, ada.password)) as client:
                found += await _lists(client, engine, rounds=9 if quick else 31)
                found += await _creating(client, engine, count=100 if quick else 1_000)
            found += await _queries(town, engine)
    return found


async def fill_with_people(town: Town, count: int) -> None:
    async with town.house() as house:
        for start in range(0, count, 5_000):
            async with house.works.begin() as work:
                await store.insert_many(work.db, [_person(work, number) for number in range(start, start + 5_000)])
    if town.engine == "postgresql":
        # What PostgreSQL does by itself after a while.
        connection = await asyncpg.connect(town.database)
        await connection.execute("VACUUM ANALYZE identity_users")
        await connection.close()


def _person(work: Work, number: int) -> dict[str, Any]:
    name = f"person{number:06}"
    moments = dict.fromkeys(("created_at", "updated_at", "confirmed_at", "approved_at"), work.now)
    nothing = dict.fromkeys(("password", "last_login_at", "password_changed_at"))
    return moments | nothing | {
        "uuid": str(uuid.uuid4()), "username": name, "name": f"Number {number}", "email": f"{name}@example.org",
        "is_active": True, "role": "user", "type": "internal", "path": "users", "attributes": {},
    }  # fmt: skip


async def _lists(client: httpx.AsyncClient, engine: Engine, *, rounds: int) -> list[Result]:
    times: dict[str, list[float]] = {name: [] for name in ASKED}
    for number in range(rounds):
        for name, query in ASKED.items():
            # The number makes each address new, so that no kept answer is measured.
            started_at = time.perf_counter()
            answer = await client.get(f"{USERS}?{query.format(n=number)}&fresh={number}")
            times[name].append((time.perf_counter() - started_at) * 1000)
            answer.raise_for_status()
    return [
        result(
            f"identity.{engine}.{name}", values, "ms",
            baseline=None if name == "plain" else (f"identity.{engine}.plain", times["plain"]),
            target=TARGETS.get(name),
        )
        for name, values in times.items()
    ]  # fmt: skip


async def _creating(client: httpx.AsyncClient, engine: Engine, *, count: int) -> list[Result]:
    found = []
    for name, extra, many in (
        ("create", {}, count),
        ("create with password", {"password": "correct horse"}, count // 10),
    ):
        started_at = time.perf_counter()
        for number in range(many):
            body = {"username": f"{name.replace(' ', '')}{number}", "name": "N", **extra}
            (await client.post(USERS, json=body)).raise_for_status()
        found.append(result(f"identity.{engine}.{name}", [many / (time.perf_counter() - started_at)], "users/s"))
    return found


async def _queries(town: Town, engine: Engine) -> list[Result]:
    """How many statements a page of 100 takes; it must not depend on what the records refer to."""
    async with open_house(load_settings(town.environment)) as house:
        found = []
        for resource in RESOURCES:
            if resource.path not in ("/core/users/", "/core/groups/", "/flows/instances/", "/core/applications/"):
                continue
            records = RecordStore(resource)
            counting = _Counting(house.works.open())
            asked = await ListQuery.read(records, counting.work, {})
            await asked.fetch(counting.work, OffsetPage.read(b"limit=100"))
            found.append(result(f"identity.{engine}.page of {resource.path}", [counting.count], "statements"))
    return found


class _Counting:
    """A work whose session counts what it is asked."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.count = 0
        self._inner = work.db
        work.db = self

    def __getattr__(self, name: str) -> Any:
        self.count += 1
        return getattr(self._inner, name)
