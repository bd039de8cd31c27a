"""A server dies while it delivers, again and again: every inbox gets everything, and hardly anything twice."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.base.jobs.tables import jobs
from kith.federation.delivery import service, store
from kith.federation.delivery.sending import AT_ONCE
from kith.federation.delivery.tables import deliveries
from tests.federation.inboxes import InboxServer, ReceivedPost, inbox_server
from tests.social.members import until
from tests.town import Town, build_town
from tests.town.town import Engine

INBOXES = 150
KILLS_AT = (1, 20, 60, 100)

_then = bindparam("then", type_=Instant())
_leases = (
    command(update(jobs).where(jobs.c.held_until.is_not(None)).values(held_until=_then)),
    command(update(deliveries).where(deliveries.c.held_until.is_not(None)).values(held_until=_then)),
)


async def post(town: Town, *sinks: InboxServer) -> None:
    async with town.house() as house, house.works.begin() as work:
        inboxes = [sink.inbox_of(f"/users/{number}/inbox") for sink in sinks for number in range(INBOXES)]
        activity = {"id": "https://a.example/1", "type": "Like", "object": "https://b.example/2"}
        await service.deliver(work, activity=activity, sender=None, inboxes=inboxes)


async def let_leases_run_out(town: Town) -> None:
    """On PostgreSQL others might be alive; here nobody is, and nobody waits for that to show."""
    async with town.house() as house, house.works.begin() as work:
        for lease in _leases:
            await work.db.run(lease, then=work.now - timedelta(seconds=1))


async def is_all_done(town: Town) -> bool:
    async with town.house() as house:
        return not await store.waiting(house.works.open().db)


def falls_silent_at(sink: InboxServer, count: int) -> None:
    """So that whoever delivers is killed in the middle of it."""

    def answer(_: ReceivedPost) -> str:
        if len(sink.received) >= count:
            sink.may_answer.clear()
        return "202 Accepted"

    sink.answer = answer


async def test_no_delivery_is_lost_and_few_are_doubled_when_the_server_is_killed(
    engine: Engine, tmp_path: Path
) -> None:
    async with (
        inbox_server() as one,
        inbox_server() as other,
        build_town(engine, tmp_path, start=False, private_hosts="127.0.0.0/8") as town,
    ):
        await post(town, one, other)
        for count in KILLS_AT:
            falls_silent_at(one, count)
            await town.start()
            await one.until(count)
            await town.kill()
            one.answers("202 Accepted")
            one.may_answer.set()
            await let_leases_run_out(town)
        await town.start()
        await until(lambda: is_all_done(town))

        for sink in (one, other):
            assert len({post.path for post in sink.received}) == INBOXES
            # What was on its way, and what was answered but not written down yet.
            assert len(sink.received) - INBOXES <= len(KILLS_AT) * 2 * AT_ONCE
