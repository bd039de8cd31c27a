"""From what happened to events on channels: posts, edits, deletions, boosts, notifications, and what others publish.

Facts of one kind that come together are looked up together. All of a process's streams are served by one task, in the
order in which things happened.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
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
from kith.social.ids import AccountId
from kith.social.notifications import entities as notifications
from kith.social.notifications import reading as notices
from kith.social.notifications.facts import NotificationMade, NotificationsMerged
from kith.social.statuses import entities as statuses
from kith.social.statuses.facts import BoostWithdrawn, StatusDeleted, StatusEdited, StatusPosted
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
from kith.social.streaming.feed_streams import FeedStreams, touched_by_filters
from kith.social.streaming.hub import Hub, StreamDelivery
from kith.social.streaming.store import Pairs, Post
from kith.social.timelines.facts import FeedsFilled

__all__ = ["FACTS", "StreamCarrier"]

_encode = msgspec.json.Encoder().encode


class StreamCarrier:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._feeds = FeedStreams(hub)

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
        await self._feeds.tell_new(work, posts)
        await self._tell_everybody(work, posts, "update")

    async def fed(self, work: Work, facts: Sequence[FeedsFilled]) -> None:
        await self._feeds.tell_filled(work, facts)

    async def edited(self, work: Work, facts: Sequence[StatusEdited]) -> None:
        posts = await store.read(work.db, [fact.status_id for fact in facts])
        await self._tell_everybody(work, posts, "status.update")
        await self._feeds.tell_edited(work, posts)

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
            await self._hub.publish_each([StreamDelivery(event, channels)])

    # To everybody

    def _channels_of(self, post: Post) -> list[str]:
        """Where somebody listens who may find the post there."""
        if not post.is_open:
            return []
        channels = [] if post.is_reply_to_others else public_of(local=post.local, media=bool(post.media_ids))
        return self._hub.heard([*channels, *tags_of(post.tag_names, local=post.local)])

    async def _hidden(self, work: Work, posts: Sequence[Post]) -> Pairs:
        heard = [post for post in posts if self._channels_of(post)]
        return await store.hidden_from(work.db, heard, self._viewers_of(heard), work.now)

    async def _tell_everybody(self, work: Work, posts: Sequence[Post], name: str) -> None:
        """The same bytes to all: a status without the fields that depend on its viewer.

        Whose filters match, or from whom what it quotes is hidden, is shown it their own way, or not at all.
        """
        heard = {post.id: post for post in posts if self._channels_of(post)}
        if not heard:
            return
        hidden = await self._hidden(work, list(heard.values()))
        shown = await statuses.render_by_id(work, list(heard), None)
        viewers = self._viewers_of(heard.values())
        touched = await touched_by_filters(work, list(heard.values()), viewers)
        for id, some in (await store.not_to_see_quoted(work.db, list(heard.values()), viewers, work.now)).items():
            touched[id] |= _accounts(some)
        for id, json in shown.items():
            event, unseen = StreamEvent(name, json.decode()), _accounts(hidden.get(id, ()))
            for channel in self._channels_of(heard[id]):
                await self._hub.publish(channel, event, hidden_from=unseen | touched[id])
        for viewer in set().union(*touched.values()):
            own = [id for id in shown if viewer in touched[id] and viewer not in hidden.get(id, ())]
            for id, json in (await statuses.render_by_id(work, own, viewer, context="public")).items():
                event = StreamEvent(name, json.decode())
                for channel in self._channels_of(heard[id]):
                    await self._hub.publish(channel, event, only=viewer)

    def _viewers_of(self, posts: Iterable[Post]) -> set[AccountId]:
        return self._hub.viewers(channel for post in posts for channel in self._channels_of(post))

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
            if not self._hub.is_heard(of_direct(fact.account_id)):
                continue
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
