"""What a server does every so often, without the waiting."""

from __future__ import annotations

from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.base.jobs.tables import schedules
from tests.town import Town

__all__ = ["hurry"]

_due_now = command(update(schedules).values(next_at=bindparam("now", type_=Instant())))


async def hurry(town: Town) -> None:
    """What is done every so often is due now."""
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_due_now, now=work.now)
