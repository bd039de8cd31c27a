"""Three servers of ours: what passes between two of them, and what the third has of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import bindparam, update

from kith.base.db import Instant, command
from kith.social.statuses.tables import statuses
from tests.federation.two_servers import (
    arrived,
    find_person,
    find_post,
    follow,
    handle,
    home,
    is_gone,
    relation,
    shows,
    three_towns,
)
from tests.social.members import Member, join, until
from tests.social.posts import does, post, settle
from tests.town import Town
from tests.town.town import Engine

Towns = tuple[Town, Town, Town]
_then = bindparam("then", type_=Instant())
_grow_old = command(
    update(statuses).where(statuses.c.uri == bindparam("of")).values(created_at=_then, fetched_at=_then)
)


@pytest.fixture(scope="module")
async def towns(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Towns]:
    async with three_towns(engine, tmp_path_factory.mktemp("three")) as built:
        yield built


class Trio(msgspec.Struct):
    """Ada at A. Bob at B and Cy at C follow her; by what names they know her is in `ada_at`."""

    ada: Member
    bob: Member
    cy: Member
    ada_at: dict[Member, str]


@pytest.fixture
async def trio(towns: Towns) -> Trio:
    return await follow_ada(towns)


async def follow_ada(towns: Towns) -> Trio:
    ada, bob, cy = [await join(town) for town in towns]
    return Trio(ada, bob, cy, {one: await follow(one, ada) for one in (bob, cy)})


async def grow_old(town: Town, uri: str) -> None:
    """As if it had come ten minutes ago: what is younger is not asked for again."""
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_grow_old, of=uri, then=work.now - timedelta(minutes=10))


async def thread(member: Member, id: str) -> set[str]:
    shown = await member.get(f"/api/v1/statuses/{id}/context")
    return {one["uri"] for one in (*shown["ancestors"], *shown["descendants"])}


async def sees_thread(member: Member, id: str, wanted: set[str]) -> None:
    async def claim() -> bool:
        return await thread(member, id) == wanted

    await until(claim)


async def boosts_at_home(member: Member) -> set[str]:
    return {one["reblog"]["uri"] for one in await home(member) if one["reblog"]}


async def cannot_find(member: Member, uri: str) -> None:
    found = await member.get("/api/v2/search", params={"q": uri, "resolve": "true", "type": "statuses"})
    assert found["statuses"] == []


# Threads


async def test_a_thread_is_whole_on_every_server(towns: Towns, trio: Trio) -> None:
    ada, bob, cy = trio.ada, trio.bob, trio.cy
    root = await post(ada, "Which one?")
    at_b, at_c = await arrived(bob, root["uri"]), await arrived(cy, root["uri"])
    from_b = await post(bob, f"@{handle(ada)} this one", in_reply_to_id=at_b["id"])
    from_c = await post(cy, f"@{handle(ada)} that one", in_reply_to_id=at_c["id"])
    await sees_thread(ada, root["id"], {from_b["uri"], from_c["uri"]})
    [b_at_a] = [
        one["id"]
        for one in (await ada.get(f"/api/v1/statuses/{root['id']}/context"))["descendants"]
        if one["uri"] == from_b["uri"]
    ]
    last = await post(ada, f"@{handle(bob)} thank you", in_reply_to_id=b_at_a)
    whole = {from_b["uri"], from_c["uri"], last["uri"]}
    await sees_thread(ada, root["id"], whole)

    for town, member, known in ((towns[1], bob, at_b), (towns[2], cy, at_c)):
        await grow_old(town, root["uri"])
        await sees_thread(member, known["id"], whole)
    dora, _ = await join(towns[1]), await join(towns[2])
    seen = await find_post(dora, last["uri"])
    assert await thread(dora, seen["id"]) == {root["uri"], from_b["uri"]}
    assert await thread(dora, (await find_post(dora, root["uri"]))["id"]) == whole


async def test_a_newcomer_is_shown_what_others_said(towns: Towns) -> None:
    """On a server where nobody had heard of the thread."""
    ada, bob = await join(towns[0]), await join(towns[1])
    newcomer = await join(towns[2])
    root = await post(ada, "Who is there?")
    at_b = await find_post(bob, root["uri"])
    answer = await post(bob, f"@{handle(ada)} I am", in_reply_to_id=at_b["id"])
    await shows(ada, f"/api/v1/statuses/{root['id']}", lambda one: one["replies_count"] == 1)
    at_c = await find_post(newcomer, root["uri"])
    await grow_old(towns[2], root["uri"])

    await sees_thread(newcomer, at_c["id"], {answer["uri"]})


# Boosts


async def test_a_boost_is_seen_by_those_who_follow_the_booster_and_undone(towns: Towns) -> None:
    ada, bob, cy = [await join(town) for town in towns]
    await follow(cy, bob)
    said = await post(ada, "Pass it on")
    at_b = await find_post(bob, said["uri"])

    async def is_boosted() -> bool:
        return said["uri"] in await boosts_at_home(cy)

    async def is_not() -> bool:
        return not await is_boosted()

    await does(bob, "reblog", at_b["id"])
    await until(is_boosted)
    await shows(ada, f"/api/v1/statuses/{said['id']}", lambda one: one["reblogs_count"] == 1)
    await does(bob, "unreblog", at_b["id"])
    await until(is_not)
    await shows(ada, f"/api/v1/statuses/{said['id']}", lambda one: one["reblogs_count"] == 0)


async def test_what_came_by_a_boost_or_an_answer_is_edited_and_deleted_too(towns: Towns) -> None:
    """Nobody at B or C follows whoever wrote it; B was told by its author, C by B alone."""
    ada, bob, cy = [await join(town) for town in towns]
    dan = await join(towns[1])
    await follow(cy, bob)
    boosted, answered = await post(ada, "First words"), await post(ada, "First question")
    await does(bob, "reblog", (await find_post(bob, boosted["uri"]))["id"])
    known = await find_post(dan, answered["uri"])
    await post(dan, f"@{handle(ada)} so it is", in_reply_to_id=known["id"])
    await shows(ada, f"/api/v1/statuses/{answered['id']}", lambda one: one["replies_count"] == 1)

    async def is_boosted() -> bool:
        return boosted["uri"] in await boosts_at_home(cy)

    await until(is_boosted)
    holders = [
        (bob, (await find_post(bob, boosted["uri"]))["id"]),
        (cy, (await find_post(cy, boosted["uri"]))["id"]),
        (dan, known["id"]),
    ]
    for town in towns[1:]:
        await grow_old(town, boosted["uri"])
    for said in (boosted, answered):
        await ada.does("PUT", f"/api/v1/statuses/{said['id']}", json={"status": "Other words"})
    for member, id in holders:
        await shows(member, f"/api/v1/statuses/{id}", lambda one: "Other words" in one["content"])

    for town in towns[1:]:
        await grow_old(town, boosted["uri"])
    for said in (boosted, answered):
        await ada.delete(f"/api/v1/statuses/{said['id']}")
    for member, id in holders:
        await is_gone(member, f"/api/v1/statuses/{id}")


# What is not for everybody


async def test_a_private_post_is_seen_by_followers_and_nobody_else(towns: Towns) -> None:
    ada, bob, cy = [await join(town) for town in towns]
    ada_at_b = await follow(bob, ada)
    near_bob = await join(towns[1])
    said = await post(ada, "For my followers", visibility="private")

    at_b = await arrived(bob, said["uri"])

    path = f"/api/v1/statuses/{at_b['id']}"
    assert (await near_bob.call("GET", path)).status_code == 404
    assert said["uri"] not in {one["uri"] for one in await near_bob.get(f"/api/v1/accounts/{ada_at_b}/statuses")}
    for stranger in (near_bob, cy):
        await cannot_find(stranger, said["uri"])
    assert (await bob.call("POST", f"{path}/reblog")).status_code == 404


async def test_an_answer_to_a_private_post_goes_only_to_those_it_names(towns: Towns, trio: Trio) -> None:
    """Cy sees the question, and follows Bob; Bob's answer names Ada alone."""
    ada, bob, cy = trio.ada, trio.bob, trio.cy
    await follow(cy, bob)
    said = await post(ada, "For my followers", visibility="private")
    at_b, at_c = await arrived(bob, said["uri"]), await arrived(cy, said["uri"])

    answer = await post(bob, f"@{handle(ada)} for you", in_reply_to_id=at_b["id"], visibility="direct")
    later = await post(bob, "For all")

    await sees_thread(ada, said["id"], {answer["uri"]})
    await arrived(cy, later["uri"])
    assert answer["uri"] not in {one["uri"] for one in await home(cy)}
    assert await thread(cy, at_c["id"]) == set()
    await cannot_find(cy, answer["uri"])


# Moving


async def test_whoever_moves_takes_along_those_who_follow_on_every_server(towns: Towns) -> None:
    old, near = await join(towns[0]), await join(towns[0])
    bob, new = await join(towns[1]), await join(towns[2])
    await near.to(old, "follow")
    old_at_b = await follow(bob, old)
    new_at_a, new_at_b = await find_person(near, handle(new)), await find_person(bob, handle(new))
    await new.post("/api/v1/accounts/alias", json={"also_known_as_uris": [handle(old)]})

    sent = {"moved_to_uri": new.me["uri"], "password": f"correct horse {old.name}"}
    moved = await old.call("POST", "/api/v1/accounts/move", json=sent)
    assert moved.status_code == 202, moved.text

    for member, before, after in ((near, old.id, new_at_a), (bob, old_at_b, new_at_b)):
        await shows_relation(member, after, following=True)
        await shows_relation(member, before, following=False)

    async def has_both() -> bool:
        found = await new.get(f"/api/v1/accounts/{new.id}/followers")
        return {one["acct"] for one in found} == {handle(near), handle(bob)}

    await until(has_both)


async def shows_relation(member: Member, id: str, **wanted: Any) -> None:
    async def claim() -> bool:
        return all([await relation(member, id, name) == value for name, value in wanted.items()])

    await until(claim)


# A server that is shut out


async def test_a_server_that_is_shut_out_is_hidden_and_comes_back(towns: Towns) -> None:
    ada, bob, cy = [await join(town) for town in towns]
    cy_at_b, bob_at_c = await follow(bob, cy), await follow(cy, bob)
    ada_at_b = await follow(bob, ada)
    said = await post(cy, "Hello from C")
    at_b = await arrived(bob, said["uri"])
    await shows_relation(bob, cy_at_b, followed_by=True)
    domain = f"127.0.0.1:{towns[2].port}"

    await towns[1].kith("federation", "block", domain)
    try:
        await shows_relation(bob, cy_at_b, following=False, followed_by=False)
        await is_gone(bob, f"/api/v1/statuses/{at_b['id']}")
        assert said["uri"] not in {one["uri"] for one in await home(bob)}
        assert (await bob.get(f"/api/v1/accounts/{cy_at_b}"))["suspended"] is True
        assert await bob.get(f"/api/v1/accounts/{cy_at_b}/statuses") == []
        assert await relation(bob, ada_at_b, "following")
        [event] = await bob.get("/api/v1/severed_relationships")
        assert (event["target_name"], event["followers_count"], event["following_count"]) == (domain, 1, 1)
        unheard, unsaid = await post(cy, f"@{handle(bob)} are you there?"), await post(bob, "Not for C")
        await cannot_find(bob, unheard["uri"])
    finally:
        await towns[1].kith("federation", "allow", domain)

    await shows(bob, f"/api/v1/statuses/{at_b['id']}", lambda one: one["uri"] == said["uri"])
    await shows_relation(cy, bob_at_c, following=False)  # C is told when it is let in again, and not before
    for town in (towns[1], towns[2]):
        await settle(town)  # what B had to tell ends no follow that is asked for later
    await follow(cy, bob)
    await follow(bob, cy)
    again = await post(bob, "For C again")
    await arrived(cy, again["uri"])
    back = await post(cy, "And back")
    await arrived(bob, back["uri"])
    assert unsaid["uri"] not in {one["uri"] for one in await home(cy)}
