"""A town whose neighbour writes to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import bindparam, func, or_, select

from kith.base.db import Instant, query
from kith.base.jobs.tables import DEAD, Job, jobs
from kith.federation.inbox.tables import inbox
from kith.social.accounts.tables import Account, accounts
from tests.federation.neighbour import Neighbour, RemotePerson, neighbour
from tests.social.members import Member
from tests.social.posts import waits_for_a_place
from tests.town import Town, build_town
from tests.town.town import Engine

__all__ = ["Street", "street"]

_by_uri = query(select(accounts).where(accounts.c.uri == bindparam("uri")), Account)
_due = query(
    select(jobs).where(or_(jobs.c.run_at <= bindparam("now", type_=Instant()), jobs.c.error.is_not(None))), Job
)
_BESIDE = ("federation_delivery", "federation_keys.", "federation_people.", "identity.", "mail.")
PATIENCE = 60.0
SOON = timedelta(seconds=1)  # what is asked for while this looks is due a little later than it began to look
_count = query(select(func.count()).select_from(inbox), int)


class Street:
    """`here` is Kith, `there` and `away` are not; `gone` is a fourth one, which nobody reaches any more."""

    def __init__(self, here: Town, there: Neighbour, away: Neighbour, gone: Neighbour) -> None:
        self.here = here
        self.there = there
        self.away = away
        self.gone = gone

    @property
    def inbox(self) -> str:
        return f"{self.here.base_url}/inbox"

    def inbox_of(self, member: Member) -> str:
        return f"{member.me['uri']}/inbox"

    async def sends(self, who: RemotePerson, activity: Any, *, to: Member | None = None, **options: Any) -> None:
        """Sent, accepted and done."""
        url = self.inbox if to is None else self.inbox_of(to)
        answer = await who.post(url, activity, **options)
        assert answer.status_code == 202, f"{answer.status_code} {answer.text}"
        await self.settled()

    async def says(
        self, who: RemotePerson, activity: Any, *, to: Member | None = None, **options: Any
    ) -> httpx.Response:
        return await who.post(self.inbox if to is None else self.inbox_of(to), activity, **options)

    async def settled(self) -> None:
        """Everything that follows is done, but for what is on its way to others."""
        until = time.monotonic() + PATIENCE
        while (left := await self._left()) or await self.waiting():
            assert time.monotonic() < until, f"still to be done: {left}"
            await asyncio.sleep(0.02)

    async def _left(self) -> list[Job]:
        due = await self.every(_due, now=datetime.now(UTC) + SOON)
        left = [job for job in due if not job.kind.startswith(_BESIDE)]
        wrong = [job for job in left if (job.error and not waits_for_a_place(job)) or job.state == DEAD]
        assert not wrong, wrong[0].error
        return left

    async def waiting(self) -> int:
        """Activities that are not done yet."""
        found = await self.ask(_count)
        return int(found or 0)

    async def account_of(self, who: RemotePerson) -> Account:
        found = await self.ask(_by_uri, uri=who.uri)
        assert isinstance(found, Account), f"{who.uri} is not known here"
        return found

    async def ask(self, statement: Any, **values: Any) -> Any:
        """One row of the database here."""
        found = await self.every(statement, **values)
        return found[0] if found else None

    async def every(self, statement: Any, **values: Any) -> list[Any]:
        """Rows of the database here."""
        async with self.here.opened_database() as database:
            session = database.session()
            found: list[Any] = await session.all(statement, **values)
            await session.rollback()
            return found


@asynccontextmanager
async def street(engine: Engine, folder: Path, **settings: Any) -> AsyncIterator[Street]:
    async with neighbour() as there, neighbour() as away, neighbour() as gone:
        hosts = ",".join(one.domain for one in (there, away, gone))
        async with build_town(engine, folder, private_hosts=hosts, **settings) as here:
            yield Street(here, there, away, gone)
