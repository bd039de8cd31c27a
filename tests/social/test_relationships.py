"""What people do to each other: following, asking, keeping apart; and what everybody sees of it."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import and_, bindparam, select

from kith.app import House
from kith.base.db import any_of, command, insert_into, query
from kith.social.accounts import store as accounts
from kith.social.accounts.tables import accounts as account_rows
from kith.social.feeds import store as feeds
from kith.social.ids import AccountId
from kith.social.relationships import rules, store, tasks
from kith.social.relationships.service import follow
from kith.social.relationships.tables import domain_blocks
from tests.social.members import Member, join, join_all, set_state, stranger, until
from tests.social.shapes import ACCOUNT, FAMILIAR_FOLLOWERS, MUTED_ACCOUNT, RELATIONSHIP, check
from tests.town import Town

NOTHING = {
    "following": False, "follow_state": False, "showing_reblogs": False, "notifying": False, "languages": None, "followed_by": False,
    "blocking": False, "blocked_by": False, "muting": False, "muting_notifications": False,
    "muting_expires_at": None, "requested": False, "requested_by": False, "domain_blocking": False,
    "endorsed": False, "note": "",
}  # fmt: skip
FOLLOWING = {"following": True, "follow_state": {"reblogs": True}, "showing_reblogs": True}
ASKING = {"requested": True, "showing_reblogs": True}

_hidden = query(
    select(account_rows.c.id).where(
        and_(any_of(account_rows.c.id, "ids"), rules.hides_author(bindparam("me"), account_rows))
    ),
    int,
)
UNDOING = {"follow": "unfollow", "block": "unblock", "mute": "unmute", "note": "note"}
Step = tuple[str, str, dict[str, Any]]
# What ada (a) and bob (b) do to each other, and what each then sees of the other beyond nothing.
STORIES: dict[str, tuple[list[Step], dict[str, Any], dict[str, Any]]] = {
    "strangers": ([], {}, {}),
    "follow": ([("a", "follow", {})], FOLLOWING, {"followed_by": True}),
    "follow with options": (
        [("a", "follow", {"reblogs": False, "notify": True, "languages": ["de", "en"]})],
        {"following": True, "follow_state": {"reblogs": False}, "notifying": True, "languages": ["de", "en"]},
        {"followed_by": True},
    ),
    "follow again changes what is told and leaves the rest": (
        [("a", "follow", {"notify": True, "languages": ["de"]}), ("a", "follow", {"reblogs": False})],
        {"following": True, "follow_state": {"reblogs": False}, "notifying": True, "languages": ["de"]},
        {"followed_by": True},
    ),
    "no language is every language": (
        [("a", "follow", {"languages": ["de"]}), ("a", "follow", {"languages": []})],
        FOLLOWING,
        {"followed_by": True},
    ),
    "both follow": (
        [("a", "follow", {}), ("b", "follow", {})],
        FOLLOWING | {"followed_by": True},
        FOLLOWING | {"followed_by": True},
    ),
    "unfollow": ([("a", "follow", {}), ("a", "unfollow", {}), ("a", "unfollow", {})], {}, {}),
    "remove from followers": ([("a", "follow", {}), ("b", "remove_from_followers", {})], {}, {}),
    "block ends follows both ways": (
        [("a", "follow", {}), ("b", "follow", {}), ("a", "block", {}), ("a", "block", {})],
        {"blocking": True},
        {"blocked_by": True},
    ),
    "unblock brings no follow back": ([("a", "follow", {}), ("a", "block", {}), ("a", "unblock", {})], {}, {}),
    "mute": ([("a", "mute", {})], {"muting": True, "muting_notifications": True}, {}),
    "mute, notices stay": ([("a", "mute", {"notifications": False})], {"muting": True}, {}),
    "mute by its older name": ([("a", "mute", {"hide_notifications": False})], {"muting": True}, {}),
    "the newer name wins": (
        [("a", "mute", {"hide_notifications": False, "notifications": True})],
        {"muting": True, "muting_notifications": True},
        {},
    ),
    "mute again changes it": (
        [("a", "mute", {"duration": 3600}), ("a", "mute", {"notifications": False})],
        {"muting": True},
        {},
    ),
    "unmute": ([("a", "mute", {}), ("a", "unmute", {})], {}, {}),
    "whom the target mutes must ask": (
        [("b", "mute", {"notifications": False}), ("a", "follow", {})],
        ASKING,
        {"requested_by": True, "muting": True},
    ),
    "endorse": (
        [("a", "follow", {}), ("a", "pin", {}), ("a", "endorse", {})],
        FOLLOWING | {"endorsed": True},
        {"followed_by": True},
    ),
    "endorsing ends with following": ([("a", "follow", {}), ("a", "pin", {}), ("a", "unfollow", {})], {}, {}),
    "unendorse": (
        [("a", "follow", {}), ("a", "pin", {}), ("a", "unpin", {}), ("a", "unendorse", {})],
        FOLLOWING,
        {"followed_by": True},
    ),
    "note": ([("a", "note", {"comment": " met in Lyon "})], {"note": "met in Lyon"}, {}),
    "a blank note is none": ([("a", "note", {"comment": "x"}), ("a", "note", {"comment": " "})], {}, {}),
    "to oneself nothing happens": ([("a", "mute", {}), ("a", "unmute", {}), ("b", "unblock", {})], {}, {}),
}


async def test_every_flag_of_a_relationship(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    people = {"a": (ada, bob), "b": (bob, ada)}
    for name, (steps, by_ada, by_bob) in STORIES.items():
        said: dict[str, Any] = {}
        for who, verb, sent in steps:
            me, other = people[who]
            said = await me.to(other, verb, **sent)
            check(said, RELATIONSHIP)
        seen = {"a": await ada.sees(bob), "b": await bob.sees(ada)}
        assert seen["a"] == NOTHING | {"id": bob.id} | by_ada, name
        assert seen["b"] == NOTHING | {"id": ada.id} | by_bob, name
        if steps:
            assert said == seen[steps[-1][0]], name
        for who, undo in {(who, UNDOING[verb]) for who, verb, _ in steps if verb in UNDOING}:
            me, other = people[who]
            await me.to(other, undo)
    await _agree(town, ada, bob)


async def _agree(town: Town, *members: Member) -> None:
    """Counts are those of the lists."""
    for member in members:
        shown = (await town.http.get(f"/api/v1/accounts/{member.id}")).json()
        for name in ("followers", "following"):
            there = await member.get(f"/api/v1/accounts/{member.id}/{name}")
            assert shown[f"{name}_count"] == len(there)


async def test_a_timed_mute_ends_by_itself(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    said = await ada.to(bob, "mute", duration=3600)
    check(said["muting_expires_at"], "moment")
    [muted] = await ada.get("/api/v1/mutes")
    check(muted, MUTED_ACCOUNT)
    assert muted["mute_expires_at"] == said["muting_expires_at"]

    async with town.house() as house, house.works.begin() as work:
        work.now += timedelta(hours=2)
        await tasks.end_mutes(work, tasks.EndMutes())

    assert (await ada.sees(bob))["muting"] is False
    assert await ada.get("/api/v1/mutes") == []


# Asking


async def test_a_locked_account_is_asked_and_answers(town: Town) -> None:
    ada, bob, eve = await join_all(town, 3)
    await bob.patch("/api/v1/accounts/update_credentials", json={"locked": True})

    assert await ada.to(bob, "follow", notify=True) == NOTHING | ASKING | {"id": bob.id, "notifying": True}
    assert (await ada.to(bob, "follow", reblogs=False))["showing_reblogs"] is False
    await eve.to(bob, "follow")
    assert (await bob.refreshed())["source"]["follow_requests_count"] == 2
    assert [one["id"] for one in await bob.get("/api/v1/follow_requests")] == [eve.id, ada.id]

    said = await bob.post(f"/api/v1/follow_requests/{ada.id}/authorize")
    assert said == NOTHING | {"id": ada.id, "followed_by": True}
    quietly = {"following": True, "follow_state": {"reblogs": False}, "notifying": True}
    assert await ada.sees(bob) == NOTHING | {"id": bob.id} | quietly
    assert (await bob.post(f"/api/v1/follow_requests/{eve.id}/reject"))["requested_by"] is False
    assert await eve.sees(bob) == NOTHING | {"id": bob.id}
    for verb in ("authorize", "reject"):
        again = await bob.call("POST", f"/api/v1/follow_requests/{ada.id}/{verb}")
        assert (again.status_code, again.json()) == (404, {"error": "Record not found"})
    await _agree(town, ada, bob, eve)


async def test_unlocking_lets_in_everybody_but_those_the_team_has_limited(town: Town) -> None:
    bob, ada, dan, eve = await join_all(town, 4)
    await bob.patch("/api/v1/accounts/update_credentials", json={"locked": True})
    await set_state(town, eve.id, lambda work: {"silenced_at": work.now})
    for one in (ada, dan, eve):
        await one.to(bob, "follow")

    shown = await bob.patch("/api/v1/accounts/update_credentials", json={"locked": False})

    assert (shown["followers_count"], shown["source"]["follow_requests_count"]) == (2, 1)
    assert [one["id"] for one in await bob.get("/api/v1/follow_requests")] == [eve.id]
    assert (await ada.sees(bob))["following"]
    # Whoever is limited has to ask even where nobody else does.
    assert (await eve.to(ada, "follow"))["requested"]


async def test_following_by_name_the_old_way(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    far = await stranger(town)
    names = {
        f"@{bob.name}": bob.id,
        f"{bob.name}@{town.base_url.removeprefix('http://')}": bob.id,
        f"{far.username}@{far.domain}": str(far.id),
    }
    for name, id in names.items():
        said = await ada.post("/api/v1/follows", data={"uri": name})
        check(said, ACCOUNT)
        assert said["id"] == id
    assert (await ada.sees(bob))["following"]
    assert (await ada.sees(far))["requested"]  # an answer must come from there
    for name in ("", "nobody_at_all", "nobody@elsewhere.example"):
        assert (await ada.call("POST", "/api/v1/follows", data={"uri": name})).status_code == 404


# What is refused


async def test_what_is_refused(town: Town) -> None:
    ada, bob, eve = await join_all(town, 3)
    far = await stranger(town, "blocked.example")
    gone, moved = await join_all(town, 2)
    await set_state(town, gone.id, lambda work: {"suspended_at": work.now})
    await set_state(town, moved.id, lambda _: {"moved_to": int(bob.id)})
    await eve.to(ada, "block")
    await ada.post("/api/v1/domain_blocks", json={"domain": "Blocked.Example."})

    path = "/api/v1/accounts"
    refused = "This action is not allowed"
    too_long = "Validation failed: Comment is too long (maximum is 2000 characters)"
    not_followed = "Validation failed: You must be already following the person you want to endorse"
    calls: list[tuple[str, Any, int, str]] = [
        (f"{path}/{ada.id}/follow", {}, 403, "Following your own account is not allowed"),
        (f"{path}/{ada.id}/block", {}, 403, "Blocking your own account is not allowed"),
        (f"{path}/{ada.id}/mute", {}, 403, "Muting your own account is not allowed"),
        (f"{path}/{ada.id}/pin", {}, 422, not_followed),
        (f"{path}/{eve.id}/follow", {}, 403, refused),
        (f"{path}/{far.id}/follow", {}, 403, refused),
        (f"{path}/{moved.id}/follow", {}, 403, refused),
        (f"{path}/{gone.id}/follow", {}, 404, "Record not found"),
        (f"{path}/1/follow", {}, 404, "Record not found"),
        (f"{path}/nobody/block", {}, 404, "Record not found"),
        (f"{path}/{bob.id}/pin", {}, 422, not_followed),
        (f"{path}/{bob.id}/note", {"comment": "x" * 2001}, 422, too_long),
        (
            f"{path}/{bob.id}/follow",
            {"languages": ["xx"]},
            422,
            "Validation failed: Languages is not included in the list",
        ),
        (
            f"{path}/{bob.id}/follow",
            {"languages": [f"en-{one}{two}" for one in "ABCDEFGHIJKLMNO" for two in "ABCDEFGHIJKLMNO"]},
            422,
            "Validation failed: Languages has too many entries (maximum is 200)",
        ),
        ("/api/v1/domain_blocks", {"domain": " "}, 422, "Validation failed: Domain can't be blank"),
        (
            "/api/v1/domain_blocks",
            {"domain": "not a domain"},
            422,
            "Validation failed: Domain is not a valid domain name",
        ),
    ]
    for url, sent, status, words in calls:
        answer = await ada.call("POST", url, json=sent)
        assert (answer.status_code, answer.json()["error"]) == (status, words), url
    assert (await moved.call("POST", f"{path}/{bob.id}/follow")).json() == {"error": "Your login is currently disabled"}
    assert await ada.sees(bob) == NOTHING | {"id": bob.id}


async def test_nobody_follows_without_end(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await set_state(town, ada.id, lambda _: {"following_count": 7500})
    answer = await ada.call("POST", f"/api/v1/accounts/{bob.id}/follow")
    assert answer.status_code == 422
    assert answer.json() == {"error": "Validation failed: You cannot follow more than 7500 people"}

    # Whoever is followed by many may follow about as many.
    await set_state(town, ada.id, lambda _: {"followers_count": 6000})
    assert (await ada.call("POST", f"/api/v1/accounts/{bob.id}/follow")).status_code == 422
    await set_state(town, ada.id, lambda _: {"followers_count": 7000})
    assert (await ada.to(bob, "follow"))["following"]


# All at once


async def test_many_at_once_count_once(town: Town) -> None:
    bob, *others = await join_all(town, 4)

    async def all_do(verb: str) -> None:
        await asyncio.gather(*(one.to(bob, verb) for one in others for _ in range(4)))

    for _ in range(2):
        await all_do("follow")
        await _agree(town, bob, *others)
        assert (await bob.refreshed())["followers_count"] == 3
        await all_do("unfollow")
        assert (await bob.refreshed())["followers_count"] == 0
    await asyncio.gather(
        *(others[0].to(bob, "block") for _ in range(3)), *(_tried(bob, others[0], "follow") for _ in range(3))
    )
    assert (await others[0].sees(bob)) == NOTHING | {"id": bob.id, "blocking": True}
    await _agree(town, bob, *others)


async def _tried(me: Member, other: Member, verb: str) -> None:
    answer = await me.call("POST", f"/api/v1/accounts/{other.id}/{verb}")
    # Whether the block came first is a race; what is left in the end is not.
    assert answer.status_code in (200, 403)


# Domains


async def test_a_domain_is_blocked_and_with_it_every_tie_to_it(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    domain = f"{ada.name.replace('_', '-')}.example"
    near, far, other = (await stranger(town, domain), await stranger(town, f"{domain}:8443"), await stranger(town))
    longer = await stranger(town, f"{domain}s:8443")
    await ada.to(near, "follow")
    await ada.to(other, "follow")
    async with town.house() as house, house.works.begin() as work:
        await follow.follow(work, far, AccountId(int(ada.id)), follow.Options())

    preview = await ada.get("/api/v1/domain_blocks/preview", params={"domain": domain})
    assert preview == {"following_count": 0, "followers_count": 1}
    for _ in range(2):
        assert await ada.post("/api/v1/domain_blocks", data={"domain": domain.upper()}) == {}

    assert await ada.get("/api/v1/domain_blocks") == [domain]
    assert await ada.sees(near) == NOTHING | {"id": str(near.id), "domain_blocking": True}
    assert await ada.sees(far) == NOTHING | {"id": str(far.id), "domain_blocking": True}
    assert not (await ada.sees(longer))["domain_blocking"]
    assert (await ada.sees(other))["requested"]
    assert (await ada.refreshed())["followers_count"] == 0
    ids = [one.id for one in (near, far, other, longer)]
    async with town.house() as house, house.works.begin() as work:
        assert set(await work.db.all(_hidden, ids=ids, me=int(ada.id), now=work.now)) == {near.id, far.id}
        assert await work.db.all(_hidden, ids=ids, me=int(bob.id), now=work.now) == [], "others see them still"
        assert await store.blocks_domain(work.db, AccountId(int(ada.id)), far.domain)
        assert not await store.blocks_domain(work.db, AccountId(int(ada.id)), longer.domain)
    assert await ada.delete("/api/v1/domain_blocks", params={"domain": domain}) == {}
    assert await ada.get("/api/v1/domain_blocks") == []


# Lists of people


async def test_lists_are_walked_along_records_nobody_sees(town: Town) -> None:
    bob, *others = await join_all(town, 5)
    for one in others:
        await one.to(bob, "follow")
        await bob.to(one, "follow")
        await bob.to(one, "mute")
        await bob.to(one, "pin")
    newest_first = [one.id for one in reversed(others)]
    by_id = sorted(newest_first, key=int, reverse=True)
    for path, expected in (
        (f"/api/v1/accounts/{bob.id}/followers", newest_first),
        (f"/api/v1/accounts/{bob.id}/following", newest_first),
        ("/api/v1/mutes", newest_first),
        ("/api/v1/endorsements", by_id),
        (f"/api/v1/accounts/{bob.id}/endorsements", by_id),
    ):
        seen, link = [], f"{path}?limit=3"
        while link:
            answer = await bob.call("GET", link.removeprefix(town.base_url))
            seen += [one["id"] for one in answer.json()]
            assert 'rel="prev"' in answer.headers["link"]
            found = re.search(r'<([^>]+)>; rel="next"', answer.headers["link"])
            assert len(answer.json()) == 3 or found is None
            link = found.group(1) if found else ""
        assert seen == expected, path
    assert len(await bob.get("/api/v1/endorsements", params={"limit": "0"})) == 4
    for one in others:
        await bob.to(one, "block")
    assert [one["id"] for one in await bob.get("/api/v1/blocks", params={"limit": 2})] == newest_first[:2]


async def test_who_sees_whom_in_lists(town: Town) -> None:
    bob, ada, muted, blocked, blocking, gone = await join_all(town, 6)
    for one in (ada, muted, blocked, blocking, gone):
        await one.to(bob, "follow")
        await bob.to(one, "follow")
    await ada.to(muted, "mute")
    await ada.to(blocked, "block")
    await blocking.to(ada, "block")
    await set_state(town, gone.id, lambda work: {"suspended_at": work.now})
    everybody = {ada.id, muted.id, blocked.id, blocking.id}

    async def seen(name: str, by: Member | None) -> set[str]:
        path = f"/api/v1/accounts/{bob.id}/{name}"
        answer = await (town.http.get(path) if by is None else by.call("GET", path))
        assert answer.status_code == 200
        for one in answer.json():
            check(one, ACCOUNT)
        return {one["id"] for one in answer.json()}

    for name in ("followers", "following"):
        assert await seen(name, None) == everybody
        assert await seen(name, ada) == {ada.id}
        assert await seen(name, bob) == everybody
    await bob.patch("/api/v1/accounts/update_credentials", json={"hide_collections": True})
    for name in ("followers", "following"):
        assert await seen(name, None) == set()
        assert await seen(name, ada) == set()
        assert await seen(name, bob) == everybody
    shown = (await town.http.get(f"/api/v1/accounts/{bob.id}")).json()
    assert (shown["followers_count"], shown["hide_collections"]) == (5, True)
    await bob.patch("/api/v1/accounts/update_credentials", json={"hide_collections": False})
    await bob.to(ada, "block")
    assert await seen("followers", ada) == set()


async def test_one_blocks_so_many_servers_and_no_more(town: Town) -> None:
    ada, path = await join(town), "/api/v1/domain_blocks"
    async with town.house() as house, house.works.begin() as work:
        rows = [
            {"id": work.new_id(), "account_id": int(ada.id), "domain": f"s{n}.example", "created_at": work.now}
            for n in range(10_000)
        ]
        await work.db.many(command(insert_into(domain_blocks)), rows)

    answer = await ada.call("POST", path, json={"domain": "one.more.example"})

    assert (answer.status_code, answer.json()["error"]) == (
        422,
        "Validation failed: You cannot block more than 10000 servers",
    )
    assert await ada.post(path, json={"domain": "s1.example"}) == {}
    assert await ada.delete(path, params={"domain": "s2.example"}) == {}
    assert await ada.post(path, json={"domain": "one.more.example"}) == {}


async def test_familiar_followers(town: Town) -> None:
    ada, bob, cora, hidden, shy = await join_all(town, 5)
    for one in (bob, hidden):
        await ada.to(one, "follow")
        await one.to(cora, "follow")
        await one.to(shy, "follow")
    await hidden.patch("/api/v1/accounts/update_credentials", json={"hide_collections": True})
    await shy.patch("/api/v1/accounts/update_credentials", json={"hide_collections": True})

    told = await ada.get("/api/v1/accounts/familiar_followers", params={"id[]": [cora.id, "12345", shy.id]})

    check(told, [FAMILIAR_FOLLOWERS])
    assert [(one["id"], [who["id"] for who in one["accounts"]]) for one in told] == [(cora.id, [bob.id]), (shy.id, [])]


async def test_relationships_of_many_come_in_the_order_asked(town: Town) -> None:
    ada, bob, gone = await join_all(town, 3)
    await set_state(town, gone.id, lambda work: {"suspended_at": work.now})
    ids = [gone.id, bob.id, "1", "x", ada.id, bob.id]
    url = "/api/v1/accounts/relationships"

    assert [one["id"] for one in await ada.get(url, params={"id[]": ids})] == [bob.id, ada.id]
    with_gone = await ada.get(url, params={"id[]": ids, "with_suspended": "true"})
    assert [one["id"] for one in with_gone] == [gone.id, bob.id, ada.id]
    assert [one["id"] for one in await ada.get(url, params={"id": bob.id})] == [bob.id]
    assert await ada.get(url) == []


# Those who listen


async def test_the_first_follow_of_all_starts_a_feed(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await ada.to(bob, "follow")

    async def is_ready(house: House) -> bool:
        async with house.works.begin() as work:
            state = await feeds.find_state(work.db, AccountId(int(ada.id)))
            assert state is not None
            return state.state == feeds.READY

    async with town.house() as house:
        await until(lambda: is_ready(house))


async def test_a_home_follows_what_happens_between_people(town: Town) -> None:
    ada, bob, cora = await join_all(town, 3)
    said = [(await one.post("/api/v1/statuses", json={"status": "hello"}))["id"] for one in (bob, cora)]
    boosted = (await bob.post(f"/api/v1/statuses/{said[1]}/reblog"))["id"]

    async def shows(*ids: str) -> None:
        """With 206 while it is built, with 200 in the end."""

        async def is_there() -> bool:
            answer = await ada.call("GET", "/api/v1/timelines/home")
            return answer.status_code == 200 and [one["id"] for one in answer.json()] == list(ids)

        await until(is_there)

    for verb, sent, ids in (
        ("follow", {}, [boosted, said[0]]),
        ("follow", {"reblogs": False}, [said[0]]),
        ("follow", {"reblogs": True}, [boosted, said[0]]),
        ("mute", {}, []),
        ("unmute", {}, [boosted, said[0]]),
        ("unfollow", {}, []),
        ("follow", {}, [boosted, said[0]]),
        ("block", {}, []),
    ):
        await ada.to(bob, verb, **sent)
        await shows(*ids)


async def test_when_somebody_leaves_nothing_ties_anybody_to_them(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await ada.to(bob, "follow")
    await bob.to(ada, "follow")
    owner = await town.owner()
    async with town.house() as house, house.works.begin() as work:
        account = await accounts.find(work.db, AccountId(int(ada.id)))
        assert account is not None
    assert (await owner.call("DELETE", f"/api/v2/core/users/{account.user_id}/")).status_code == 204

    async def is_alone() -> bool:
        shown = (await town.http.get(f"/api/v1/accounts/{bob.id}")).json()
        return (shown["followers_count"], shown["following_count"]) == (0, 0)

    await until(is_alone)
    answer = await town.http.get(f"/api/v1/accounts/{ada.id}")
    assert (answer.status_code, answer.json()) == (410, {"error": "Gone"})
    assert (await town.http.get("/api/v1/accounts", params={"id[]": ada.id})).json() == []


@pytest.mark.parametrize("path", ["/api/v1/blocks", "/api/v1/accounts/relationships", "/api/v1/preferences"])
async def test_what_is_ones_own_needs_a_token(town: Town, path: str) -> None:
    answer = await town.http.get(path)
    assert answer.status_code == 401
