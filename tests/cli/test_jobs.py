from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import msgspec

from kith.base.jobs import JobKind, store
from kith.base.jobs.tables import DEAD, READY
from kith.base.work import Work
from tests.cli.running import database, kith
from tests.conftest import TownBuilder
from tests.town import Town

ERROR = "Traceback (most recent call last):\n  File ...\nConnectionError: nobody\tis at home\n"
LONG = 2**60


class Letter(msgspec.Struct):
    to: str


async def _deliver(_work: Work, _letter: Letter) -> None: ...


LETTER = JobKind(name="letter", payload=Letter, handler=_deliver)
PARCEL = JobKind(name="parcel", payload=Letter, handler=_deliver, outside=True)


async def test_dead_jobs_are_seen_and_brought_back_or_forgotten(new_town: TownBuilder) -> None:
    town = await new_town(start=False)
    await bury(town, LETTER, 1, LONG, 3)
    await bury(town, PARCEL, 4, 5)

    listed, counts = await asyncio.gather(
        kith(town, "jobs", "list", "--state", "dead", "--kind", "letter", "--json"),
        kith(town, "jobs", "counts", "--json"),
    )
    retried, discarded = await asyncio.gather(
        kith(town, "jobs", "retry", "4", "--json"), kith(town, "jobs", "discard", str(LONG), "--json")
    )
    rest = await kith(town, "jobs", "retry", "--all")
    async with database(town) as db:
        left = await store.listed(db, state=None, most=10)

    assert [job["id"] for job in listed.json] == ["1", "3", str(LONG)]
    assert listed.json[0]["last_error"] == "ConnectionError: nobody\tis at home"
    assert listed.json[0]["error"] == ERROR
    assert [(row["kind"], row["state"], row["count"]) for row in counts.json] == [
        ("letter", "dead", 3),
        ("parcel", "dead", 2),
    ]
    assert retried.json == {"retried": 1}
    assert discarded.json == {"discarded": 1}
    assert rest.said == "3 jobs will be retried.\n"
    assert [(job.id, job.state, job.attempts) for job in left] == [(job, READY, 0) for job in (1, 3, 4, 5)]


async def bury(town: Town, kind: JobKind[Letter], *ids: int, state: int = DEAD) -> None:
    """Jobs that have failed for good, an hour ago."""
    at = datetime.now(UTC) - timedelta(hours=1)
    async with database(town) as db:
        for job in ids:
            row = store.row_for(kind, Letter(to="bob"), id=job, at=at, now=at, key=None)
            await db.run(store.add, **(row | {"state": state, "attempts": 12, "error": ERROR}))
