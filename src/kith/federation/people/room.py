"""People on other servers."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.federation.people import filling, refollowing, tasks
from kith.federation.people.fetching import ActorFetches
from kith.federation.people.looking_up import LookUp
from kith.federation.people.new_hosts import NewHosts
from kith.social.accounts.directory import Directory
from kith.social.relationships.facts import FollowRequested
from kith.social.search.elsewhere import Elsewhere

ROOM = Room(
    name="federation people",
    jobs=(
        refollowing.REFOLLOW,
        tasks.REFRESH,
        tasks.LOOK_FOR_STALE,
        filling.FILL,
        filling.REREAD_TOP,
        filling.FILL_FOLLOWED,
    ),
    periodic=(Periodic(kind=tasks.LOOK_FOR_STALE, every=timedelta(hours=1), payload=tasks.LookForStale()),),
    subscriptions=((FollowRequested, filling.FILL_FOLLOWED),),
    parts=(
        Part(ActorFetches, ActorFetches),
        Part(NewHosts, lambda _: NewHosts()),
        Part(LookUp, LookUp, also=(Directory, Elsewhere)),
    ),
)
