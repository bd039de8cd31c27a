"""Home and list streams: told at once, by the rules of the feeds, to everybody once."""

from __future__ import annotations

from typing import Any

import pytest

from kith.social.ids import AccountId, StatusId
from kith.social.statuses.facts import StatusPosted
from kith.social.timelines import tasks
from tests.conftest import TownBuilder
from tests.social.members import Member, join_all
from tests.social.posts import arrive, does, post, settle
from tests.social.streams import listen, open_socket
from tests.town import Town


async def friends(town: Town, count: int = 2) -> list[Member]:
    """The first follows all the others."""
    ada, *others = await join_all(town, count)
    for one in others:
        await ada.to(one, "follow")
    return [ada, *others]


async def fill(town: Town, author: Member, said: dict[str, Any]) -> None:
    """What a worker does when it comes to it."""
    fact = StatusPosted(status_id=StatusId(int(said["id"])), account_id=AccountId(int(author.id)))
    async with town.house() as house, house.works.begin() as work:
        await tasks.carry(work, [fact])


async def test_nobody_waits_for_a_worker(new_town: TownBuilder) -> None:
    town = await new_town(worker="off")
    ada, bob = await friends(town)
    made = await ada.post("/api/v1/lists", json={"title": "some"})
    await ada.post(f"/api/v1/lists/{made['id']}/accounts", json={"account_ids": [bob.id]})
    await ada.post("/api/v1/tags/bread/follow")
    [eve] = await join_all(town, 1)
    async with listen(ada, "user") as home, open_socket(ada, "list", list=made["id"]) as listed:
        first = await post(bob, "hello")
        await bob.call("PUT", f"/api/v1/statuses/{first['id']}", json={"status": "hello again"})
        tagged = await post(eve, "fresh #bread")
        own = await post(ada, "mine")
        assert await home.until("update", own["id"]) == [
            ("update", first["id"]),
            ("status.update", first["id"]),
            ("update", tagged["id"]),
            ("update", own["id"]),
        ]
        await bob.delete(f"/api/v1/statuses/{first['id']}")
        assert await home.until("delete", first["id"]) == [("delete", first["id"])]
        assert await listed.until("delete", first["id"]) == [
            ("update", first["id"]),
            ("status.update", first["id"]),
            ("delete", first["id"]),
        ]


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_whoever_comes_before_the_feeds_are_filled_is_told_then_and_nobody_twice(new_town: TownBuilder) -> None:
    town = await new_town(worker="off")
    ada, bob = await friends(town)
    async with listen(ada, "user") as early:
        said = await post(bob, "between")
        assert await early.until("update", said["id"]) == [("update", said["id"])]
        async with listen(ada, "user") as late:
            await fill(town, bob, said)
            last = await post(bob, "last")
            assert await late.until("update", last["id"]) == [("update", said["id"]), ("update", last["id"])]
            assert await early.until("update", last["id"]) == [("update", last["id"])]


async def test_a_home_stream_tells_what_the_home_page_shows(town: Town) -> None:
    ada, bob, eve, dan = await friends(town, 4)
    [zoe] = await join_all(town, 1)
    await ada.to(eve, "follow", languages=["de"])
    apart = await ada.post("/api/v1/lists", json={"title": "apart", "exclusive": True})
    await ada.post(f"/api/v1/lists/{apart['id']}/accounts", json={"account_ids": [dan.id]})
    await ada.to(zoe, "mute")
    await arrive(ada, bob)
    async with listen(ada, "user") as events:
        started, elsewhere = await post(bob, "a thread"), await post(zoe, "somewhere")
        heard = await events.until("update", started["id"])
        for said in (
            await post(bob, "for followers", visibility="private"),
            await post(bob, "to nobody here", visibility="direct"),
            await post(eve, "english", language="en"),
            await post(eve, "deutsch", language="de"),
            await post(dan, "on an exclusive list"),
            await post(bob, f"@{zoe.name} whom somebody mutes"),
            await post(bob, "to myself", in_reply_to_id=started["id"]),
            await post(bob, "to a stranger", in_reply_to_id=elsewhere["id"]),
            await post(eve, "auf deutsch an bob", in_reply_to_id=started["id"], language="de"),
        ):
            assert said["id"]
        await does(bob, "reblog", await post(bob, "boosted right away"))
        last = await post(ada, "the last")
        heard += await events.until("update", last["id"])
    await settle(town)
    shown = {("update", one["id"]) for one in await ada.get("/api/v1/timelines/home?limit=40")}
    assert sorted(set(heard)) == sorted(heard)
    assert set(heard) == shown
    assert len(shown) == 7
