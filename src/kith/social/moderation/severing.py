"""Follows that end because of what the team does to others: whoever loses some is told how many, and which."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.ids import AccountId
from kith.social.moderation import store
from kith.social.moderation.tables import Severance, SeveredFollow
from kith.social.notifications import service as notifications
from kith.social.notifications.service import Notice
from kith.social.relationships import store as relationships
from kith.social.relationships.facts import FollowsLost, LostFollow
from kith.social.relationships.service import apart

AT_ONCE = 20


class Sever(msgspec.Struct):
    """`name` is the domain or the account that people are told; `told` once they are.

    Accounts are given by their ids, or as all that are suspended at a `domain`: those of a large server are too many to
    name, and whoever loses several is told once.
    """

    ids: list[AccountId]
    type: str
    name: str
    told: bool = False
    domain: str = ""


async def sever(work: Work, payload: Sever) -> None:
    """A stretch at a time, each a job of its own, until nothing is left between anybody here and them."""
    await work.db.begin()
    if not payload.told:
        await _tell(work, payload.type, payload.name, await _lost(work, payload))
    ids = await relationships.tied_at(work.db, payload.domain, AT_ONCE) if payload.domain else payload.ids
    left = [id for id in ids if await apart.leave_everybody(work, id)]
    if left:
        ids = [] if payload.domain else left
        work.enqueue(SEVER, msgspec.structs.replace(payload, ids=ids, told=True))


async def _lost(work: Work, payload: Sever) -> list[LostFollow]:
    if payload.domain:
        return await relationships.lost_at(work.db, payload.domain)
    return await relationships.lost_with(work.db, payload.ids)


async def _tell(work: Work, type: str, name: str, lost: Iterable[LostFollow]) -> None:
    by_person: dict[AccountId, list[LostFollow]] = {}
    for one in lost:
        by_person.setdefault(one.account_id, []).append(one)
    for id, rows in sorted(by_person.items()):
        following = sum(row.following for row in rows)
        event = Severance(work.new_id(), id, type, name, len(rows) - following, following, work.now)
        await store.add_severance(work.db, event, [_kept(event.id, row) for row in rows])
        notice = Notice(id, f"severed_relationships:{event.id}", subject_id=event.id)
        await notifications.tell_anyhow(work, "severed_relationships", id, [notice])


def _kept(severance_id: int, row: LostFollow) -> SeveredFollow:
    return SeveredFollow(severance_id, row.following, row.acct, row.reblogs, row.notify, row.languages)


async def tell_of_domain(work: Work, fact: FollowsLost) -> None:
    """Whoever blocks a domain themselves is told what it cost them."""
    await _tell(work, "user_domain_block", fact.domain, fact.lost)


SEVER: JobKind[Sever] = JobKind(name="moderation.sever", payload=Sever, handler=sever)
TELL_OF_DOMAIN: JobKind[FollowsLost] = JobKind(
    name="moderation.tell_of_lost", payload=FollowsLost, handler=tell_of_domain
)
