"""Keeping apart: blocks, mutes and whole domains."""

from __future__ import annotations

from datetime import timedelta

from kith.base.errors import Complaint, Forbidden, Invalid
from kith.base.work import Work
from kith.social.accounts.tables import Account
from kith.social.relationships import store
from kith.social.relationships.facts import Blocked, DomainBlocked, DomainUnblocked, Muted, Unblocked, Unmuted
from kith.social.relationships.service.common import hold, part, target
from kith.social.relationships.tables import Block, Mute
from kith.social.text.domains import domain_of

AT_ONCE = 100
OWN_BLOCK = "Blocking your own account is not allowed"
OWN_MUTE = "Muting your own account is not allowed"
LONGEST_MUTE = timedelta(days=36_500)


async def block(work: Work, me: Account, target_id: int) -> None:
    other = await target(work, target_id)
    if other.id == me.id:
        raise Forbidden(OWN_BLOCK)
    await hold(work, me.id, other.id)
    id = work.new_id()
    row = Block(id=id, account_id=me.id, target_id=other.id, uri=f"{me.uri}#blocks/{id}", created_at=work.now)
    if not await store.add_block(work.db, row):
        return
    await part(work, me.id, other.id)
    work.announce(Blocked(account_id=me.id, target_id=other.id, block_id=id))


async def unblock(work: Work, me: Account, target_id: int) -> None:
    other = await target(work, target_id)
    await hold(work, me.id, other.id)
    gone = await store.drop_block(work.db, me.id, other.id)
    if gone is not None:
        work.announce(Unblocked(account_id=me.id, target_id=other.id, block_id=gone.id, uri=gone.uri))


async def mute(work: Work, me: Account, target_id: int, *, hide_notifications: bool, seconds: int) -> None:
    """For so many seconds, or without an end for none; muting again changes how."""
    other = await target(work, target_id)
    if other.id == me.id:
        raise Forbidden(OWN_MUTE)
    until = work.now + min(timedelta(seconds=min(seconds, 2**40)), LONGEST_MUTE) if seconds > 0 else None
    row = Mute(
        id=work.new_id(), account_id=me.id, target_id=other.id, hide_notifications=hide_notifications,
        expires_at=until, created_at=work.now,
    )  # fmt: skip
    await store.save_mute(work.db, row)
    work.announce(Muted(account_id=me.id, target_id=other.id, hide_notifications=hide_notifications))


async def unmute(work: Work, me: Account, target_id: int) -> None:
    other = await target(work, target_id)
    if await store.drop_mute(work.db, me.id, other.id) is not None:
        work.announce(Unmuted(account_id=me.id, target_id=other.id))


# Domains


def read_domain(text: str) -> str:
    if not text.strip():
        raise Invalid(fields={"domain": [Complaint("can't be blank", "blank")]})
    domain = domain_of(text)
    if domain is None:
        raise Invalid(fields={"domain": [Complaint("is not a valid domain name")]})
    return domain


async def block_domain(work: Work, me: Account, text: str) -> bool:
    """Nobody from there follows me any more, nor I them. True when there are more ties than are cut at once."""
    domain = read_domain(text)
    if await store.add_domain_block(work.db, me.id, domain, id=work.new_id(), now=work.now):
        work.announce(DomainBlocked(account_id=me.id, domain=domain))
    return await cut_ties(work, me.id, domain)


async def cut_ties(work: Work, me: int, domain: str) -> bool:
    tied = await store.tied_to_domain(work.db, me, domain, AT_ONCE)
    for other in sorted(tied):
        await hold(work, me, other)
        await part(work, me, other)
    return len(tied) >= AT_ONCE


async def unblock_domain(work: Work, me: Account, text: str) -> None:
    domain = read_domain(text)
    if await store.drop_domain_block(work.db, me.id, domain):
        work.announce(DomainUnblocked(account_id=me.id, domain=domain))


async def leave_everybody(work: Work, me: int) -> bool:
    """Nobody follows me any more, nor I anybody. True when there are more than can be left at once."""
    tied = await store.tied_to(work.db, me, AT_ONCE)
    for other in sorted(tied):
        await hold(work, me, other)
        await part(work, me, other)
    if not tied:
        await store.forget_own(work.db, me)
    return bool(tied)
