"""Keeping apart from somebody: blocks and mutes."""

from __future__ import annotations

from datetime import timedelta

from kith.base.errors import Forbidden
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.relationships import store
from kith.social.relationships.facts import Blocked, Muted, Unblocked, Unmuted
from kith.social.relationships.service.common import hold, part, target
from kith.social.relationships.tables import Block, Mute

AT_ONCE = 100
OWN_BLOCK = "Blocking your own account is not allowed"
OWN_MUTE = "Muting your own account is not allowed"
LONGEST_MUTE = timedelta(days=36_500)


async def block(work: Work, actor: Account, target_id: AccountId, *, uri: str | None = None) -> None:
    """`uri` is what somebody elsewhere calls their block."""
    other = await target(work, target_id)
    if other.id == actor.id:
        raise Forbidden(OWN_BLOCK)
    await hold(work, actor.id, other.id)
    id = work.new_id()
    name = uri or f"{actor.uri}#blocks/{id}"
    row = Block(id=id, account_id=actor.id, target_id=other.id, uri=name, created_at=work.now)
    if not await store.add_block(work.db, row):
        return
    await part(work, actor.id, other.id)
    work.announce(Blocked(account_id=actor.id, target_id=other.id, block_id=id, uri=row.uri))


async def unblock(work: Work, actor: Account, target_id: AccountId) -> bool:
    """False when there was no block."""
    other = await target(work, target_id)
    await hold(work, actor.id, other.id)
    gone = await store.drop_block(work.db, actor.id, other.id)
    if gone is not None:
        work.announce(Unblocked(account_id=actor.id, target_id=other.id, block_id=gone.id, uri=gone.uri))
    return gone is not None


async def mute(work: Work, actor: Account, target_id: AccountId, *, hide_notifications: bool, seconds: int) -> None:
    """For so many seconds, or without an end for none; muting again changes how."""
    other = await target(work, target_id)
    if other.id == actor.id:
        raise Forbidden(OWN_MUTE)
    until = work.now + min(timedelta(seconds=min(seconds, 2**40)), LONGEST_MUTE) if seconds > 0 else None
    row = Mute(
        id=work.new_id(),
        account_id=actor.id,
        target_id=other.id,
        hide_notifications=hide_notifications,
        expires_at=until,
        created_at=work.now,
    )
    await store.save_mute(work.db, row)
    work.announce(Muted(account_id=actor.id, target_id=other.id, hide_notifications=hide_notifications))


async def unmute(work: Work, actor: Account, target_id: AccountId) -> None:
    other = await target(work, target_id)
    if await store.drop_mute(work.db, actor.id, other.id) is not None:
        work.announce(Unmuted(account_id=actor.id, target_id=other.id))


# Everybody at once, a stretch at a time


async def cut_ties(work: Work, me: AccountId, domain: str) -> bool:
    """No follow between me and anybody at a domain stays. True when there are more ties than are cut at once."""
    tied = await store.tied_to_domain(work.db, me, domain, AT_ONCE)
    for other in sorted(tied):
        await hold(work, me, other)
        await part(work, me, other)
    return len(tied) >= AT_ONCE


async def leave_everybody(work: Work, me: AccountId) -> bool:
    """Nobody follows me any more, nor I anybody. True when there are more than can be left at once."""
    tied = await store.tied_to(work.db, me, AT_ONCE)
    for other in sorted(tied):
        await hold(work, me, other)
        await part(work, me, other)
    if not tied:
        await store.forget_own(work.db, me)
    return bool(tied)
