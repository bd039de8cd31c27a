"""The rooms around the posts with Mastodon.py, a library that other people wrote for another server."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable
from typing import Any

import pytest
from mastodon import Mastodon, MastodonNotFoundError, StreamListener

from tests.social.members import Member, join_all
from tests.social.posts import settle
from tests.social.staff import employ
from tests.town import Town

pytestmark = [
    pytest.mark.filterwarnings("ignore:Mastodon version is detected:UserWarning"),
    pytest.mark.filterwarnings("ignore:Endpoint /api/v1/"),  # older versions are walked as well
]
PATIENCE = 60


async def library_of(member: Member) -> Mastodon:
    return await asyncio.to_thread(Mastodon, access_token=member.token, api_base_url=member.town.base_url)


class Pair:
    """Two people, each with the library."""

    def __init__(self, town: Town, ada: Mastodon, bob: Mastodon) -> None:
        self.town = town
        self.ada = ada
        self.bob = bob

    async def do(self, step: Callable[[Mastodon, Mastodon], Any]) -> Any:
        """The library waits for every answer, so it does so aside; then whatever follows from it is awaited."""
        done = await asyncio.to_thread(step, self.ada, self.bob)
        await settle(self.town)
        return done


@pytest.fixture
async def pair(town: Town) -> Pair:
    ada, bob = [await library_of(member) for member in await join_all(town, 2)]
    return Pair(town, ada, bob)


class Ear(StreamListener):
    """All that is heard, in order, by the names of the library's handlers."""

    def __init__(self) -> None:
        self.heard: queue.Queue[tuple[str, Any]] = queue.Queue()

    def on_update(self, status: Any) -> None:
        self.heard.put(("update", status))

    def on_status_update(self, status: Any) -> None:
        self.heard.put(("status_update", status))

    def on_delete(self, deleted_id: Any) -> None:
        self.heard.put(("delete", deleted_id))

    def on_notification(self, notification: Any) -> None:
        self.heard.put(("notification", notification))

    def on_filters_changed(self) -> None:
        self.heard.put(("filters_changed", None))

    def on_conversation(self, conversation: Any) -> None:
        self.heard.put(("conversation", conversation))

    def on_announcement(self, announcement: Any) -> None:
        self.heard.put(("announcement", announcement))

    def on_announcement_reaction(self, reaction: Any) -> None:
        self.heard.put(("announcement_reaction", reaction))

    def until(self, name: str, has: str = "") -> Any:
        """What the next event of this name is about, of those in which this text stands."""
        while True:
            heard, payload = self.heard.get(timeout=PATIENCE)
            if heard == name and has in str(payload):
                return payload


async def test_notifications_are_read_in_groups(pair: Pair) -> None:
    def acts(ada: Mastodon, bob: Mastodon) -> Any:
        posted = [ada.status_post(f"number {number}") for number in range(2)]
        for one in posted:
            bob.status_favourite(one)
        bob.account_follow(ada.me())
        bob.status_post(f"@{ada.me().acct} hello")
        return posted[0]

    posted = await pair.do(acts)

    def reads(ada: Mastodon, bob: Mastodon) -> None:
        found = ada.grouped_notifications()
        assert [one.type for one in found.notification_groups] == ["mention", "follow", "favourite", "favourite"]
        assert [int(one.id) for one in found.accounts] == [int(bob.me().id)]
        marked = found.notification_groups[-1]
        assert (int(marked.status_id), marked.notifications_count) == (int(posted.id), 1)
        assert marked.status_id in [one.id for one in found.statuses]
        assert ada.unread_grouped_notifications_count() == 4
        [alone] = ada.grouped_notification(marked.group_key).notification_groups
        assert alone.group_key == marked.group_key
        assert [one.id for one in ada.grouped_notification_accounts(marked.group_key)] == [bob.me().id]
        apart = ada.grouped_notifications(grouped_types=["follow"], types=["follow", "favourite"], limit=2)
        assert [one.group_key.split("-")[0] for one in apart.notification_groups] == ["follow", "ungrouped"]
        ada.dismiss_grouped_notification(marked.group_key)
        with pytest.raises(MastodonNotFoundError):
            ada.grouped_notification(marked.group_key)
        newest = ada.notifications()[0]
        ada.markers_set(["notifications"], [newest.id])
        assert ada.unread_grouped_notifications_count() == 0

    await pair.do(reads)


async def test_strangers_ask_first(pair: Pair) -> None:
    def acts(ada: Mastodon, bob: Mastodon) -> None:
        assert ada.notifications_policy().for_not_following == "accept"
        assert ada.update_notifications_policy(for_not_following="filter").for_not_following == "filter"
        bob.status_post(f"@{ada.me().acct} may I?")

    await pair.do(acts)

    def accepts(ada: Mastodon, bob: Mastodon) -> None:
        assert ada.notifications() == []
        assert ada.notifications_policy().summary.pending_requests_count == 1
        [asked] = ada.notification_requests()
        assert (asked.account.id, int(asked.notifications_count)) == (bob.me().id, 1)
        assert "may I?" in ada.notification_request(asked).last_status.content
        ada.accept_notification_request(asked)
        assert ada.notification_requests() == []

    await pair.do(accepts)

    def reads(ada: Mastodon, bob: Mastodon) -> None:
        assert ada.notifications_merged()
        assert [one.type for one in ada.notifications()] == ["mention"]
        bob.status_post(f"@{ada.me().acct} thanks")

    await pair.do(reads)
    assert len(await pair.do(lambda ada, _: ada.notifications())) == 2


async def test_filters_are_kept_in_both_versions(pair: Pair) -> None:
    def step(ada: Mastodon, bob: Mastodon) -> None:
        words = [{"keyword": "dragon", "whole_word": True}]
        made = ada.create_filter_v2("Tales", ["home", "public"], "warn", expires_in=3600, keywords_attributes=words)
        assert (made.title, made.context, made.keywords[0].whole_word) == ("Tales", ["home", "public"], True)
        added = ada.add_filter_keyword_v2(made, "castle")
        assert [one.keyword for one in ada.filter_keywords_v2(made)] == ["dragon", "castle"]
        seen = bob.status_post("a castle")
        [match] = ada.status(seen).filtered
        assert (match.filter.id, match.keyword_matches) == (made.id, ["castle"])
        ada.delete_filter_keyword_v2(added)
        listed = ada.add_filter_status_v2(made, seen)
        assert ada.status(seen).filtered[0].status_matches == [seen.id]
        ada.delete_filter_status_v2(listed)
        assert ada.status(seen).filtered == []
        assert ada.update_filter_v2(made, filter_action="hide", title="Old tales").filter_action == "hide"
        assert [one.title for one in ada.filters_v2()] == ["Old tales"]

        [older] = ada.filters()
        assert (older.phrase, older.irreversible, older.whole_word) == ("dragon", True, True)
        assert ada.filter_update(older, phrase="wyvern").phrase == "wyvern"
        assert ada.filter(older).expires_at == made.expires_at
        ada.filter_delete(older)
        assert ada.filters_v2() == []
        one = ada.filter_create("knight", ["thread"], irreversible=False, whole_word=False, expires_in=60)
        assert ada.filters_apply([bob.status_post("knights")], [one], "thread") == []

    await pair.do(step)


async def test_direct_posts_are_conversations(pair: Pair) -> None:
    def begins(ada: Mastodon, bob: Mastodon) -> None:
        ada.update_notifications_policy(for_private_mentions="accept")
        bob.status_post(f"@{ada.me().acct} psst", visibility="direct")

    await pair.do(begins)

    def answers(ada: Mastodon, bob: Mastodon) -> Any:
        [talk] = ada.conversations()
        assert (talk.unread, [one.id for one in talk.accounts]) == (True, [bob.me().id])
        assert not ada.conversations_read(talk).unread
        return ada.status_reply(talk.last_status, "what?", visibility="direct")

    said = await pair.do(answers)

    def reads(ada: Mastodon, bob: Mastodon) -> None:
        [talk] = bob.conversations()
        assert (talk.unread, talk.last_status.id) == (True, said.id)
        ada.status_delete(said)
        [talk] = bob.conversations(limit=1)
        assert talk.last_status.content.endswith("psst</p>")

    await pair.do(reads)


async def test_what_happens_is_heard(pair: Pair) -> None:
    member = await employ(pair.town, "owner")
    ears = Ear(), Ear()

    def opens(ada: Mastodon, bob: Mastodon) -> Any:
        assert ada.stream_healthy()
        ada.timeline_home()
        ada.account_follow(bob.me())
        ada.update_notifications_policy(for_private_mentions="accept")
        return [ada.stream_user(ears[0], run_async=True), ada.stream_direct(ears[1], run_async=True)]

    streams = await pair.do(opens)
    try:
        await pair.do(lambda ada, _: _opened(ada, ears))
        said = await pair.do(lambda _, bob: bob.status_post("hear me"))
        assert (await asyncio.to_thread(ears[0].until, "update", "hear me")).id == said.id
        await pair.do(lambda _, bob: bob.status_update(said, "hear me out"))
        assert "out" in (await asyncio.to_thread(ears[0].until, "status_update")).content
        await pair.do(lambda _, bob: bob.status_delete(said))
        assert str(await asyncio.to_thread(ears[0].until, "delete")) == str(said.id)
        await pair.do(lambda ada, bob: bob.status_post(f"@{ada.me().acct} psst", visibility="direct"))
        assert (await asyncio.to_thread(ears[0].until, "notification")).type == "mention"
        talk = await asyncio.to_thread(ears[1].until, "conversation", "psst")
        assert (talk.unread, len(talk.accounts)) == (True, 1)
        told = await member.post("/api/v1/admin/announcements", json={"text": "Cake at five"})
        assert (await asyncio.to_thread(ears[0].until, "announcement")).content == "<p>Cake at five</p>"
        await pair.do(lambda ada, _: _reads_announcement(ada, told["id"]))
        assert (await asyncio.to_thread(ears[0].until, "announcement_reaction")).count == 1
    finally:
        for stream in streams:
            await asyncio.to_thread(stream.close)


def _opened(ada: Mastodon, ears: tuple[Ear, Ear]) -> None:
    """Until both streams are heard: what is sent before they are open is not."""
    made = None
    while made is None:
        made = ada.filter_create("one", ["home"])
        try:
            assert ears[0].heard.get(timeout=1)[0] == "filters_changed"
        except queue.Empty:
            made = None
    while ears[1].heard.empty():
        ada.status_post("to myself", visibility="direct")
        try:
            assert ears[1].heard.get(timeout=1)[0] == "conversation"
        except queue.Empty:
            continue
        break


def _reads_announcement(ada: Mastodon, id: str) -> None:
    [one] = [one for one in ada.announcements() if str(one.id) == id]
    assert not one.read
    ada.announcement_reaction_create(one, "👍")
    [reaction] = next(one for one in ada.announcements() if str(one.id) == id).reactions
    assert (reaction.name, reaction.count, reaction.me) == ("👍", 1, True)
    ada.announcement_dismiss(one)
    assert id not in [str(one.id) for one in ada.announcements()]


async def test_people_are_suggested_and_preferences_read(pair: Pair) -> None:
    await pair.do(lambda ada, bob: ada.status_favourite(bob.status_post("nice, is it not?")))

    def step(ada: Mastodon, bob: Mastodon) -> None:
        assert bob.me().id in [one.account.id for one in ada.suggestions_v2()]
        assert bob.me().id in [one.id for one in ada.suggestions_v1()]
        ada.suggestion_delete(bob.me())
        assert bob.me().id not in [one.account.id for one in ada.suggestions_v2()]
        chosen = ada.preferences()
        assert (chosen["posting:default:visibility"], chosen["reading:expand:spoilers"]) == ("public", False)

    await pair.do(step)
