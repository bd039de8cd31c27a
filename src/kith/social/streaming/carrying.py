"""From what happened to events on channels: posts, edits, deletions, boosts, notifications, and what others publish.

Facts of one kind that come together are looked up together. All of a process's streams are served by one task, in the
order in which things happened.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import msgspec

from kith.base.news import Fact
from kith.base.work import Work
from kith.social.announcements import store as announcements
from kith.social.announcements.entities import render_all as render_announcements
from kith.social.announcements.facts import AnnouncementDeleted, AnnouncementPublished, AnnouncementReacted
from kith.social.conversations import store as conversations
from kith.social.conversations.entities import render_conversations
from kith.social.conversations.facts import ConversationChanged
from kith.social.encryption import store as encryption
from kith.social.encryption.entities import render_message
from kith.social.encryption.facts import EncryptedMessageCame
from kith.social.filters.facts import FiltersChanged
from kith.social.ids import AccountId, StatusId
from kith.social.notifications import entities as notifications
from kith.social.notifications import reading as notices
from kith.social.notifications.facts import NotificationMade, NotificationsMerged
from kith.social.statuses import entities as statuses
from kith.social.statuses.facts import BoostWithdrawn, StatusDeleted, StatusEdited, StatusPosted
from kith.social.statuses.filtering import ViewerFilters
from kith.social.statuses.tables import UNLISTED
from kith.social.streaming import store
from kith.social.streaming.channels import (
    EVERYBODY,
    of_direct,
    of_list,
    of_notifications,
    of_token,
    of_user,
    public_of,
    tags_of,
)
from kith.social.streaming.events import StreamEvent
from kith.social.streaming.facts import Published
from kith.social.streaming.hub import Hub
from kith.social.streaming.store import Pairs, Post
from kith.social.timelines.facts import FeedsFilled

__all__ = ["FACTS", "StreamCarrier"]

MOST_UNFINISHED = 1000
_encode = msgspec.json.Encoder().encode
Owners = dict[StatusId, set[int]]


class StreamCarrier:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._told: dict[StatusId, set[int]] = {}  # whose feeds were told of a post that goes on to more feeds

    def wants(self, fact: Fact) -> bool:
        """Whether anybody here may care; asked for every fact there is."""
        hub = self._hub
        if isinstance(fact, Published):
            return hub.is_heard(fact.channel)
        if isinstance(fact, NotificationMade):
            return hub.is_heard(of_notifications(fact.account_id))
        if isinstance(fact, ConversationChanged):
            return hub.is_heard(of_direct(fact.account_id))
        if isinstance(fact, EncryptedMessageCame):
            return hub.is_heard(of_token(fact.key_hash))
        if isinstance(fact, FiltersChanged | NotificationsMerged):
            return hub.is_heard(of_user(fact.account_id))
        if isinstance(fact, StatusPosted):
            return fact.reblog_of_id is None and bool(hub.connections)
        if isinstance(fact, FeedsFilled):
            return bool(hub.homes or hub.lists)
        return bool(hub.connections)

    async def carry(self, work: Work, facts: Sequence[Fact]) -> None:
        """Facts of one kind."""
        await _CARRY[type(facts[0])](self, work, facts)

    # Posts

    async def posted(self, work: Work, facts: Sequence[StatusPosted]) -> None:
        posts = await store.read(work.db, [fact.status_id for fact in facts])
        await self._tell_everybody(work, posts, "update")

    async def fed(self, work: Work, facts: Sequence[FeedsFilled]) -> None:
        is_unfinished = {id: id in fact.unfinished for fact in facts for id in fact.status_ids}
        owners = await store.fed(work.db, list(is_unfinished), self._feeds())
        for id, goes_on in is_unfinished.items():
            self._leave_out_told(id, owners, is_unfinished=goes_on)
        posts = await store.read(work.db, [id for id in is_unfinished if owners.get(id)])
        await self._tell_feeds(work, posts, owners, "update")

    async def edited(self, work: Work, facts: Sequence[StatusEdited]) -> None:
        ids = [fact.status_id for fact in facts]
        posts = await store.read(work.db, ids)
        await self._tell_everybody(work, posts, "status.update")
        await self._tell_feeds(work, posts, await store.fed_with(work.db, ids, self._feeds()), "status.update")

    async def deleted(self, work: Work, facts: Sequence[StatusDeleted | BoostWithdrawn]) -> None:
        """To those in whose home it may have stood; and to everybody, if it was for everybody."""
        posts = await store.read(work.db, [fact.status_id for fact in facts])
        homes = await store.reached(work.db, posts, _accounts(self._hub.homes))
        lists = await store.on_lists(work.db, [post.id for post in posts], self._hub.lists)
        hidden = await self._hidden(work, posts)
        for post in posts:
            event = StreamEvent("delete", str(post.id))
            for channel in self._channels_of(post):
                await self._hub.publish(channel, event, hidden_from=_accounts(hidden.get(post.id, ())))
            channels = [of_user(AccountId(owner)) for owner in homes.get(post.id, ())]
            channels += [of_list(list_id) for list_id in lists.get(post.id, ())]
            await self._hub.publish_each([(channel, event) for channel in channels])

    def _leave_out_told(self, id: StatusId, owners: Pairs, *, is_unfinished: bool) -> None:
        told = self._told.pop(id, None)
        if told and id in owners:
            owners[id] -= told
        if is_unfinished and len(self._told) < MOST_UNFINISHED:
            self._told[id] = (told or set()) | owners.get(id, set())

    # To everybody

    def _channels_of(self, post: Post) -> list[str]:
        """Where somebody listens who may find the post there."""
        if not post.is_open:
            return []
        channels = [] if post.is_reply_to_others else public_of(local=post.local, media=bool(post.media_ids))
        return self._hub.heard([*channels, *tags_of(post.tag_names, local=post.local)])

    async def _hidden(self, work: Work, posts: Sequence[Post]) -> Pairs:
        heard = [post for post in posts if self._channels_of(post)]
        viewers = self._hub.viewers(channel for post in heard for channel in self._channels_of(post))
        return await store.hidden_from(work.db, heard, viewers, work.now)

    async def _tell_everybody(self, work: Work, posts: Sequence[Post], name: str) -> None:
        """The same bytes to all: a status without the fields that depend on its viewer."""
        heard = [post for post in posts if self._channels_of(post)]
        if not heard:
            return
        hidden = await self._hidden(work, heard)
        ids = [post.id for post in heard]
        shown = await statuses.render_by_id(work, ids, None)
        picky = await self._who_filters(work, heard)
        for post in heard:
            if post.id in shown:
                event, unseen = StreamEvent(name, shown[post.id].decode()), _accounts(hidden.get(post.id, ()))
                for channel in self._channels_of(post):
                    await self._hub.publish(channel, event, hidden_from=unseen | picky)
        for viewer in picky:
            own = await statuses.render_by_id(work, ids, viewer, context="public")
            for post in heard:
                if post.id in own and viewer not in _accounts(hidden.get(post.id, ())):
                    for channel in self._channels_of(post):
                        await self._hub.publish(channel, StreamEvent(name, own[post.id].decode()), only=viewer)

    async def _who_filters(self, work: Work, posts: Sequence[Post]) -> set[AccountId]:
        """Those of the listeners who have filters; each of them sees posts their own way."""
        viewers = self._hub.viewers(channel for post in posts for channel in self._channels_of(post))
        return await work.find(ViewerFilters).who_filters(work, viewers)

    # To feeds

    def _feeds(self) -> set[int]:
        return self._hub.homes | self._hub.lists

    def _viewers_of(self, owners: Collection[int]) -> dict[int, AccountId]:
        """Who looks at each of these homes and lists: its owner."""
        homes = {owner: AccountId(owner) for owner in owners if owner in self._hub.homes}
        listed = {
            owner: next(iter(self._hub.viewers([of_list(owner)])), AccountId(0))
            for owner in owners
            if owner in self._hub.lists
        }
        return homes | listed

    async def _tell_feeds(self, work: Work, posts: Sequence[Post], owners: Owners, name: str) -> None:
        """As each viewer sees it; those for whom it looks alike get the same bytes."""
        viewers = {post.id: self._viewers_of(owners.get(post.id, ())) for post in posts}
        everyone = {viewer for of_post in viewers.values() for viewer in of_post.values()}
        unwanted = await store.not_for_home(work.db, posts, everyone, work.now)
        alike: dict[StatusId, dict[AccountId, AccountId]] = {}
        for post in posts:
            seeing = set(viewers[post.id].values()) - _accounts(unwanted.get(post.id, ()))
            alike[post.id] = await self._alike(work, post, seeing, is_new=name == "update")
        events = await _rendered(work, alike, name)
        await self._hub.publish_each(
            [
                (of_user(viewer) if owner == viewer else of_list(owner), event)
                for post in posts
                for owner, viewer in viewers[post.id].items()
                if (event := events.get((alike[post.id].get(viewer, AccountId(0)), post.id))) is not None
            ]
        )

    async def _alike(
        self, work: Work, post: Post, viewers: set[AccountId], *, is_new: bool
    ) -> dict[AccountId, AccountId]:
        """For each viewer, one to whom the post looks the same; whoever has to do with it sees it their own way."""
        if not viewers or post.is_delicate:
            return {viewer: viewer for viewer in viewers}
        is_new = is_new and post.reblog_of_id is None
        concerned = await store.concerned(work.db, post, viewers, is_new=is_new)
        concerned |= await work.find(ViewerFilters).who_filters(work, viewers)
        following: set[AccountId] = set()
        if post.subject_policy == "followers" and post.subject_visibility <= UNLISTED:
            following = await store.followers(work.db, post, viewers)
        first: dict[bool, AccountId] = {}
        return {
            viewer: viewer if viewer in concerned else first.setdefault(viewer in following, viewer)
            for viewer in sorted(viewers)
        }

    # Notifications, and what other rooms publish

    async def notified(self, work: Work, facts: Sequence[NotificationMade]) -> None:
        for fact in facts:
            channel = of_notifications(fact.account_id)
            row = await notices.find(work.db, fact.account_id, fact.notification_id)
            if row is None or row.filtered or not self._hub.is_heard(channel):
                continue
            for shown in await notifications.render(work, [row], fact.account_id):
                await self._hub.publish(channel, StreamEvent("notification", shown.decode()))

    async def talked(self, work: Work, facts: Sequence[ConversationChanged]) -> None:
        for fact in facts:
            found = await conversations.find(work.db, fact.account_id, fact.conversation_id)
            for shown in await render_conversations(work, [found] if found is not None else [], fact.account_id):
                await self._hub.publish(of_direct(fact.account_id), StreamEvent("conversation", shown.decode()))

    async def encrypted(self, work: Work, facts: Sequence[EncryptedMessageCame]) -> None:
        for fact in facts:
            message = await encryption.find_message(work.db, fact.message_id)
            if message is not None:
                payload = _encode(render_message(message)).decode()
                await self._hub.publish(of_token(fact.key_hash), StreamEvent("encrypted_message", payload))

    async def filtered(self, _work: Work, facts: Sequence[FiltersChanged]) -> None:
        for fact in facts:
            await self._hub.publish(of_user(fact.account_id), StreamEvent("filters_changed", None))

    async def announced(self, work: Work, facts: Sequence[AnnouncementPublished]) -> None:
        for fact in facts:
            found = await announcements.find(work.db, fact.announcement_id)
            for shown in await render_announcements(work, [found] if found is not None else [], None, set()):
                await self._hub.publish(EVERYBODY, StreamEvent("announcement", _encode(shown).decode()))

    async def unannounced(self, _work: Work, facts: Sequence[AnnouncementDeleted]) -> None:
        for fact in facts:
            await self._hub.publish(EVERYBODY, StreamEvent("announcement.delete", str(fact.announcement_id)))

    async def reacted(self, work: Work, facts: Sequence[AnnouncementReacted]) -> None:
        for fact in facts:
            found = await announcements.find(work.db, fact.announcement_id)
            for shown in await render_announcements(work, [found] if found is not None else [], None, set()):
                known = [one for one in shown["reactions"] if one["name"] == fact.name]
                told = known[0] if known else {"name": fact.name, "count": 0}
                payload = _encode(told | {"announcement_id": shown["id"]}).decode()
                await self._hub.publish(EVERYBODY, StreamEvent("announcement.reaction", payload))

    async def merged(self, _work: Work, facts: Sequence[NotificationsMerged]) -> None:
        for fact in facts:
            await self._hub.publish(of_user(fact.account_id), StreamEvent("notifications_merged", "1"))

    async def published(self, _work: Work, facts: Sequence[Published]) -> None:
        for fact in facts:
            await self._hub.publish(fact.channel, StreamEvent(fact.event, fact.payload))


async def _rendered(
    work: Work, alike: dict[StatusId, dict[AccountId, AccountId]], name: str
) -> dict[tuple[AccountId, StatusId], StreamEvent]:
    """Each status once for each of those who stand for others, all of one viewer's together."""
    wanted: dict[AccountId, list[StatusId]] = {}
    for id, of_post in alike.items():
        for viewer in set(of_post.values()):
            wanted.setdefault(viewer, []).append(id)
    events: dict[tuple[AccountId, StatusId], StreamEvent] = {}
    for viewer, ids in wanted.items():
        shown = await statuses.render_by_id(work, ids, viewer, context="home")
        events.update({(viewer, id): StreamEvent(name, shown[id].decode()) for id in ids if id in shown})
    return events


def _accounts(ids: Collection[int]) -> set[AccountId]:
    return {AccountId(id) for id in ids}


_CARRY: dict[type[Fact], Callable[..., Any]] = {
    StatusPosted: StreamCarrier.posted,
    FeedsFilled: StreamCarrier.fed,
    StatusEdited: StreamCarrier.edited,
    StatusDeleted: StreamCarrier.deleted,
    BoostWithdrawn: StreamCarrier.deleted,
    NotificationMade: StreamCarrier.notified,
    ConversationChanged: StreamCarrier.talked,
    EncryptedMessageCame: StreamCarrier.encrypted,
    FiltersChanged: StreamCarrier.filtered,
    AnnouncementPublished: StreamCarrier.announced,
    AnnouncementDeleted: StreamCarrier.unannounced,
    AnnouncementReacted: StreamCarrier.reacted,
    NotificationsMerged: StreamCarrier.merged,
    Published: StreamCarrier.published,
}
FACTS = tuple(_CARRY)
