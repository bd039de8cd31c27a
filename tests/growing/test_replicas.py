"""Reads that may lag come from a standby, and from the primary where there is none that keeps up."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import httpx
import pytest

from kith.base.settings import BadSettings, load
from kith.migrations.runner import upgrade
from tests.social.members import join, until
from tests.social.posts import post
from tests.town import Town
from tests.town.plain import PLAIN
from tests.town.ports import ReservedPort
from tests.town.standby import primary_and_standby

PUBLIC = "/api/v1/timelines/public"


def metric(text: str, name: str) -> float:
    return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


async def test_strangers_read_from_a_standby_and_members_never_miss_their_own(tmp_path: Path) -> None:
    with ReservedPort() as metrics, primary_and_standby() as pair:
        settings = {"database_replicas": pair.standby, "replica_lag_seconds": "3600"}
        town = Town("postgresql", tmp_path, pair.primary, metrics_bind=f"127.0.0.1:{metrics.number}", **settings)
        try:
            await upgrade(load(town.environment))
            await town.start()
            ada = await join(town)
            seen = await post(ada, "before")

            async def numbers() -> str:
                async with httpx.AsyncClient(verify=PLAIN) as http:
                    return (await http.get(f"http://127.0.0.1:{metrics.number}/metrics")).text

            async def strangers_see(id: str) -> bool:
                return id in [one["id"] for one in (await town.http.get(PUBLIC)).json()]

            async def is_fit() -> bool:
                return metric(await numbers(), "kith_replica_fit{") == 1

            async def is_seen() -> bool:
                return await strangers_see(seen["id"])

            await until(is_fit)
            await until(is_seen)

            pair.pause()
            late = await post(ada, "while the standby sleeps")
            assert not await strangers_see(late["id"])
            assert (await ada.get(PUBLIC))[0]["id"] == late["id"]
            refused = await town.http.get(PUBLIC, headers={"Authorization": "Bearer nonsense"})
            assert refused.status_code == 401  # who is let in is asked of the primary
            pair.go_on()

            async def has_come() -> bool:
                return await strangers_see(late["id"])

            await until(has_come)
            assert metric(await numbers(), 'kith_replica_reads_total{outcome="answered"}') > 0

            pair.stop_standby()
            last = await post(ada, "without it")
            assert await strangers_see(last["id"])  # asked of the primary, at once
            assert "not reachable" in await town.kith("check", expect=1)
        finally:
            await town.close()


async def test_a_standby_that_is_too_far_behind_is_not_asked(tmp_path: Path) -> None:
    with primary_and_standby() as pair:
        town = Town("postgresql", tmp_path, pair.primary, database_replicas=pair.standby, replica_lag_seconds="1")
        try:
            await upgrade(load(town.environment))
            await town.start()
            ada = await join(town)
            pair.pause()
            connection = await asyncpg.connect(pair.primary)
            await connection.execute("CREATE TABLE something (id int)")
            await connection.close()
            await asyncio.sleep(2.5)  # longer than it may be behind, and than a look takes to come round
            late = await post(ada, "now")

            async def is_seen() -> bool:
                return late["id"] in [one["id"] for one in (await town.http.get(PUBLIC)).json()]

            await until(is_seen)
        finally:
            pair.go_on()
            await town.close()


@pytest.mark.parametrize(
    ("database", "replicas", "words"),
    [
        ("sqlite", "postgresql://other/kith", "needs PostgreSQL"),
        ("postgresql://here/kith", "sqlite:///x", "comma list of postgresql"),
    ],
)
def test_replicas_that_cannot_be_are_refused(database: str, replicas: str, words: str) -> None:
    with pytest.raises(BadSettings, match=words):
        load({"KITH_DATABASE": database, "KITH_DATABASE_REPLICAS": replicas})
