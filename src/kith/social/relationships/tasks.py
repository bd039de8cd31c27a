"""What becomes of relationships later: mutes end, and what is too much for one request is gone on with."""

from __future__ import annotations

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.social.accounts.facts import AccountDeleted
from kith.social.ids import AccountId
from kith.social.relationships import store
from kith.social.relationships.facts import Unmuted
from kith.social.relationships.service import apart, follow

BATCH = 500


class EndMutes(msgspec.Struct):
    """Mutes whose time is over."""


class LetIn(msgspec.Struct):
    """The rest of those who asked to follow somebody who has stopped asking."""

    account_id: AccountId


class CutTies(msgspec.Struct):
    """The rest of the follows between an account and a domain it blocks."""

    account_id: AccountId
    domain: str


async def end_mutes(work: Work, _payload: EndMutes) -> None:
    ended = await store.end_mutes(work.db, work.now, BATCH)
    for account_id, target_id in ended:
        work.announce(Unmuted(account_id=account_id, target_id=target_id))
    if len(ended) == BATCH:
        work.enqueue(END_MUTES, EndMutes(), key="more")


async def let_in(work: Work, payload: LetIn) -> None:
    if await follow.authorize_all(work, payload.account_id):
        work.enqueue(LET_IN, payload)


async def cut_ties(work: Work, payload: CutTies) -> None:
    if not await store.blocks_domain(work.db, payload.account_id, payload.domain):
        return
    if await apart.cut_ties(work, payload.account_id, payload.domain):
        work.enqueue(CUT_TIES, payload)


async def leave(work: Work, fact: AccountDeleted) -> None:
    """A stretch at a time, each a job of its own, until nobody is left."""
    if await apart.leave_everybody(work, fact.account_id):
        work.enqueue(LEAVE, fact)


END_MUTES: JobKind[EndMutes] = JobKind(name="relationships.end_mutes", payload=EndMutes, handler=end_mutes)
LET_IN: JobKind[LetIn] = JobKind(name="relationships.let_in", payload=LetIn, handler=let_in)
CUT_TIES: JobKind[CutTies] = JobKind(name="relationships.cut_ties", payload=CutTies, handler=cut_ties)
LEAVE: JobKind[AccountDeleted] = JobKind(name="relationships.leave", payload=AccountDeleted, handler=leave)
