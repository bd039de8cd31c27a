"""Posts of people elsewhere."""

from __future__ import annotations

from datetime import timedelta

from kith.base.jobs import Periodic
from kith.base.rooms import Part, Room
from kith.federation.people.filling import RemoteNotes
from kith.federation.posts import arrived, completing, walking
from kith.federation.posts.fetching import FetchedNotes, PostFetcher
from kith.federation.posts.refreshing import Refreshing
from kith.social.statuses.remote_posts import RemotePosts

ROOM = Room(
    name="federation posts",
    jobs=(arrived.ARRIVED, arrived.CARRY, *completing.JOBS, walking.WALK),
    periodic=(Periodic(kind=completing.CHECK_STAMPS, every=timedelta(hours=1), payload=completing.CheckStamps()),),
    subscriptions=completing.SUBSCRIPTIONS,
    parts=(
        Part(PostFetcher, PostFetcher),
        Part(RemoteNotes, lambda _: FetchedNotes()),
        Part(RemotePosts, lambda _: Refreshing()),
    ),
)
