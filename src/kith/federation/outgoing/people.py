"""Profiles that are other than before, people who move, and people who are gone."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.delivery.service import deliver
from kith.federation.documents.people import parts_of
from kith.federation.keys import store as keys
from kith.federation.keys.facts import ActorKeyRotated
from kith.federation.outgoing import recipients
from kith.federation.outgoing.telling import find_here
from kith.federation.relays import store as relays
from kith.federation.vocabulary.outgoing import activities
from kith.federation.vocabulary.outgoing.actors import actor
from kith.social.accounts import store as accounts
from kith.social.accounts.facts import AccountChanged, AccountDeleted, AccountMoved
from kith.social.ids import AccountId

__all__ = ["KINDS", "tell_of_end", "tell_of_key", "tell_of_profile_later"]

TOLD_AFTER = timedelta(seconds=5)
AT_ONCE = 500


class TellProfile(msgspec.Struct):
    """What is shown of somebody here is another. With another key, the one before it is still believed elsewhere."""

    account_id: AccountId
    with_previous_key: bool = False


class TellEverybody(msgspec.Struct):
    """That somebody here is gone, to all who are known: a stretch of inboxes at a time, those after a given one."""

    account_id: AccountId
    after: str = ""


async def tell_of_profile_later(work: Work, fact: AccountChanged) -> None:
    """Whatever else somebody changes within a moment is told with it."""
    me = await find_here(work, fact.account_id)
    if me is not None and me.is_listed:
        work.enqueue(PROFILE, TellProfile(me.id), at=work.now + TOLD_AFTER, key=str(me.id))


async def tell_of_key(work: Work, fact: ActorKeyRotated) -> None:
    if fact.account_id is not None:
        work.enqueue(PROFILE, TellProfile(fact.account_id, with_previous_key=True))


async def tell_of_profile(work: Work, payload: TellProfile) -> None:
    me = await find_here(work, payload.account_id)
    if me is None or not me.is_listed:
        return
    known = await recipients.of_profile(work, me)
    if not known:
        return
    passing_on = await relays.enabled_inboxes(work.db)
    document = actor(work.settings, await parts_of(work, me))
    await deliver(
        work,
        activity=activities.update_actor(document, work.now),
        sender=me.id,
        inboxes=dict.fromkeys((*known, *passing_on)),
        with_previous_key=payload.with_previous_key,
    )


async def tell_of_move(work: Work, fact: AccountMoved) -> None:
    me, target = await find_here(work, fact.account_id), await accounts.find(work.db, fact.target_id)
    if me is not None and target is not None:
        activity = activities.move(me.uri, target.uri, int(work.now.timestamp()))
        inboxes = await recipients.followers_and_blockers(work.db, me)
        await deliver(work, activity=activity, sender=me.id, inboxes=inboxes)


async def tell_of_end(work: Work, fact: AccountDeleted) -> None:
    """Whoever never had a key was never heard of anywhere."""
    gone = await accounts.find(work.db, fact.account_id)
    if gone is not None and gone.is_local and await keys.find(work.db, gone.id) is not None:
        work.enqueue(END, TellEverybody(gone.id))


async def tell_everybody(work: Work, payload: TellEverybody) -> None:
    """Whoever has followed is told no earlier than the others, so that nobody's inbox has to be remembered."""
    gone = await accounts.find(work.db, payload.account_id)
    if gone is None:
        return
    found = await recipients.after(work.db, payload.after, AT_ONCE)
    await deliver(work, activity=activities.delete_actor(gone.uri), sender=gone.id, inboxes=found)
    if len(found) == AT_ONCE:
        work.enqueue(END, TellEverybody(gone.id, found[-1]))


PROFILE: JobKind[TellProfile] = JobKind(
    name="federation_outgoing.profile", payload=TellProfile, handler=tell_of_profile, is_harmless=True
)
MOVED: JobKind[AccountMoved] = JobKind(
    name="federation_outgoing.moved", payload=AccountMoved, handler=tell_of_move, is_harmless=True
)
END: JobKind[TellEverybody] = JobKind(
    name="federation_outgoing.end", payload=TellEverybody, handler=tell_everybody, is_harmless=True
)
KINDS = (PROFILE, MOVED, END)
