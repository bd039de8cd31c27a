"""Follows that ended while their other side was shut out, and nothing was sent there: told once it is let in again.

The other server still believes in them. Whoever wants them back follows anew, there or here.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.gate.service import Gate
from kith.federation.outgoing.relations import tell_of_end
from kith.social.accounts import store as accounts
from kith.social.admission.facts import ServerLetIn
from kith.social.ids import AccountId
from kith.social.moderation.severed_store import EndedFollow, ended_with_server
from kith.social.relationships import store as relationships
from kith.social.relationships.service.common import hold

__all__ = ["KINDS", "tell_of_severed_later"]

AT_ONCE = 100


class TellSevered(msgspec.Struct):
    """A stretch at a time: whom people here followed at a domain first, then who followed them."""

    domain: str
    since: datetime
    following: bool = True
    after: tuple[int, str] = (0, "")


async def tell_of_severed_later(work: Work, fact: ServerLetIn) -> None:
    work.enqueue(SEVERED, TellSevered(fact.domain, fact.since))


async def tell_of_severed(work: Work, payload: TellSevered) -> None:
    """Nothing goes to a server that another rule still shuts out."""
    work.find(Gate).look_again()
    if not await work.find(Gate).admits(payload.domain, work):
        return
    found = await ended_with_server(
        work.db, payload.domain, payload.since, following=payload.following, after=payload.after, most=AT_ONCE
    )
    others = await accounts.find_all_named(work.db, [_name(one) for one in found])
    for one in found:
        other = others.get(_name(one))
        if other is not None:
            await _tell(work, one, other.id)
    if len(found) == AT_ONCE:
        last = (found[-1].severance_id, found[-1].acct)
        work.enqueue(SEVERED, msgspec.structs.replace(payload, after=last))
    elif payload.following:
        work.enqueue(SEVERED, TellSevered(payload.domain, payload.since, following=False))


def _name(one: EndedFollow) -> tuple[str, str]:
    name, _, domain = one.acct.lower().partition("@")
    return name, domain


async def _tell(work: Work, one: EndedFollow, other: AccountId) -> None:
    """What its follow was called is not known any more: whoever reads it goes by who follows whom."""
    follower, followed = (one.account_id, other) if one.following else (other, one.account_id)
    await hold(work, follower, followed)  # or else a follow that begins now could be told before this
    is_back = await relationships.find_follow(work.db, follower, followed)
    if is_back is None and await relationships.find_request(work.db, follower, followed) is None:
        await tell_of_end(work, follower, followed, None, work.new_id(), by_target=not one.following)


SEVERED: JobKind[TellSevered] = JobKind(
    name="federation_outgoing.severed", payload=TellSevered, handler=tell_of_severed, is_harmless=True
)
KINDS = (SEVERED,)
