"""Copying a large directory: entries in a second, and what the server weighs while it does."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.memory import memory_of
from bench.report import Result, Target, result
from tests.identity.slapd import ADMIN, ADMIN_PASSWORD, BASE, Slapd, group, person, running
from tests.town import Person, Town, build_town

GROWTH_TARGET = Target(most=80)
API = "/api/v2/sources/ldap/"
_IN_A_GROUP = 10


async def measure(folder: Path, *, quick: bool) -> list[Result]:
    """The first copy makes everybody, the second finds everybody as they are, and a rehearsal writes nothing."""
    people, groups = (2_000, 200) if quick else (20_000, 2_000)
    entries = [person(f"p{number:05}") for number in range(people)]
    entries += [
        group(f"g{number:04}", [f"p{(number * _IN_A_GROUP + more) % people:05}" for more in range(_IN_A_GROUP)])
        for number in range(groups)
    ]
    async with (
        running(folder / "directory", entries) as slapd,
        build_town("sqlite", folder / "directory-town", private_hosts="127.0.0.1") as town,
    ):
        return await _copied(town, slapd, people + groups)


async def _copied(town: Town, slapd: Slapd, count: int) -> list[Result]:
    owner = await town.owner()
    before = memory_of(town.pid).rss
    source = await _source(owner, slapd)
    first, peak = await _until_done(town, owner, source, None)
    second, peak_again = await _until_done(town, owner, source, first)
    started = time.monotonic()
    answer = await owner.call("POST", f"{API}{source}/sync/", json={"rehearse": True}, timeout=600)
    rehearsed = time.monotonic() - started
    assert answer.json()["users"] == {"create": 0, "update": 0, "delete": 0}, answer.text
    return [
        result("directory.first.rate", [count / first], "entries/s"),
        result("directory.unchanged.rate", [count / second], "entries/s"),
        result("directory.rehearsal.rate", [count / rehearsed], "entries/s"),
        result("directory.growth", [max(peak, peak_again) - before], "MB", target=GROWTH_TARGET),
    ]


async def _source(owner: Person, slapd: Slapd) -> str:
    given = {
        "name": "directory",
        "slug": "directory",
        "server_uri": slapd.uri,
        "bind_cn": ADMIN,
        "bind_password": ADMIN_PASSWORD,
        "base_dn": BASE,
        "user_object_filter": "(objectClass=inetOrgPerson)",
        "group_object_filter": "(objectClass=groupOfNames)",
        "object_uniqueness_field": "entryUUID",
        "enabled": False,
    }
    answer = await owner.call("POST", API, json=given)
    assert answer.status_code == 201, answer.text
    await owner.call("PATCH", f"{API}{answer.json()['pk']}/", json={"enabled": True})
    return str(answer.json()["pk"])


async def _until_done(town: Town, owner: Person, source: str, before: float | None) -> tuple[float, float]:
    """How long a run took by its own clock, and what the server weighed at most."""
    seen = await _progress(owner, source) if before is not None else None
    if before is not None:
        await owner.call("POST", f"{API}{source}/sync/")
    peak = 0.0
    while True:
        peak = max(peak, memory_of(town.pid).rss)
        progress = await _progress(owner, source)
        is_new = progress is not None and (seen is None or progress["started"] != seen["started"])
        if progress is not None and is_new and progress["finished"]:
            return _seconds(progress), peak
        await asyncio.sleep(0.25)


async def _progress(owner: Person, source: str) -> dict[str, Any] | None:
    told: dict[str, Any] = (await owner.get(f"{API}{source}/sync/status/")).json()
    progress: dict[str, Any] | None = told["progress"]
    return progress


def _seconds(progress: dict[str, Any]) -> float:
    started, finished = (time_of(progress[name]) for name in ("started", "finished"))
    return max(finished - started, 0.001)


def time_of(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
