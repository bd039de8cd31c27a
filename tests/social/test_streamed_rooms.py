"""What other rooms stream: conversations, encrypted messages, changes of filters; and what filters do to streams."""

from __future__ import annotations

from tests.social.members import Member, join_all
from tests.social.posts import arrive, post
from tests.social.staff import employ
from tests.social.streams import listen, open_socket
from tests.social.test_conversations import inbox, write
from tests.social.test_encryption import new_phones
from tests.social.test_filters import new_filter, results
from tests.town import Town


async def friends(town: Town) -> tuple[Member, Member]:
    ada, bob = await join_all(town, 2)
    await ada.to(bob, "follow")
    await arrive(ada, bob)
    return ada, bob


async def test_a_conversation_is_streamed_to_its_participants(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    async with listen(ada, "direct") as events:
        said = await write(bob, ada)
        name, conversation = await events.next()
    assert (name, conversation["last_status"]["id"], conversation["unread"]) == ("conversation", said["id"], True)
    assert conversation == (await inbox(ada))[0]


async def test_an_encrypted_message_reaches_its_device_alone(town: Town) -> None:
    ada, bob = await new_phones(town, 2)
    await ada.upload()
    await bob.upload()
    async with open_socket(bob.member, "user") as socket:
        await ada.send(bob, body="sealed")
        name, message = await socket.next()
    assert name == "encrypted_message"
    assert message == (await bob.inbox())[0]


async def test_a_change_of_filters_is_told(town: Town) -> None:
    [ada] = await join_all(town, 1)
    async with open_socket(ada, "user") as socket, listen(ada, "user") as events:
        made = await new_filter(ada, "dragon")
        assert await socket.next() == ("filters_changed", None)
        assert await events.next() == ("filters_changed", "undefined")
        await ada.delete(f"/api/v2/filters/{made['id']}")
        assert await socket.next() == ("filters_changed", None)


async def test_filters_work_in_home_streams_at_once(town: Town) -> None:
    ada, bob = await friends(town)
    async with listen(ada, "user") as events:
        await new_filter(ada, "dragon")
        await new_filter(ada, "hidden", filter_action="hide")
        assert [(await events.next())[0] for _ in range(2)] == ["filters_changed"] * 2
        await post(bob, "hidden")
        await post(bob, "a dragon")
        name, shown = await events.next()
    assert (name, results(shown)) == ("update", [["dragon"]])


async def test_filters_work_in_public_streams_for_whoever_has_them(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await new_filter(ada, "dragon", context=["public"])
    await new_filter(ada, "hidden", context=["public"], filter_action="hide")
    async with listen(ada, "public") as hers, listen(bob, "public") as his:
        hidden, seen = await post(bob, "hidden"), await post(bob, "a dragon")
        name, shown = await hers.next()
        assert (name, shown["id"], results(shown)) == ("update", seen["id"], [["dragon"]])
        assert [(await his.next())[1]["id"] for _ in range(2)] == [hidden["id"], seen["id"]]


async def test_announcements_and_reactions_to_them_are_told_to_everybody(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    owner = await employ(town, "owner")
    async with open_socket(ada, "user") as socket:
        made = await owner.post("/api/v1/admin/announcements", json={"text": "Tea at five"})
        [shown] = [one for one in await ada.get("/api/v1/announcements") if one["id"] == made["id"]]
        name, told = await socket.next()
        assert (name, told["id"], told["content"]) == ("announcement", shown["id"], shown["content"])
        assert "read" not in told
        await bob.does("PUT", f"/api/v1/announcements/{shown['id']}/reactions/\N{HOT BEVERAGE}")
        expected = {"name": "\N{HOT BEVERAGE}", "count": 1, "announcement_id": shown["id"]}
        assert await socket.next() == ("announcement.reaction", expected)
        await owner.delete(f"/api/v1/admin/announcements/{shown['id']}")
        assert await socket.next() == ("announcement.delete", shown["id"])
