"""What a viewer does not see in a timeline is never streamed to them; and who may listen no longer hears nothing more."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

from kith.identity.tokens import service as tokens
from kith.identity.tokens import store as token_store
from kith.identity.users import service as users
from kith.identity.users import store as user_store
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import Preferences
from kith.social.ids import AccountId
from tests.identity.flow_browser import Browser
from tests.social.members import Member, join, join_all, set_state, stranger
from tests.social.posts import does, post, said_elsewhere, settle
from tests.social.streams import Events, Socket, listen, open_socket
from tests.social.test_streaming import friends
from tests.social.tokens import OOB, consent, new_app
from tests.town import Town

PUBLIC_TAG = "seen"


async def _all_ears(stack: AsyncExitStack, ada: Member) -> list[Events | Socket]:
    """Home, public and a tag, by both transports."""
    return [
        await stack.enter_async_context(listen(ada, "user")),
        await stack.enter_async_context(listen(ada, "public")),
        await stack.enter_async_context(listen(ada, "hashtag", tag=PUBLIC_TAG)),
        await stack.enter_async_context(open_socket(ada, "user")),
        await stack.enter_async_context(open_socket(ada, "public:local")),
    ]


async def _hears_nothing_of(ears: list[Events | Socket], ada: Member, unwanted: list[str]) -> None:
    """Until something that is said last, by oneself, there is nothing of the unwanted."""
    await settle(ada.town)
    last = await post(ada, f"last #{PUBLIC_TAG}")
    for ear in ears:
        heard = await ear.until("update", last["id"])
        assert not {id for _, id in heard} & set(unwanted), heard


async def _says(*authors: Member) -> list[str]:
    return [(await post(one, f"hello #{PUBLIC_TAG}"))["id"] for one in authors]


async def test_blocks_and_mutes_take_effect_on_open_streams(town: Town) -> None:
    ada, bob = await friends(town)
    eve, mal = await join_all(town, 2)
    for one in (eve, mal):
        await ada.to(one, "follow")
    async with AsyncExitStack() as stack:
        ears = await _all_ears(stack, ada)
        seen = await _says(bob, eve, mal)
        for ear in ears:
            await ear.until("update", seen[0])
            await ear.until("update", seen[2])
        await ada.to(bob, "block")
        await ada.to(eve, "mute")
        await mal.to(ada, "block")
        await _hears_nothing_of(ears, ada, await _says(bob, eve, mal))
        await ada.to(eve, "unmute")
        [again] = await _says(eve)
        for ear in ears:
            await ear.until("update", again)


async def test_a_deletion_of_what_was_hidden_is_not_told_either(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    said = (await _says(bob))[0]
    await ada.to(bob, "block")
    async with AsyncExitStack() as stack:
        ears = await _all_ears(stack, ada)
        await bob.delete(f"/api/v1/statuses/{said}")
        await _hears_nothing_of(ears, ada, [said])


async def test_a_follow_that_ends_ends_in_the_stream(town: Town) -> None:
    ada, bob = await friends(town)
    async with listen(ada, "user") as events:
        private = await post(bob, "for followers", visibility="private")
        await events.until("update", private["id"])
        await ada.to(bob, "unfollow")
        said = await post(bob, "for followers", visibility="private")
        await _hears_nothing_of([events], ada, [said["id"]])


async def test_boosts_that_are_not_wanted_are_not_streamed(town: Town) -> None:
    ada, bob = await friends(town)
    [eve] = await join_all(town, 1)
    said = await post(eve, "boost me")
    async with listen(ada, "user") as events:
        await ada.to(bob, "follow", reblogs=False)
        boost = await does(bob, "reblog", said)
        await _hears_nothing_of([events], ada, [boost["id"]])


async def test_languages_that_were_not_chosen_are_not_streamed(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    async with town.house() as house, house.works.begin() as work:
        kept = Preferences(account_id=AccountId(int(ada.id)), chosen_languages=["de"])
        await accounts.save_preferences(work.db, kept)
    async with listen(ada, "public") as events:
        english = await post(bob, "hello", language="en")
        german = await post(bob, "hallo", language="de")
        heard = await events.until("update", german["id"])
        assert english["id"] not in {id for _, id in heard}


async def test_a_domain_that_is_blocked_is_not_heard_of(town: Town) -> None:
    [ada] = await join_all(town, 1)
    far = await stranger(town, "far.example")
    async with listen(ada, "public") as events, listen(ada, "public/remote") as remote:
        await ada.post("/api/v1/domain_blocks", json={"domain": "far.example"})
        said = await said_elsewhere(town, far)
        await _hears_nothing_of([events], ada, [said])
        await ada.call("DELETE", "/api/v1/domain_blocks", json={"domain": "far.example"})
        if town.engine == "postgresql":  # on SQLite nobody hears what another process writes
            again = await said_elsewhere(town, far)
            assert await remote.until("update", again) == [("update", again)]


async def test_whoever_is_limited_is_not_in_public_streams(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await set_state(town, bob.id, lambda work: {"silenced_at": work.now})
    async with listen(ada, "public") as events:
        await _hears_nothing_of([events], ada, await _says(bob))


async def test_what_somebody_sees_in_a_stream_is_what_their_timeline_shows(town: Town) -> None:
    ada, bob = await friends(town)
    async with listen(ada, "user") as events:
        question = await post(bob, "which?", poll={"options": ["a", "b"], "expires_in": 3600})
        quoted = await post(bob, "quote me", quote_approval_policy="followers")
        quoting = await post(ada, "look", quoted_status_id=quoted["id"])
        told: dict[str, Any] = {}
        while quoting["id"] not in told:
            _, payload = await events.next()
            told[payload["id"]] = payload
    await settle(town)  # a stream is told before the feeds are filled
    shown = {one["id"]: one for one in await ada.get("/api/v1/timelines/home")}
    for id in (question["id"], quoting["id"]):
        assert told[id].keys() == shown[id].keys()
        assert {name: told[id][name] for name in ("poll", "quote_approval", "favourited")} == {
            name: shown[id][name] for name in ("poll", "quote_approval", "favourited")
        }
    assert told[quoted["id"]]["quote_approval"] == shown[quoted["id"]]["quote_approval"]


# Endings


async def _both_end(ada: Member, end: Any) -> None:
    async with listen(ada, "user") as events, open_socket(ada, "user") as socket:
        await end()
        assert await events.ended()
        assert (await socket.closed())[0] == 1008


async def test_a_revoked_token_ends_its_streams_and_no_others(town: Town) -> None:
    person = await town.sign_up()
    app = await new_app(town, "read write")
    one, other = [Member(town, await app.token_of(person, "read write")) for _ in range(2)]
    await other.refreshed()

    async def revoke() -> None:
        keys = {"client_id": app.client_id, "client_secret": app.secret, "token": one.token}
        assert (await town.http.post("/oauth/revoke", data=keys)).status_code == 200

    async with listen(other, "user") as kept:
        await _both_end(one, revoke)
        said = await post(other)
        await kept.until("update", said["id"])


async def test_a_token_of_ones_own_ends_its_streams(town: Town) -> None:
    person = await town.sign_up()
    async with town.house() as house, house.works.begin() as work:
        user = await user_store.find(work.db, person.username)
        assert user is not None
        token, key = await tokens.create(work, user.id, scopes="read write")

    async def revoke() -> None:
        async with town.house() as house, house.works.begin() as work:
            found = await token_store.find(work.db, token.token_uuid)
            assert found is not None
            await tokens.revoke(work, found)

    await _both_end(Member(town, key), revoke)


async def test_whoever_is_shut_out_hears_nothing_more(town: Town) -> None:
    ada, bob, eve = [await join(town) for _ in range(3)]

    async def deactivate() -> None:
        await town.kith("users", "disable", ada.name)

    async def suspend() -> None:
        await set_state(town, bob.id, lambda work: {"suspended_at": work.now})

    async def bar() -> None:
        async with town.house() as house, house.works.begin() as work:
            user = await user_store.find(work.db, eve.name)
            assert user is not None
            await users.set_active(work, user, False)

    await _both_end(ada, deactivate)
    await _both_end(bob, suspend)
    await _both_end(eve, bar)


async def test_a_session_that_ends_ends_the_streams_it_gave_a_token_for(town: Town) -> None:
    person = await town.sign_up()
    app = await new_app(town, "read write")
    url = f"/oauth/authorize?client_id={app.client_id}&redirect_uri={OOB}&response_type=code&scope=read+write"
    browser = Browser(town)
    code = await consent(town, person, url, browser)
    keys = {"client_id": app.client_id, "client_secret": app.secret, "redirect_uri": OOB}
    got = await town.http.post("/oauth/token", data=keys | {"grant_type": "authorization_code", "code": code})
    ada = Member(town, got.json()["access_token"])

    async def sign_out() -> None:
        await browser.sign_out()
        assert await browser.who() is None

    await _both_end(ada, sign_out)
