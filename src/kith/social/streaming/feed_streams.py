"""Streams of homes and lists: who is told of a post, an edit, a boost.

Whoever listens when a post appears is told at once: the rules of the feeds are asked for those who listen, and nobody
waits for the worker that fills the feeds. When the feeds are filled, only those are told who came between the two, for
they have found the post in no page and heard of it in no stream. Each stream has a number, counted up as streams are
opened; of each post it is known up to which number it was told. So nobody is left out, and nobody is told twice.

Boosts are told when the feeds are filled: whether a home has one depends on what stands in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from kith.base.work import Work
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import entities as statuses
from kith.social.statuses.filtering import ViewerFilters
from kith.social.streaming import store
from kith.social.streaming.channels import of_list
from kith.social.streaming.connections import EVERY_STREAM, Streams
from kith.social.streaming.events import StreamEvent
from kith.social.streaming.hub import Hub, StreamDelivery
from kith.social.streaming.store import Pairs, Post
from kith.social.timelines.facts import FeedsFilled

__all__ = ["FeedStreams", "touched_by_filters"]

MOST_UNFINISHED = 1000
MOST_KNOWN = 20_000
NO_ONE = AccountId(0)
Alike = dict[AccountId, set[AccountId]]
Events = Mapping[tuple[AccountId, StatusId], StreamEvent]


class FeedStreams:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._told_upto: dict[StatusId, int] = {}  # new posts; the number of the last stream for which it was decided
        self._unfilled: dict[StatusId, None] = {}  # those of them that are not in the feeds yet
        self._told: dict[StatusId, set[int]] = {}  # whose feeds were told of a post that goes on to more feeds

    async def tell_new(self, work: Work, posts: Sequence[Post]) -> None:
        """Of posts that have just appeared, to all who listen now."""
        new = [post for post in posts if post.reblog_of_id is None and post.id not in self._told_upto]
        if not new:
            return
        upto = self._hub.newest
        owners = await store.chosen(work.db, new, self._hub.homes, self._hub.lists, work.now)
        deliveries = await self._deliveries(work, new, owners, "update", dict.fromkeys(owners, Streams(upto=upto)))
        for post in new:
            self._told_upto[post.id] = upto
            self._unfilled[post.id] = None
        _shorten(self._told_upto)
        _shorten(self._unfilled)
        await self._hub.publish_each(deliveries)

    async def tell_filled(self, work: Work, facts: Sequence[FeedsFilled]) -> None:
        """What stands in the feeds now, to those who have not heard of it."""
        goes_on = {id: id in fact.unfinished for fact in facts for id in fact.status_ids}
        unknown = await store.read(work.db, [id for id in goes_on if id not in self._told_upto])
        await self.tell_new(work, unknown)
        boosts = [post.id for post in unknown if post.reblog_of_id is not None]
        late = [id for id in goes_on if self._told_upto.get(id, self._hub.newest) < self._hub.newest]
        owners = await store.fed(work.db, [*boosts, *late], self._feeds()) if boosts or late else {}
        for id, is_unfinished in goes_on.items():
            self._leave_out_told(id, owners, is_unfinished=is_unfinished)
        posts = await store.read(work.db, [id for id, of_post in owners.items() if of_post])
        wanted = await self._wanted(work, posts, owners)
        streams = {id: Streams(after=self._told_upto.get(id, 0)) for id in owners}
        await self._hub.publish_each(await self._deliveries(work, posts, wanted, "update", streams))

    async def tell_edited(self, work: Work, posts: Sequence[Post]) -> None:
        """Where it stands, as itself or boosted; and where it was told of, though it does not stand there yet."""
        owners = await store.fed_with(work.db, [post.id for post in posts], self._feeds())
        unfilled = [post for post in posts if post.id in self._unfilled]
        for id, more in (await store.chosen(work.db, unfilled, self._hub.homes, self._hub.lists, work.now)).items():
            owners.setdefault(id, set()).update(more)
        wanted = await self._wanted(work, posts, owners)
        await self._hub.publish_each(await self._deliveries(work, posts, wanted, "status.update", {}))

    def _feeds(self) -> list[int]:
        return [*self._hub.homes, *self._hub.lists]

    def _leave_out_told(self, id: StatusId, owners: Pairs, *, is_unfinished: bool) -> None:
        told = self._told.pop(id, None)
        if told and id in owners:
            owners[id] -= told
        if not is_unfinished:
            self._unfilled.pop(id, None)
        elif len(self._told) < MOST_UNFINISHED:
            self._told[id] = (told or set()) | owners.get(id, set())

    def _viewers_of(self, owners: Collection[int]) -> dict[int, AccountId]:
        """Who looks at each of these homes and lists: its owner."""
        homes = {owner: AccountId(owner) for owner in owners if owner in self._hub.homes}
        if not self._hub.lists:
            return homes
        listed = {
            owner: next(iter(self._hub.viewers([of_list(owner)])), NO_ONE)
            for owner in owners
            if owner in self._hub.lists
        }
        return homes | listed

    async def _wanted(self, work: Work, posts: Sequence[Post], owners: Pairs) -> Pairs:
        """Without those who do not want it any more since it came into their feeds."""
        viewers = {post.id: self._viewers_of(owners.get(post.id, ())) for post in posts}
        everyone = {viewer for of_post in viewers.values() for viewer in of_post.values()}
        unwanted = await store.not_for_home(work.db, posts, everyone, work.now)
        return {
            id: {owner for owner, viewer in of_post.items() if viewer not in unwanted.get(id, ())}
            for id, of_post in viewers.items()
        }

    async def _deliveries(
        self, work: Work, posts: Sequence[Post], owners: Pairs, name: str, streams: Mapping[StatusId, Streams]
    ) -> list[StreamDelivery]:
        """As each viewer sees it; those for whom it looks alike get the same bytes."""
        viewers = {post.id: self._viewers_of(owners.get(post.id, ())) for post in posts}
        everyone = {viewer for of_post in viewers.values() for viewer in of_post.values()}
        if not everyone:
            return []
        touched = await touched_by_filters(work, posts, everyone)
        alike: dict[StatusId, Alike] = {}
        for post in posts:
            seeing = set(viewers[post.id].values())
            alike[post.id] = await _alike(work, post, seeing, touched[post.id], is_new=name == "update")
        events = await _rendered(work, alike, name)
        return [
            StreamDelivery(event, self._channels(viewers[post.id], some), streams.get(post.id, EVERY_STREAM))
            for post in posts
            for first, some in alike[post.id].items()
            if (event := events.get((first, post.id))) is not None
        ]

    def _channels(self, viewers: Mapping[int, AccountId], some: set[AccountId]) -> list[str]:
        """Of the homes and lists that some of the viewers look at."""
        homes, lists = self._hub.homes, self._hub.lists
        return [homes.get(owner) or lists.get(owner, "") for owner, viewer in viewers.items() if viewer in some]


async def touched_by_filters(
    work: Work, posts: Sequence[Post], viewers: Collection[AccountId]
) -> dict[StatusId, set[AccountId]]:
    """Whose filters match each of the posts, or what it quotes: they see it their own way."""
    ids = {id for post in posts for id in post.texts}
    found = await work.find(ViewerFilters).who_matches(work, viewers, sorted(ids))
    return {post.id: set().union(*(found.get(id, ()) for id in post.texts)) for post in posts}


async def _alike(work: Work, post: Post, viewers: set[AccountId], touched: set[AccountId], *, is_new: bool) -> Alike:
    """Those to whom the post looks the same, by one of them; whoever has to do with it sees it their own way."""
    if not viewers or post.is_delicate:
        return {viewer: {viewer} for viewer in viewers}
    is_new = is_new and post.reblog_of_id is None
    own = viewers & (touched | await store.concerned(work.db, post, viewers, is_new=is_new))
    following = [await store.followers(work.db, id, viewers) for id in post.asks_followers]
    groups: dict[tuple[bool, ...], set[AccountId]] = defaultdict(set)
    for viewer in viewers - own:
        groups[tuple(viewer in some for some in following)].add(viewer)
    return {viewer: {viewer} for viewer in own} | {min(group): group for group in groups.values()}


async def _rendered(work: Work, alike: Mapping[StatusId, Alike], name: str) -> Events:
    """Each status once for each of those who stand for others, all of one viewer's together."""
    wanted: dict[AccountId, list[StatusId]] = {}
    for id, of_post in alike.items():
        for viewer in of_post:
            wanted.setdefault(viewer, []).append(id)
    events: dict[tuple[AccountId, StatusId], StreamEvent] = {}
    for viewer, ids in wanted.items():
        shown = await statuses.render_by_id(work, ids, viewer, context="home")
        events.update({(viewer, id): StreamEvent(name, shown[id].decode()) for id in ids if id in shown})
    return events


def _shorten(kept: dict[StatusId, int] | dict[StatusId, None]) -> None:
    """The oldest go."""
    for id in list(islice(kept, max(0, len(kept) - MOST_KNOWN))):
        del kept[id]
