"""Somebody is at another place from now on: those who follow, block, mute or know them here are taken along."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from kith.base.errors import Problem
from kith.base.work import Work
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Account
from kith.social.ids import AccountId
from kith.social.relationships import store
from kith.social.relationships.facts import FollowMoved, Muted
from kith.social.relationships.service import apart, follow
from kith.social.relationships.service.common import count_follow, end_follow, hold
from kith.social.relationships.service.esteem import LONGEST_NOTE
from kith.social.relationships.store import moving
from kith.social.relationships.tables import Follow, Mute

__all__ = ["STEPS", "MovingStep", "refollow", "take_along"]

AT_ONCE = 100
MovingStep = Literal["followers", "notes", "blocks", "mutes"]
STEPS: tuple[MovingStep, ...] = ("followers", "notes", "blocks", "mutes")
FORMER_NOTE = "This user moved from {acct}, here were your previous notes about them:"
FORMER_BLOCK = "This user moved from {acct}, which you had blocked."
FORMER_MUTE = "This user moved from {acct}, which you had muted."


async def refollow(work: Work, target: Account, after: int) -> int | None:
    """Whoever follows somebody here asks them anew, as their server has forgotten it. Where to go on, if there is more.

    Nothing is taken out of anybody's feed meanwhile.
    """
    found = await moving.followers_here(work.db, target.id, after, AT_ONCE)
    people = await accounts.find_all(work.db, [row.account_id for row in found])
    for row in found:
        await hold(work, row.account_id, target.id)
        if await store.drop_follow(work.db, row.account_id, target.id) is None:
            continue
        await count_follow(work, row.account_id, target.id, -1)
        await _follow(work, people[row.account_id], target, row)
    return found[-1].id if len(found) == AT_ONCE else None


async def take_along(work: Work, step: MovingStep, source: Account, target: Account, after: int) -> int | None:
    """One step of a move, a stretch of it. Where to go on, if there is more of this step."""
    match step:
        case "followers":
            return await _followers(work, source, target, after)
        case "notes":
            return await _notes(work, source, target, after)
        case "blocks":
            return await _blocks(work, source, target, after)
        case "mutes":
            return await _mutes(work, source, target, after)


async def _followers(work: Work, source: Account, target: Account, after: int) -> int | None:
    found = await moving.followers_here(work.db, source.id, after, AT_ONCE)
    people = await accounts.find_all(work.db, [row.account_id for row in found])
    for row in found:
        if row.account_id == target.id or await store.blocks_between(work.db, row.account_id, target.id):
            continue
        for other in sorted((source.id, target.id)):
            await hold(work, row.account_id, other)
        # Told before the end of the follow is: whoever is not followed any more leaves lists.
        work.announce(FollowMoved(account_id=row.account_id, source_id=source.id, target_id=target.id))
        await end_follow(work, row.account_id, source.id)
        if not await store.wanted_among(work.db, row.account_id, [target.id]):
            await _follow(work, people[row.account_id], target, row)
    return found[-1].id if len(found) == AT_ONCE else None


async def _follow(work: Work, follower: Account, target: Account, before: Follow) -> None:
    """As they wished before; whoever may not, does not."""
    options = follow.Options(before.reblogs, before.notify, before.languages)
    try:
        await follow.follow(work, follower, target.id, options)
    except Problem:
        work.log("moving.not_followed", account_id=follower.id, target_id=target.id)


async def _notes(work: Work, source: Account, target: Account, after: int) -> int | None:
    found = await moving.notes_here(work.db, source.id, after, AT_ONCE)
    for owner, comment in found:
        await _add_note(work, owner, target, f"{FORMER_NOTE.format(acct=source.acct)}\n{comment}")
    return found[-1][0] if len(found) == AT_ONCE else None


async def _add_note(work: Work, owner: AccountId, target: Account, text: str) -> None:
    before = await moving.find_note(work.db, owner, target.id)
    if text in before or owner == target.id:
        return
    await store.save_note(work.db, owner, target.id, f"{before}\n{text}".strip()[:LONGEST_NOTE])


async def _blocks(work: Work, source: Account, target: Account, after: int) -> int | None:
    """Not against somebody whom one follows already."""
    found = await moving.blocks_here(work.db, source.id, after, AT_ONCE)
    people = await accounts.find_all(work.db, [row.account_id for row in found])
    for row in found:
        owner = people[row.account_id]
        if owner.id == target.id or await store.is_following(work.db, owner.id, target.id):
            continue
        if not await store.blocked_among(work.db, owner.id, [target.id]):
            await apart.block(work, owner, target.id)
            await _add_note(work, owner.id, target, FORMER_BLOCK.format(acct=source.acct))
    return found[-1].id if len(found) == AT_ONCE else None


async def _mutes(work: Work, source: Account, target: Account, after: int) -> int | None:
    found = await moving.mutes_here(work.db, source.id, after, AT_ONCE)
    for row in found:
        if row.account_id == target.id or _is_over(row, work.now):
            continue
        if await store.is_following(work.db, row.account_id, target.id):
            continue
        if not await store.is_muting(work.db, row.account_id, target.id, work.now):
            await _mute(work, row, target)
            await _add_note(work, row.account_id, target, FORMER_MUTE.format(acct=source.acct))
    return found[-1].id if len(found) == AT_ONCE else None


def _is_over(mute: Mute, now: datetime) -> bool:
    return mute.expires_at is not None and mute.expires_at <= now


async def _mute(work: Work, before: Mute, target: Account) -> None:
    row = msgspec.structs.replace(before, id=work.new_id(), target_id=target.id, created_at=work.now)
    await store.save_mute(work.db, row)
    work.announce(Muted(account_id=row.account_id, target_id=target.id, hide_notifications=row.hide_notifications))
