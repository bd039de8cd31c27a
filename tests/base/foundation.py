"""What the server stands on, opened without the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import text

from kith.base.db import Database, command, connect
from kith.base.ids import IDs
from kith.base.jobs import JobKind, Periodic
from kith.base.jobs import store as jobs
from kith.base.jobs.tables import Job
from kith.base.jobs.worker import Worker
from kith.base.news import News
from kith.base.relay import relay_for
from kith.base.settings import Settings
from kith.base.work import Works


class Foundation:
    """One process's share: its database, its ids, its news and the works made of them."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.settings = settings
        self.database = database
        self.ids = IDs(database)
        self.news = News()
        self.works = Works(settings, database, self.ids, self.news)

    async def run(self, sql: str) -> None:
        """Something only a test would say to the database."""
        session = self.database.session()
        await session.run(command(text(sql)))
        await session.commit()

    async def jobs(self) -> list[Job]:
        return await jobs.listed(self.database.session(), state=None, most=100_000)

    def worker(self, *kinds: JobKind[Any], periodic: Sequence[Periodic] = (), batch: int = 50) -> Worker:
        return Worker(self.works, kinds, periodic, batch=batch)


@asynccontextmanager
async def lay_foundation(settings: Settings, *, connections: int = 8) -> AsyncIterator[Foundation]:
    database = await connect(settings, connections=connections)
    foundation = Foundation(settings, database)
    await foundation.ids.lease()
    relay = relay_for(database, foundation.news)
    carrying = asyncio.create_task(relay.run()) if relay is not None else None
    try:
        yield foundation
    finally:
        if carrying is not None:
            carrying.cancel()
            await asyncio.gather(carrying, return_exceptions=True)
        await foundation.ids.release()
        await database.close()


@asynccontextmanager
async def at_work(worker: Worker) -> AsyncIterator[None]:
    """The worker runs meanwhile, and has stopped afterwards."""
    running = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        async with asyncio.timeout(120):
            await running
