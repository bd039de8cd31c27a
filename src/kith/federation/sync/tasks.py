"""Follows that another server believes in are taken back there."""

from __future__ import annotations

from kith.base.jobs import JobKind
from kith.base.work import Work
from kith.federation.delivery.service import deliver
from kith.federation.people import store as people
from kith.federation.sync.facts import GhostFollowFound
from kith.federation.vocabulary.outgoing import activities
from kith.social.accounts import store as accounts

__all__ = ["TAKE_BACK"]


async def take_back(work: Work, fact: GhostFollowFound) -> None:
    """The id that the follow had is not known here any more; whoever reads it goes by who follows whom."""
    follower, followed = await accounts.find(work.db, fact.account_id), await accounts.find(work.db, fact.target_id)
    actor = await people.find_actor(work.db, fact.target_id)
    if follower is None or followed is None or actor is None:
        return
    ghost = activities.follow(follower.uri, followed.uri, f"{follower.uri}#follows/{work.new_id()}")
    undone = activities.undo(ghost, f"{ghost['id']}/undo")
    await deliver(work, activity=undone, sender=follower.id, inboxes=[actor.inbox])


TAKE_BACK: JobKind[GhostFollowFound] = JobKind(
    name="federation_sync.take_back", payload=GhostFollowFound, handler=take_back, is_harmless=True
)
