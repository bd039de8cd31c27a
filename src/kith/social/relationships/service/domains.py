"""Keeping apart from everybody at a domain."""

from __future__ import annotations

from kith.base.errors import Complaint, Invalid
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.relationships import store
from kith.social.relationships.facts import DomainBlocked, DomainUnblocked, FollowsLost
from kith.social.relationships.service import apart
from kith.social.relationships.tasks import CUT_TIES, CutTies
from kith.social.text.domains import domain_of

MOST = 10_000  # domains that one account blocks


async def block(work: Work, actor: Account, text: str) -> None:
    """No follow between the actor and anybody there stays; more than can be cut at once are cut by a job."""
    domain = _domain_in(text)
    if await store.add_domain_block(work.db, actor.id, domain, id=work.new_id(), now=work.now):
        if await store.count_domain_blocks(work.db, actor.id, MOST + 1) > MOST:
            raise Invalid(fields={"": [Complaint(f"You cannot block more than {MOST} servers", "too_many")]})
        following, followers = await store.count_at_domain(work.db, actor.id, domain)
        work.announce(DomainBlocked(actor.id, domain, following, followers))
        if following or followers:
            lost = await store.own_lost_at(work.db, actor.id, domain)
            work.announce(FollowsLost(account_id=actor.id, domain=domain, lost=tuple(lost)))
    if await apart.cut_ties(work, actor.id, domain):
        work.enqueue(CUT_TIES, CutTies(account_id=actor.id, domain=domain))


async def unblock(work: Work, actor: Account, text: str) -> None:
    domain = _domain_in(text)
    if await store.drop_domain_block(work.db, actor.id, domain):
        work.announce(DomainUnblocked(account_id=actor.id, domain=domain))


async def count_follows(work: Work, me: AccountId, text: str) -> tuple[int, int]:
    """How many I follow at a domain, and how many from there follow me: what a block would end."""
    return await store.count_at_domain(work.db, me, _domain_in(text))


def _domain_in(text: str) -> str:
    if not text.strip():
        raise Invalid(fields={"domain": [Complaint("can't be blank", "blank")]})
    domain = domain_of(text)
    if domain is None:
        raise Invalid(fields={"domain": [Complaint("is not a valid domain name")]})
    return domain
