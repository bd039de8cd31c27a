"""What an answer promises is true when it leaves, before any worker has done anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import select

from kith.base.db import query
from kith.base.jobs.kinds import QUICK
from kith.base.jobs.tables import Job, jobs
from kith.social.ids import AccountId
from kith.social.lists import store as lists
from kith.social.lists.facts import ListChanged, ListDeleted, ListJoined, ListLeft
from kith.social.timelines import tasks
from kith.social.timelines.filling import BRING_HOME, BRING_TO_LIST, FILL_LIST, STRETCH
from tests.social.members import Member, join, join_all, stranger, strangers
from tests.social.posts import does, home, ids, notices, post, said_elsewhere, settle
from tests.town import Town, build_town
from tests.town.town import Engine

_jobs = query(select(jobs), Job)


class Place:
    """Ada follows Bob and Cy and has a list with both; everybody has posted, and no worker runs any more."""

    def __init__(self, town: Town, ada: Member, bob: Member, cy: Member) -> None:
        self.town, self.ada, self.bob, self.cy = town, ada, bob, cy
        self.list = ""
        self.said: dict[str, str] = {}

    async def lists_of(self, other: Member) -> list[str]:
        return [one["id"] for one in await self.ada.get(f"/api/v1/accounts/{other.id}/lists")]

    async def members(self) -> list[str]:
        return [one["id"] for one in await self.ada.get(f"/api/v1/lists/{self.list}/accounts")]

    async def on_list(self) -> list[str]:
        return await ids(self.ada, f"/api/v1/timelines/list/{self.list}")

    async def home(self) -> list[str]:
        return await home(self.ada)

    async def found(self, word: str) -> list[str]:
        answer = await self.ada.get("/api/v2/search", params={"q": word, "type": "statuses"})
        return [one["id"] for one in answer["statuses"]]


@pytest.fixture(scope="module")
async def idle_town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """A town whose server runs no jobs."""
    async with build_town(engine, tmp_path_factory.mktemp("idle"), worker="off") as town:
        yield town


async def do_jobs(town: Town) -> None:
    """All that is due, by a worker that then leaves."""
    async with town.house() as house:
        worker = house.worker()
        running = asyncio.create_task(worker.run())
        await settle(town)
        worker.stop()
        await running


@pytest.fixture
async def place(idle_town: Town) -> Place:
    town = idle_town
    ada, bob, cy, dee = await join_all(town, 4)
    place = Place(town, ada, bob, cy)
    for member in (ada, bob, cy):
        await member.call("GET", "/api/v1/timelines/home")
    for other in (bob, cy):
        await ada.to(other, "follow")
    await bob.to(ada, "follow")
    place.list = (await ada.post("/api/v1/lists", json={"title": "Both"}))["id"]
    await ada.post(f"/api/v1/lists/{place.list}/accounts", json={"account_ids": [bob.id, cy.id]})
    await ada.post("/api/v1/tags/gardens/follow")
    await do_jobs(town)
    place.said["own"] = (await post(ada, "Mine"))["id"]
    place.said["bob"] = (await post(bob, f"@{ada.name} hello from a walrus"))["id"]
    place.said["cy"] = (await post(cy, "Hello #gardens"))["id"]
    place.said["dee"] = (await post(dee, "Nobody follows me #gardens"))["id"]
    place.said["boosted"] = (await post(dee, "Worth reading"))["id"]
    await does(cy, "reblog", place.said["boosted"])
    await does(ada, "favourite", place.said["bob"])
    await does(ada, "bookmark", place.said["bob"])
    there = await stranger(town)
    place.said["there"] = await said_elsewhere(town, there, "From far away #gardens", tag_names=["gardens"])
    await do_jobs(town)
    return place


async def test_nothing_that_is_over_is_still_there_when_the_answer_leaves(place: Place) -> None:
    ada, bob, cy, said = place.ada, place.bob, place.cy, place.said
    assert {said["bob"], said["cy"], said["dee"], said["boosted"], said["there"]} <= set(await place.home())
    assert said["bob"] in await place.on_list()

    # Boosts of Cy are not wanted any more.
    await ada.to(cy, "follow", reblogs=False)
    assert said["boosted"] not in await place.home() + await place.on_list()
    assert said["cy"] in await place.home()

    # A whole server is blocked.
    await ada.post("/api/v1/domain_blocks", json={"domain": "elsewhere.example"})
    assert said["there"] not in await place.home()

    # A tag is not followed any more: what follows bring stays.
    await ada.post("/api/v1/tags/gardens/unfollow")
    assert said["dee"] not in await place.home()
    assert said["cy"] in await place.home()

    # Whoever is on an exclusive list is not read at home, and whoever left it not on it.
    await ada.does("PUT", f"/api/v1/lists/{place.list}", json={"exclusive": True})
    assert said["bob"] not in await place.home()
    await ada.delete(f"/api/v1/lists/{place.list}/accounts", params={"account_ids[]": [cy.id]})
    assert said["cy"] not in await place.on_list()
    assert await place.members() == [bob.id]

    # Unfollowed is gone from lists.
    await ada.to(bob, "unfollow")
    assert await place.members() == []
    assert await place.lists_of(bob) == []
    assert said["bob"] not in await place.on_list() + await place.home()


@pytest.mark.parametrize("verb", ["block", "mute"])
async def test_whoever_is_kept_apart_is_seen_nowhere(place: Place, verb: str) -> None:
    ada, bob, said = place.ada, place.bob, place.said
    assert ("follow", bob.id, None) in await notices(ada)
    assert await place.found("walrus") == [said["bob"]]
    await ada.to(bob, verb)
    assert said["bob"] not in await place.home() + await place.on_list()
    assert bob.id not in [who for _, who, _ in await notices(ada)]
    assert await place.found("walrus") == []
    if verb == "block":
        assert await place.members() == [place.cy.id]
        assert bob.id not in [one["id"] for one in await ada.get(f"/api/v1/accounts/{ada.id}/followers")]
        assert place.said["own"] not in await ids(bob, "/api/v1/timelines/home")


async def test_a_deleted_post_is_nowhere(place: Place) -> None:
    ada, bob, said = place.ada, place.bob, place.said
    reply = await post(ada, "An answer", in_reply_to_id=said["bob"])
    assert (await bob.get(f"/api/v1/statuses/{said['bob']}"))["replies_count"] == 1
    await ada.delete(f"/api/v1/statuses/{reply['id']}")
    assert (await bob.get(f"/api/v1/statuses/{said['bob']}"))["replies_count"] == 0
    assert (await bob.get(f"/api/v1/statuses/{said['bob']}/context"))["descendants"] == []
    assert reply["id"] not in await place.home()
    before = (await bob.refreshed())["statuses_count"]
    await bob.delete(f"/api/v1/statuses/{said['bob']}")
    assert (await bob.refreshed())["statuses_count"] == before - 1
    for path in ("/api/v1/timelines/home", "/api/v1/favourites", "/api/v1/bookmarks"):
        assert said["bob"] not in await ids(ada, path)
    assert said["bob"] not in await place.on_list()
    assert said["bob"] not in [about for _, _, about in await notices(ada)]
    assert await place.found("walrus") == []


async def test_what_an_edit_took_out_is_not_found(place: Place) -> None:
    path = f"/api/v1/statuses/{place.said['bob']}"
    await place.bob.does("PUT", path, json={"status": f"@{place.ada.name} hello from a seal"})
    assert await place.found("walrus") == []
    assert await place.found("seal") == [place.said["bob"]]
    await place.bob.patch("/api/v1/accounts/update_credentials", json={"display_name": "Xylophone"})
    people = await place.ada.get("/api/v1/accounts/search", params={"q": "Xylophone"})
    assert [one["id"] for one in people] == [place.bob.id]


async def test_a_follower_who_is_sent_away_reads_no_more(place: Place) -> None:
    ada, bob, said = place.ada, place.bob, place.said
    assert said["own"] in await home(bob)
    await ada.to(bob, "remove_from_followers")
    assert said["own"] not in await home(bob)
    assert "follow" not in [kind for kind, who, _ in await notices(ada) if who == bob.id]
    assert await ada.get(f"/api/v1/accounts/{ada.id}/followers") == []


async def test_who_asked_is_answered(place: Place) -> None:
    """A request that is withdrawn or refused leaves lists and the list of those who ask."""
    ada, cy = place.ada, place.cy
    dee = await join(place.town)
    await dee.patch("/api/v1/accounts/update_credentials", json={"locked": True})
    for answer in ("unfollow", "reject"):
        await ada.to(dee, "follow")
        await ada.post(f"/api/v1/lists/{place.list}/accounts", json={"account_ids": [dee.id]})
        assert await place.lists_of(dee) == [place.list]
        if answer == "reject":
            await dee.post(f"/api/v1/follow_requests/{ada.id}/reject")
        else:
            await ada.to(dee, "unfollow")
        assert await place.lists_of(dee) == []
        assert await dee.get("/api/v1/follow_requests") == []
    assert await place.lists_of(cy) == [place.list]


async def test_whoever_is_deleted_is_gone(place: Place) -> None:
    ada, bob, said = place.ada, place.bob, place.said
    owner = await place.town.owner()
    [found] = (await owner.get("/api/v2/core/users/", params={"username": bob.name})).json()["results"]
    assert (await owner.call("DELETE", f"/api/v2/core/users/{found['pk']}/")).status_code == 204
    assert (await ada.call("GET", f"/api/v1/statuses/{said['bob']}")).status_code == 404
    assert said["bob"] not in await place.home() + await place.on_list()
    assert bob.id not in [one["id"] for one in await ada.get(f"/api/v1/accounts/{ada.id}/following")]
    people = await ada.get("/api/v1/accounts/search", params={"q": bob.name})
    assert [one["id"] for one in people] == []


async def test_what_a_list_brings_is_brought_in_stretches(place: Place) -> None:
    """However many are on it: no job is longer than a stretch, none stands among those that carry new posts, and what
    is asked for several times is done once."""
    ada, bob, cy, said, list_id = place.ada, place.bob, place.cy, place.said, int(place.list)
    me, path = AccountId(int(ada.id)), f"/api/v1/lists/{place.list}"
    crowd = [one.id for one in await strangers(place.town, 2 * STRETCH + 10)]
    await ada.does("PUT", path, json={"exclusive": True})
    await do_jobs(place.town)
    assert said["bob"] not in await place.home()
    await ada.does("PUT", path, json={"exclusive": False})
    async with place.town.house() as house:
        async with house.works.begin() as work:
            for id in crowd:
                await lists.add(work.db, list_id, id, id=work.new_id())
            for _ in range(3):
                await tasks.rebuild_list(work, ListChanged(list_id, me, replies=True, exclusive=True))
            await tasks.bring_into_list(work, [ListJoined(list_id, me, id) for id in crowd])
            await tasks.take_from_list(work, [ListLeft(list_id, me, id) for id in crowd])
            await tasks.drop_list(work, ListDeleted(0, me, tuple(crowd)))
        kinds = {BRING_HOME.name, BRING_TO_LIST.name, FILL_LIST.name}
        asked = [job for job in await house.works.open().db.all(_jobs) if job.kind in kinds]
        assert {(job.kind, job.owner) for job in asked} == {(kind, f"account:{me}") for kind in kinds}
        assert max(job.payload.count(",") for job in asked) <= STRETCH + 5
        assert [job.kind for job in asked].count(FILL_LIST.name) == 1
        assert QUICK not in {tasks.BRING_INTO_LIST.lane, tasks.TAKE_FROM_LIST.lane, *(job.lane for job in asked)}
    await do_jobs(place.town)
    assert said["bob"] in await place.home()
    assert {said["bob"], said["cy"]} <= set(await place.on_list())
    assert {bob.id, cy.id, *map(str, crowd)} == {
        one["id"] for one in await ada.get(f"{path}/accounts", params={"limit": "0"})
    }
