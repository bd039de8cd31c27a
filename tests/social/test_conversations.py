"""Conversations: direct posts and their answers, in the inbox of each participant."""

from __future__ import annotations

from typing import Any

from tests.social.members import Member, join_all
from tests.social.posts import arrive, post
from tests.social.shapes import ACCOUNT, check
from tests.town import Town

PATH = "/api/v1/conversations"


async def write(author: Member, *others: Member, text: str = "psst", **sent: Any) -> dict[str, Any]:
    for other in others:
        await other.patch("/api/v2/notifications/policy", json={"for_private_mentions": "accept"})
    names = " ".join(f"@{other.name}" for other in others)
    made = await post(author, f"{text} {names}", visibility="direct", **sent)
    await arrive(author, *others)
    return made


async def inbox(member: Member, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await member.get(PATH, params=query)
    for one in found:
        assert set(one) == {"id", "unread", "accounts", "last_status"}
        check(one["accounts"], [ACCOUNT])
    return found


def names(conversation: dict[str, Any]) -> set[str]:
    return {one["username"] for one in conversation["accounts"]}


async def test_a_direct_post_is_in_the_inbox_of_everybody_it_is_for(town: Town) -> None:
    ada, bob, eve = await join_all(town, 3)
    first = await write(ada, bob)
    for member, other, unread in ((ada, bob, False), (bob, ada, True)):
        [found] = await inbox(member)
        assert (names(found), found["unread"], found["last_status"]["id"]) == ({other.name}, unread, first["id"])
    assert await inbox(eve) == []

    answer = await write(bob, ada, in_reply_to_id=first["id"])
    for member, unread in ((ada, True), (bob, False)):
        [found] = await inbox(member)
        assert (found["last_status"]["id"], found["unread"]) == (answer["id"], unread)
    await post(ada, f"for all @{bob.name}")
    await arrive(ada, bob)
    assert len(await inbox(bob)) == 1


async def test_other_participants_make_another_conversation(town: Town) -> None:
    ada, bob, eve = await join_all(town, 3)
    first = await write(ada, bob)
    wider = await write(bob, ada, eve, in_reply_to_id=first["id"])
    found = await inbox(ada)
    assert [names(one) for one in found] == [{bob.name, eve.name}, {bob.name}]
    assert [one["last_status"]["id"] for one in found] == [wider["id"], first["id"]]
    alone = await write(ada)
    [own, *_] = await inbox(ada)
    assert (names(own), own["last_status"]["id"], own["unread"]) == ({ada.name}, alone["id"], False)


async def test_it_can_be_read_unread_and_taken_out(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    first = await write(ada, bob)
    [found] = await inbox(bob)
    path = f"{PATH}/{found['id']}"
    assert await bob.post(f"{path}/read") == found | {"unread": False}
    assert (await inbox(bob))[0]["unread"] is False
    assert (await bob.post(f"{path}/unread"))["unread"] is True
    for method, one in (("POST", f"{path}/read"), ("DELETE", path)):
        assert (await ada.call(method, one)).status_code == 404
    assert await bob.delete(path) == {}
    assert await inbox(bob) == []
    assert len(await inbox(ada)) == 1
    await write(ada, bob, in_reply_to_id=first["id"])
    assert len(await inbox(bob)) == 1


async def test_it_shows_the_newest_post_that_is_left(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    first = await write(ada, bob)
    second = await write(ada, bob, in_reply_to_id=first["id"])
    await ada.delete(f"/api/v1/statuses/{second['id']}")
    for member in (ada, bob):
        [found] = await inbox(member)
        assert found["last_status"]["id"] == first["id"]
    await ada.delete(f"/api/v1/statuses/{first['id']}")
    assert await inbox(ada) == await inbox(bob) == []


async def test_pages_go_along_the_last_posts(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    made = [(await write(ada, bob, text=f"{number}"))["id"] for number in range(3)]
    assert [one["last_status"]["id"] for one in await inbox(bob)] == made[::-1]
    assert [one["last_status"]["id"] for one in await inbox(bob, max_id=made[2], limit=1)] == [made[1]]
    assert [one["last_status"]["id"] for one in await inbox(bob, min_id=made[0], limit=1)] == [made[1]]
    answer = await bob.call("GET", PATH, params={"limit": 1})
    assert f"max_id={made[2]}" in answer.headers["link"]


async def test_whoever_blocks_is_rid_of_it_and_who_is_not_told_has_none(town: Town) -> None:
    ada, bob, eve = await join_all(town, 3)
    await write(ada, bob)
    await bob.to(ada, "block")
    assert await inbox(bob) == []
    await eve.to(ada, "mute")
    await write(ada, eve)
    assert await inbox(eve) == []
    assert len(await inbox(ada)) == 2
