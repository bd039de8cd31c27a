"""A server's insides, with nobody who works: tests say what is sent when, and what time it is for a delivery."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import bindparam, delete, select, text, update

from kith.app import House
from kith.base.db import Instant, command, query
from kith.base.jobs.tables import Job, jobs
from kith.federation.delivery import service, store, tasks
from kith.federation.delivery.tables import DeliveryHost, deliveries
from kith.identity.users import store as users
from kith.social.accounts.user_accounts import of_user
from kith.social.ids import AccountId, UserId
from tests.town import Town, build_town
from tests.town.ready_keys import give_key
from tests.town.town import Engine

__all__ = ["PostOffice", "open_office"]

_rows = query(
    select(
        deliveries.c.id, deliveries.c.domain, deliveries.c.inbox, deliveries.c.attempts, deliveries.c.next_at,
        deliveries.c.held_by,
    ).order_by(deliveries.c.id),
    tuple,
)  # fmt: skip
_held_until = query(select(deliveries.c.id, deliveries.c.held_until).order_by(deliveries.c.id), tuple)
_activities = query(text("SELECT activity FROM federation_outgoing ORDER BY id").columns(), str)
_shift = command(update(deliveries).values(next_at=bindparam("at", type_=Instant())))
_jobs = query(select(jobs).where(jobs.c.kind.like("federation_delivery.send%")).order_by(jobs.c.run_at), Job)
_clear = command(delete(jobs).where(jobs.c.kind.like("federation_delivery.send%")))


class PostOffice:
    def __init__(self, town: Town, house: House) -> None:
        self.town, self.house = town, house

    async def member(self, name: str) -> AccountId:
        await self.town.sign_up(name)
        work = self.house.works.open()
        user = await users.find(work.db, name)
        assert user is not None
        return (await of_user(work, UserId(user.id))).id

    async def post(
        self, *inboxes: str, id: str = "https://a.example/1", sender: AccountId | None = None, **how: Any
    ) -> None:
        await self.tell(
            *inboxes, activity={"id": id, "type": "Like", "object": "https://b.example/2"}, sender=sender, **how
        )

    async def tell(self, *inboxes: str, activity: dict[str, Any], sender: AccountId | None = None, **how: Any) -> None:
        async with self.house.works.begin() as work:
            await service.deliver(work, activity=activity, sender=sender, inboxes=inboxes, **how)

    async def send(self, domain: str) -> None:
        """What the job of a host does, once."""
        async with self.house.works.begin() as work:
            await tasks.send(work, tasks.SendToHost(domain))

    async def send_later(self, domain: str) -> None:
        """As if everything that waits had become due."""
        await self.make_due()
        await self.send(domain)

    async def make_due(self, at: datetime | None = None) -> None:
        async with self.house.works.begin() as work:
            await work.db.run(_shift, at=at or work.now - timedelta(seconds=1))

    async def overdue(self) -> None:
        async with self.house.works.begin() as work:
            await tasks.send_overdue(work, tasks.SendOverdue())

    async def rows(self) -> list[tuple[int, str, str, int, datetime, str | None]]:
        return await self.house.works.open().db.all(_rows)

    async def held_until(self) -> list[tuple[int, datetime]]:
        return await self.house.works.open().db.all(_held_until)

    async def activities(self) -> list[str]:
        return await self.house.works.open().db.all(_activities)

    async def jobs(self) -> list[Job]:
        return await self.house.works.open().db.all(_jobs)

    async def forget_jobs(self) -> None:
        async with self.house.works.begin() as work:
            await work.db.run(_clear)

    async def host(self, domain: str) -> DeliveryHost:
        return await store.host_of(self.house.works.open().db, domain)

    async def change_host(self, domain: str, **changes: Any) -> None:
        async with self.house.works.begin() as work:
            host = await store.host_of(work.db, domain)
            for name, value in changes.items():
                setattr(host, name, value)
            await store.save_host(work.db, host)


def ago(**how: int) -> datetime:
    return datetime.now(UTC) - timedelta(**how)


@asynccontextmanager
async def open_office(engine: Engine, folder: Path) -> AsyncIterator[PostOffice]:
    async with build_town(engine, folder, start=False, private_hosts="127.0.0.0/8") as town, town.house() as house:
        async with house.works.begin() as work:
            await give_key(work)
        yield PostOffice(town, house)
