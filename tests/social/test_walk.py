"""A day with Mastodon.py, a library that other people wrote for another server."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from mastodon import Mastodon, MastodonNotFoundError
from PIL import Image

from tests.social.members import join_all
from tests.social.posts import settle
from tests.social.samples import image_file
from tests.social.tokens import consent
from tests.town import Person, Town

pytestmark = pytest.mark.filterwarnings("ignore:Mastodon version is detected:UserWarning")
SCOPES = ["read", "write", "follow", "push"]


async def _sign_in(town: Town, person: Person) -> Mastodon:
    def begin() -> Mastodon:
        client_id, secret = Mastodon.create_app("Kite", scopes=SCOPES, api_base_url=town.base_url)
        return Mastodon(client_id, secret, api_base_url=town.base_url)

    api = await asyncio.to_thread(begin)
    url = await asyncio.to_thread(api.auth_request_url, scopes=SCOPES, allow_http=True)
    code = await consent(town, person, url)
    await asyncio.to_thread(api.log_in, code=code, scopes=SCOPES, allow_http=True)
    return api


class Pair:
    """Two people, each with an app of their own."""

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
    """Both are signed in already; the walk itself begins at the door."""
    members = await join_all(town, 2)
    ada, bob = [
        await asyncio.to_thread(Mastodon, access_token=member.token, api_base_url=town.base_url) for member in members
    ]
    return Pair(town, ada, bob)


def _ids(things: Any) -> list[int]:
    return [int(thing.id) for thing in things]


def _there_and_back(api: Mastodon, first: Any) -> tuple[list[int], list[int]]:
    """Every page to the oldest by its links, and from there every page to the newest: both newest first."""
    there, page = [], first
    last = first
    while page:
        there += _ids(page)
        last, page = page, api.fetch_next(page)
    back, page = _ids(last), api.fetch_previous(last)
    while page:
        back = _ids(page) + back
        page = api.fetch_previous(page)
    return there, back


async def test_somebody_signs_in_and_makes_a_profile(town: Town) -> None:
    pair = Pair(town, *[await _sign_in(town, await town.sign_up()) for _ in range(2)])

    def step(ada: Mastodon, bob: Mastodon) -> None:
        ada.account_update_credentials(
            display_name="Ada L.",
            note="I like *engines*",
            avatar=image_file("PNG", (60, 40)),
            avatar_mime_type="image/png",
            header=image_file("JPEG", (300, 100)),
            header_mime_type="image/jpeg",
            fields=[("Site", "http://ada.example")],
            discoverable=True,
            bot=False,
            locked=False,
        )
        me = ada.account_verify_credentials()
        seen = bob.account(me.id)
        assert (seen.display_name, seen.note) == ("Ada L.", "<p>I like *engines*</p>")
        assert (me.source.note, me.source.fields[0].value) == ("I like *engines*", "http://ada.example")
        assert seen.fields[0].name == "Site"
        assert 'href="http://ada.example"' in seen.fields[0].value
        assert bob.account_lookup(me.acct).id == me.id
        assert seen.avatar != bob.me().avatar
        assert seen.created_at.hour == 0

    await pair.do(step)


async def test_a_picture_is_posted_a_thread_grows_and_is_marked(pair: Pair) -> None:
    def posts(ada: Mastodon, bob: Mastodon) -> tuple[Any, Any, Any]:
        sent = ada.media_post(image_file("PNG", (64, 48)), "image/png", description="a barn", focus=(0.5, -0.5))
        root = ada.status_post(
            "Look at this #barn", media_ids=[sent], sensitive=True, spoiler_text="barns", language="en"
        )
        reply = bob.status_reply(root, "so red")
        last = ada.status_reply(reply, "is it not?", visibility="unlisted")
        return root, reply, last

    root, reply, last = await pair.do(posts)

    def looks(ada: Mastodon, bob: Mastodon) -> None:
        [picture] = bob.status(root.id).media_attachments
        assert (picture.type, picture.description, picture.meta.original.width) == ("image", "a barn", 64)
        assert (picture.meta.focus.x, picture.meta.focus.y) == (0.5, -0.5)
        with Image.open(io.BytesIO(httpx.get(picture.url).content)) as image:
            assert image.size == (64, 48)
        context = bob.status_context(reply)
        assert (_ids(context.ancestors), _ids(context.descendants)) == ([int(root.id)], [int(last.id)])
        assert [tag.name for tag in root.tags] == ["barn"]
        assert reply.mentions[0].id == ada.me().id
        assert ada.status(root.id).replies_count == 1

    await pair.do(looks)

    def marks(ada: Mastodon, bob: Mastodon) -> None:
        assert bob.status_favourite(root).favourites_count == 1
        boosted = bob.status_reblog(root)
        assert (boosted.reblog.id, boosted.reblog.reblogged, boosted.reblog.reblogs_count) == (root.id, True, 1)
        assert bob.status_bookmark(root).bookmarked
        assert ada.status_pin(root).pinned
        assert _ids(bob.favourites()) == _ids(bob.bookmarks()) == [int(root.id)]
        assert _ids(ada.status_favourited_by(root)) == _ids(ada.status_reblogged_by(root)) == [int(bob.me().id)]
        assert _ids(bob.account_statuses(ada.me(), pinned=True)) == [int(root.id)]
        edited = ada.status_update(root, "Look at that #barn", sensitive=True, spoiler_text="barns")
        assert edited.edited_at is not None
        assert [one.content.count("that") for one in bob.status_history(root)] == [0, 1]
        assert ada.status_source(root).text == "Look at that #barn"
        for undo in (bob.status_unfavourite, bob.status_unbookmark, bob.status_unreblog, ada.status_unpin):
            undo(root)
        gone = ada.status_delete(last)
        assert gone.text.endswith("is it not?")
        with pytest.raises(MastodonNotFoundError):
            bob.status(last)

    await pair.do(marks)


async def test_a_poll_is_voted_on_and_a_post_is_planned(pair: Pair) -> None:
    def step(ada: Mastodon, bob: Mastodon) -> None:
        asked = ada.status_post("which?", poll=ada.make_poll(["red", "blue"], expires_in=600, multiple=True))
        voted = bob.poll_vote(asked.poll, [0, 1])
        assert (voted.votes_count, voted.voters_count, voted.own_votes) == (2, 1, [0, 1])
        assert [option.votes_count for option in ada.poll(asked.poll.id).options] == [1, 1]

        planned = ada.status_post("later", scheduled_at=asked.created_at.replace(year=asked.created_at.year + 1))
        assert _ids(ada.scheduled_statuses()) == [int(planned.id)]
        ada.scheduled_status_delete(planned)
        assert ada.scheduled_statuses() == []

    await pair.do(step)


async def test_somebody_is_followed_and_timelines_are_walked_to_both_ends(pair: Pair) -> None:
    def follow(ada: Mastodon, bob: Mastodon) -> None:
        ada.timeline_home()
        assert ada.account_follow(bob.me()).following
        assert ada.account_relationships(bob.me())[0].following
        assert _ids(bob.account_followers(bob.me())) == [int(ada.me().id)]

    await pair.do(follow)
    tag = f"walk{pair.town.port}"

    def posts(ada: Mastodon, bob: Mastodon) -> list[int]:
        return [int(bob.status_post(f"step {number} #{tag}").id) for number in range(23)][::-1]

    posted = await pair.do(posts)

    def walks(ada: Mastodon, bob: Mastodon) -> None:
        marked = [ada.status_favourite(id) for id in posted[:7]]
        for first in (
            ada.timeline_home(limit=5),
            ada.timeline_hashtag(tag, limit=4),
            ada.account_statuses(bob.me(), limit=6),
        ):
            there, back = _there_and_back(ada, first)
            assert there == back == posted
        assert _ids(ada.timeline_local(limit=40))[: len(posted)] == posted
        assert _ids(ada.fetch_remaining(ada.timeline_home(limit=10))) == posted
        assert _there_and_back(ada, ada.favourites(limit=3)) == (_ids(marked)[::-1],) * 2
        assert _ids(ada.timeline_home(min_id=posted[5], limit=3)) == posted[2:5]
        assert _ids(ada.timeline_home(since_id=posted[5], limit=3)) == posted[:3]
        ada.markers_set(["home"], [posted[3]])
        assert int(ada.markers_get(["home"]).home.last_read_id) == posted[3]
        assert not ada.account_unfollow(bob.me()).following

    await pair.do(walks)
    assert await pair.do(lambda ada, _: ada.timeline_home()) == []


async def test_a_list_is_kept(pair: Pair) -> None:
    def make(ada: Mastodon, bob: Mastodon) -> Any:
        ada.timeline_home()
        ada.account_follow(bob.me())
        made = ada.list_create("Friends", replies_policy="followed")
        ada.list_accounts_add(made, [bob.me()])
        assert (ada.lists()[0].title, _ids(ada.list_accounts(made))) == ("Friends", [int(bob.me().id)])
        assert _ids(ada.account_lists(bob.me())) == [int(made.id)]
        assert ada.list_update(made, "Old friends", exclusive=True).exclusive
        return made

    made = await pair.do(make)
    posted = await pair.do(lambda _, bob: [int(bob.status_post(f"to the list {one}").id) for one in range(5)][::-1])

    def looks(ada: Mastodon, bob: Mastodon) -> None:
        assert _there_and_back(ada, ada.timeline_list(made, limit=2)) == (posted, posted)
        assert ada.timeline_home() == [], "the list keeps them for itself"
        ada.list_accounts_delete(made, [bob.me()])
        assert ada.list_accounts(made) == []
        ada.list_delete(made)
        assert ada.lists() == []

    await pair.do(looks)


async def test_what_there_is_is_found(pair: Pair) -> None:
    word = f"quixotic{pair.town.port}"

    def posts(ada: Mastodon, _: Mastodon) -> Any:
        ada.account_update_credentials(display_name=f"Ada {word}", discoverable=True)
        return ada.status_post(f"a {word} idea #{word}")

    posted = await pair.do(posts)

    def searches(ada: Mastodon, bob: Mastodon) -> None:
        own = ada.search(word, exclude_unreviewed=False)
        assert _ids(own.statuses) == [int(posted.id)]
        assert [tag.name for tag in own.hashtags] == [word]
        assert int(ada.me().id) in _ids(bob.search(word, result_type="accounts").accounts)
        assert _ids(bob.account_search(ada.me().acct)) == [int(ada.me().id)]
        assert _ids(bob.search(posted.url, resolve=True).statuses) == [int(posted.id)]
        assert bob.search("nothing-like-it-anywhere").statuses == []

    await pair.do(searches)


async def test_people_are_told_what_others_did(pair: Pair) -> None:
    def acts(ada: Mastodon, bob: Mastodon) -> Any:
        posted = ada.status_post("tell me")
        bob.account_follow(ada.me())
        bob.status_favourite(posted)
        bob.status_reblog(posted)
        bob.status_post(f"@{ada.me().acct} hello")
        return posted

    posted = await pair.do(acts)

    def reads(ada: Mastodon, bob: Mastodon) -> None:
        told = ada.notifications()
        assert sorted(one.type for one in told) == ["favourite", "follow", "mention", "reblog"]
        assert {one.account.id for one in told} == {bob.me().id}
        assert {one.status.id for one in told if one.type in ("favourite", "reblog")} == {posted.id}
        assert _there_and_back(ada, ada.notifications(limit=2)) == (_ids(told), _ids(told))
        assert [one.type for one in ada.notifications(types=["mention"])] == ["mention"]
        assert "mention" not in [one.type for one in ada.notifications(exclude_types=["mention"])]
        assert ada.notifications_unread_count().count == 4
        assert ada.notifications(id=told[0]).id == told[0].id
        ada.notifications_dismiss(told[0])
        assert _ids(ada.notifications()) == _ids(told)[1:]
        ada.notifications_clear()
        assert ada.notifications() == []

    await pair.do(reads)
