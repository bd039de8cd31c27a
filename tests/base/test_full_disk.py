"""No room left: writing is refused with 507 in the words of each dialect, reading goes on, and it passes by itself."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from io import BytesIO
from pathlib import Path

import asyncpg
import httpx
import pytest
from PIL import Image

from kith.base.jobs import store as jobs
from kith.base.jobs.tables import DEAD
from tests.conftest import TownBuilder
from tests.town import Town

_FULL = """
CREATE FUNCTION no_room() RETURNS trigger AS $$
BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END
$$ LANGUAGE plpgsql;
"""


@asynccontextmanager
async def full_disk(town: Town) -> AsyncIterator[None]:
    """No file can be written at; of PostgreSQL, which other tests use too, every table says that it has no room."""
    hard = resource.prlimit(town.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(town.pid, resource.RLIMIT_FSIZE, (0, hard))
    connection = await asyncpg.connect(town.database) if town.engine == "postgresql" else None
    try:
        if connection is not None:
            tables = [
                row[0]
                for row in await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
            ]
            triggers = (
                f'CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON "{one}" EXECUTE FUNCTION no_room();'
                for one in tables
            )
            await _made(connection, _FULL + "".join(triggers))
        yield
    finally:
        resource.prlimit(town.pid, resource.RLIMIT_FSIZE, (hard, hard))
        if connection is not None:
            await connection.execute("DROP FUNCTION IF EXISTS no_room() CASCADE")
            await connection.close()


async def _made(connection: asyncpg.Connection[asyncpg.Record], words: str) -> None:
    """The server works on, and locks tables in an order of its own."""
    for _ in range(10):
        with suppress(asyncpg.DeadlockDetectedError):
            await connection.execute(words)
            return
    raise AssertionError("the server never left the tables alone")


def picture() -> bytes:
    file = BytesIO()
    Image.new("RGB", (64, 48), "teal").save(file, "PNG")
    return file.getvalue()


@pytest.fixture
async def town(new_town: TownBuilder) -> Town:
    return await new_town(confirm_email="off")


async def test_a_full_disk_refuses_writes_and_goes_on_reading(town: Town) -> None:
    # given
    ada = await town.owner()
    key = (await town.kith("tokens", "create", ada.username, "--scopes", "read write follow api")).strip()
    ours = {"authorization": f"Bearer {key}"}
    posted = await town.http.post("/api/v1/statuses", json={"status": "before"}, headers=ours)
    first = posted.json()["id"]
    reads = ("/api/v1/timelines/home", f"/api/v1/statuses/{first}", "/api/v2/instance", "/public/local", "/health")
    before = [await town.http.get(path, headers=ours) for path in reads]
    assert [one.status_code for one in before] == [200] * len(reads)

    # when
    async with full_disk(town):
        refused = await town.http.post("/api/v1/statuses", json={"status": "too much"}, headers=ours)
        file = {"file": ("a.png", picture(), "image/png")}
        upload = await town.http.post("/api/v2/media", files=file, headers=ours)
        german = await town.http.post(f"/api/v1/statuses/{first}/favourite", headers={**ours, "accept-language": "de"})
        app = await town.http.post(
            "/api/v1/apps", json={"client_name": "x", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob"}
        )
        group = await town.http.post("/api/v2/core/groups/", json={"name": "g"}, headers=ours)
        page = await town.http.get("/public/local")
        during = [await town.http.get(path, headers=ours) for path in reads]
        ready = await town.http.get("/health/ready")
        for_balancer = await town.http.get("/health/ready", params={"without": "worker,room"})

    # then
    for answer in (refused, upload, german, app, group):
        assert (answer.status_code, answer.headers["retry-after"]) == (507, "60"), answer.text
    assert refused.json()["error"].startswith("The server has no room left")
    assert german.json()["error"].startswith("Auf dem Server ist kein Platz mehr")
    assert group.json() == {
        "detail": "The server has no room left to store this. Reading still works; try again later."
    }
    assert page.status_code == 200
    assert [one.status_code for one in during] == [200] * len(reads)
    assert during[1].json() == before[1].json()
    assert (ready.status_code, for_balancer.status_code) == (503, 200), for_balancer.text
    await _it_passes(town, ours, first)


async def _it_passes(town: Town, ours: dict[str, str], first: str) -> None:
    async def post() -> httpx.Response:
        return await town.http.post("/api/v1/statuses", json={"status": "after"}, headers=ours)

    answer = await post()
    assert answer.status_code == 200, answer.text
    upload = await town.http.post("/api/v2/media", files={"file": ("a.png", picture(), "image/png")}, headers=ours)
    # 202 of what a worker has yet to look at.
    assert upload.status_code in (200, 202), upload.text
    home: list[str] = []
    while answer.json()["id"] not in home:  # its fan-out is a job
        home = [one["id"] for one in (await town.http.get("/api/v1/timelines/home", headers=ours)).json()]
        await asyncio.sleep(0.05)
    assert home == [answer.json()["id"], first], "what was refused is not there in part"
    async with town.house() as house, house.works.begin() as work:
        assert [one for one in await jobs.counts(work.db) if one[1] == DEAD] == []
    assert not list((Path(town.folder) / "media").rglob("*#*"))
