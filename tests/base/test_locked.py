"""Another process writes for so long that the lease of ids ends: reading goes on, and writing does afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import httpx
from sqlalchemy import bindparam, select

from kith.base.db import Database, connect, query
from kith.base.ids import id_slots
from kith.base.settings import load
from tests.identity.flow_browser import Browser
from tests.town import Town, build_town
from tests.town.nursery import begin

_newest = query(select(id_slots.c.slot).order_by(id_slots.c.leased_until.desc()).limit(1), int)
_until = query(select(id_slots.c.leased_until).where(id_slots.c.slot == bindparam("slot")), datetime)


async def test_reading_goes_on_without_a_lease_of_ids(tmp_path: Path) -> None:
    async with build_town("sqlite", tmp_path / "town", start=False, confirm_email="off") as town:
        process = begin("tests.base.short_lease_program", "serve", environment=town.environment)
        try:
            await _until_it_answers(town)
            database = await connect(load(town.environment), connections=1)
            try:
                await _read_while_locked(town, database)
            finally:
                await database.close()
        finally:
            process.kill()
            await process.ended()


async def _until_it_answers(town: Town) -> None:
    async with asyncio.timeout(120):
        while True:
            with contextlib.suppress(httpx.TransportError):
                if (await town.http.get("/health/ready")).status_code == 200:
                    return
            await asyncio.sleep(0.05)


async def _read_while_locked(town: Town, database: Database) -> None:
    # given
    slot = await database.session().one(_newest)
    ada = await town.owner()
    key = (await town.kith("tokens", "create", ada.username, "--scopes", "read write")).strip()
    ours = {"authorization": f"Bearer {key}"}
    posted = await town.http.post("/api/v1/statuses", json={"status": "before"}, headers=ours)
    browser = Browser(town)
    await browser.sign_in(ada)

    # when another process writes until the lease is over
    other = sqlite3.connect(town.folder / "kith.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    async with asyncio.timeout(60):
        while (await database.session().one(_until, slot=slot) or datetime.now(UTC)) >= datetime.now(UTC):
            await asyncio.sleep(0.05)
    paths = (
        "/api/v1/timelines/home",  # the first look, which has the feed built
        "/api/v1/notifications",
        "/api/v1/accounts/verify_credentials",
        f"/api/v1/statuses/{posted.json()['id']}",
    )
    reads = [await town.http.get(path, headers=ours) for path in paths]
    mine = await browser.http.get("/api/v2/core/users/me/")
    refused = await town.http.post("/api/v1/statuses", json={"status": "now"}, headers=ours)
    other.execute("ROLLBACK")

    # then
    assert {answer.status_code for answer in reads} <= {200, 206}, [answer.text for answer in reads]
    assert mine.status_code == 200
    assert refused.status_code == 503, refused.text
    async with asyncio.timeout(60):
        while (await town.http.post("/api/v1/statuses", json={"status": "after"}, headers=ours)).status_code != 200:
            await asyncio.sleep(0.05)
