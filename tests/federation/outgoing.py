"""People elsewhere as rows, and what was made ready to be sent to them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, func, or_, select, update

from kith.app import KINDS, House
from kith.base.db import Instant, command, query
from kith.base.jobs.kinds import QUICK
from kith.base.jobs.tables import jobs
from kith.base.jobs.worker import Worker
from kith.base.work import Work
from kith.federation.delivery.tables import deliveries, outgoing
from kith.federation.people import store as people
from kith.federation.people.tables import RemoteActor
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.relationships import store as relationships
from kith.social.relationships.tables import Follow
from tests.federation.asking import check_context
from tests.social.members import Member, add_stranger
from tests.town import Town

__all__ = [
    "FOLLOWERS",
    "Told",
    "Village",
    "add_elsewhere",
    "add_follow",
    "elsewhere",
    "follows",
    "only",
    "shared",
    "told",
]

FOLLOWERS = {"near.example", "alone.example"}

_is_ours = jobs.c.kind.like("federation_outgoing.%")
_due = query(
    select(func.count())
    .select_from(jobs)
    .where(and_(jobs.c.lane == QUICK, or_(_is_ours, jobs.c.run_at <= bindparam("now", type_=Instant())))),
    int,
)
_hurry = command(update(jobs).where(_is_ours).values(run_at=bindparam("now", type_=Instant())))
_wrong = query(select(jobs.c.error).where(and_(jobs.c.lane == QUICK, jobs.c.error.is_not(None))), str)
_rows = query(
    select(outgoing.c.id, outgoing.c.sender, outgoing.c.activity, outgoing.c.with_previous_key).order_by(outgoing.c.id),
    tuple,
)
_places = query(
    select(deliveries.c.outgoing_id, deliveries.c.inbox, deliveries.c.headers).order_by(deliveries.c.inbox), tuple
)
_clear = [command(delete(deliveries)), command(delete(outgoing))]


class Told(msgspec.Struct, frozen=True):
    """An activity that is on its way, and to which inboxes."""

    sender: int | None
    activity: dict[str, Any]
    inboxes: list[str]
    with_previous_key: bool
    headers: dict[str, Any]

    @property
    def type(self) -> str:
        """As `Undo Follow`, where it is about another activity."""
        inner = self.activity.get("object")
        of = inner.get("type", "") if isinstance(inner, dict) else ""
        return f"{self.activity['type']} {of}".strip()

    @property
    def hosts(self) -> set[str]:
        return {inbox.split("/")[2] for inbox in self.inboxes}


def shared(host: str) -> str:
    return f"https://{host}/inbox"


async def elsewhere(town: Town, host: str, *, has_shared: bool = True, **differing: Any) -> Account:
    """Somebody at a server that can be written to."""
    async with town.house() as house, house.works.begin() as work:
        return await add_elsewhere(work, host, has_shared=has_shared, **differing)


async def add_elsewhere(work: Work, host: str, *, has_shared: bool = True, **differing: Any) -> Account:
    account = await add_stranger(work, host, **differing)
    inbox = f"{account.uri}/inbox"
    await people.save_actor(work.db, RemoteActor(account.id, inbox, shared_inbox=shared(host) if has_shared else None))
    return account


async def follows(town: Town, follower: Account, *members: Member) -> None:
    """As it stands after they were let in."""
    async with town.house() as house, house.works.begin() as work:
        for member in members:
            await add_follow(work, follower, member)


async def add_follow(work: Work, follower: Account, member: Member) -> None:
    await relationships.add_follow(work.db, _follow(work, follower, member))


def _follow(work: Work, follower: Account, member: Member) -> Follow:
    id = work.new_id()
    return Follow(
        id=id,
        account_id=follower.id,
        target_id=AccountId(int(member.id)),
        reblogs=True,
        notify=False,
        languages=None,
        uri=f"{follower.uri}/follows/{id}",
        created_at=work.now,
    )


async def told(town: Town) -> list[Told]:
    """All that was made ready to be sent since this was last asked, once the jobs of the house are done."""
    async with town.house() as house:
        await _do_jobs(house)
        async with house.works.begin() as work:
            rows = await work.db.all(_rows)
            places = await work.db.all(_places)
            for clear in _clear:
                await work.db.run(clear)
    return [_told(row, [one for one in places if one[0] == row[0]]) for row in rows]


def _told(row: Any, places: list[Any]) -> Told:
    _, sender, activity, previous = row
    headers = {inbox: headers for _, inbox, headers in places if headers}
    return Told(sender, msgspec.json.decode(activity), [inbox for _, inbox, _ in places], previous, headers)


async def _do_jobs(house: House) -> None:
    """Those that talk to nobody; what waits for a moment to tell more at once does not wait here."""
    worker = Worker(house.works, [kind for kind in KINDS if not kind.outside])
    running = asyncio.create_task(worker.run())
    try:
        async with asyncio.timeout(60):
            while True:
                async with house.works.begin() as work:
                    await work.db.run(_hurry, now=work.now)
                if not await house.works.open().db.one(_due, now=datetime.now(UTC)):
                    break
                await asyncio.sleep(0.01)
    finally:
        worker.stop()
        await running
    wrong = await house.works.open().db.all(_wrong)
    assert not wrong, wrong[0]


def only(found: list[Told], type: str) -> Told:
    [one] = [one for one in found if one.type == type]
    check_context(one.activity)
    return one


class Village:
    """Ada, whom somebody follows from two servers, one of them twice; others who know nothing of her."""

    def __init__(self, town: Town, ada: Member, bob: Member, people: dict[str, Account]) -> None:
        self.town, self.ada, self.bob, self.people = town, ada, bob, people

    def name(self, host: str) -> str:
        return f"@{self.people[host].username}@{self.people[host].domain}"
