"""Follows that end because of what the team does, or with a domain that somebody blocks: whoever loses some is told."""

from __future__ import annotations

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.ids import AccountId
from kith.social.moderation import store
from kith.social.moderation.tables import Severance
from kith.social.notifications import service as notifications
from kith.social.notifications.service import Notice
from kith.social.relationships import store as relationships
from kith.social.relationships.facts import DomainBlocked
from kith.social.relationships.service import apart


class Sever(msgspec.Struct):
    """`name` is the domain or the account that people are told; `told` once they are."""

    ids: list[AccountId]
    type: str
    name: str
    told: bool = False


async def sever(work: Work, payload: Sever) -> None:
    """A stretch at a time, each a job of its own, until nothing is left between anybody here and them."""
    await work.db.begin()
    if not payload.told:
        await _tell(work, payload)
    left = [id for id in payload.ids if await apart.leave_everybody(work, id)]
    if left:
        work.enqueue(SEVER, Sever(ids=left, type=payload.type, name=payload.name, told=True))


async def _tell(work: Work, payload: Sever) -> None:
    for id, (followers, following) in (await relationships.lost_with(work.db, payload.ids)).items():
        await _tell_one(work, Severance(work.new_id(), id, payload.type, payload.name, followers, following, work.now))


async def _tell_one(work: Work, event: Severance) -> None:
    await store.add_severance(work.db, event)
    notice = Notice(event.account_id, f"severed_relationships:{event.id}", subject_id=event.id)
    await notifications.tell_anyhow(work, "severed_relationships", event.account_id, [notice])


async def tell_of_own(work: Work, fact: DomainBlocked) -> None:
    """What somebody loses by blocking a domain themselves."""
    if fact.followers_count or fact.following_count:
        lost = (fact.followers_count, fact.following_count)
        await _tell_one(
            work, Severance(work.new_id(), fact.account_id, "user_domain_block", fact.domain, *lost, work.now)
        )


TELL_OF_OWN: JobKind[DomainBlocked] = JobKind(name="moderation.own_loss", payload=DomainBlocked, handler=tell_of_own)
SEVER: JobKind[Sever] = JobKind(name="moderation.sever", payload=Sever, handler=sever)
