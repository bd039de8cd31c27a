"""Posts between two servers of this kind: both hold the same truth in the end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import TownBuilder
from tests.social.members import Member, join, until
from tests.social.posts import arrive, does, post
from tests.social.samples import image_file
from tests.town import Town


@pytest.fixture
async def street(new_town: TownBuilder) -> tuple[Town, Town]:
    return await new_town(private_hosts="127.0.0.1"), await new_town(private_hosts="127.0.0.1")


async def _neighbours(street: tuple[Town, Town]) -> tuple[Member, Member]:
    """Two people on two servers who follow each other."""
    ada, bob = await join(street[0], "ada"), await join(street[1], "bob")
    await follow(ada, bob)
    await follow(bob, ada)
    return ada, bob


async def follow(one: Member, other: Member) -> None:
    account = await one.post("/api/v1/follows", json={"uri": handle(other)})

    async def is_accepted() -> bool:
        [relation] = await one.get("/api/v1/accounts/relationships", params={"id[]": account["id"]})
        return bool(relation["following"])

    await until(is_accepted)
    await arrive(one)


def handle(person: Member) -> str:
    return f"{person.name}@127.0.0.1:{person.town.port}"


async def seen(reader: Member, uri: str) -> dict[str, Any]:
    """A post that has arrived in somebody's home."""
    found: list[dict[str, Any]] = []

    async def is_there() -> bool:
        answer = await reader.call("GET", "/api/v1/timelines/home", params={"limit": "40"})
        found[:] = [one["reblog"] or one for one in answer.json()]
        found[:] = [one for one in found if one["uri"] == uri]
        return bool(found)

    await until(is_there)
    return found[0]


async def becomes(reader: Member, id: str, name: str, value: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {}

    async def is_so() -> bool:
        shown.update(await reader.get(f"/api/v1/statuses/{id}"))
        return bool(shown[name] == value)

    await until(is_so)
    return shown


async def test_a_post_travels_with_all_it_has_and_comes_back(street: tuple[Town, Town]) -> None:
    # given
    ada, bob = await _neighbours(street)
    uploaded = await ada.post(
        "/api/v2/media", files={"file": ("a.png", image_file("PNG", (40, 30)))}, data={"description": "A loaf"}
    )

    # when
    said = await post(ada, f"Hello @{handle(bob)} about #Bread", media_ids=[uploaded["id"]], spoiler_text="food")
    there = await seen(bob, said["uri"])

    # then
    assert there["spoiler_text"] == "food"
    assert [one["acct"] for one in there["mentions"]] == ["bob"]
    assert [one["name"] for one in there["tags"]] == ["bread"]
    [picture] = there["media_attachments"]
    assert (picture["description"], picture["blurhash"]) == ("A loaf", said["media_attachments"][0]["blurhash"])
    assert picture["url"].startswith(street[1].base_url)
    answer = await bob.town.http.get(picture["url"], follow_redirects=True)
    assert (answer.status_code, answer.headers["content-type"].partition("/")[0]) == (200, "image")

    # when: bob does with it what one does with a post
    await does(bob, "favourite", there["id"])
    await does(bob, "reblog", there["id"])
    reply = await post(bob, f"Thanks @{handle(ada)}", in_reply_to_id=there["id"])

    # then
    await becomes(ada, said["id"], "favourites_count", 1)
    await becomes(ada, said["id"], "reblogs_count", 1)
    back = await seen(ada, reply["uri"])
    assert back["in_reply_to_id"] == said["id"]
    await becomes(ada, said["id"], "replies_count", 1)

    # when: all of it ends
    await does(bob, "unfavourite", there["id"])
    await does(bob, "unreblog", there["id"])
    await ada.call("PUT", f"/api/v1/statuses/{said['id']}", json={"status": "Changed", "media_ids": []})
    await becomes(ada, said["id"], "favourites_count", 0)
    await becomes(ada, said["id"], "reblogs_count", 0)
    changed = await becomes(bob, there["id"], "content", "<p>Changed</p>")
    assert changed["media_attachments"] == []
    assert len(await bob.get(f"/api/v1/statuses/{there['id']}/history")) == 2
    await ada.delete(f"/api/v1/statuses/{said['id']}")

    async def is_gone() -> bool:
        return (await bob.call("GET", f"/api/v1/statuses/{there['id']}")).status_code == 404

    await until(is_gone)


async def test_what_is_for_some_reaches_them_alone(street: tuple[Town, Town]) -> None:
    ada, bob = await _neighbours(street)
    eve = await join(street[1], "eve")
    private = await post(ada, "for those who follow", visibility="private")
    direct = await post(ada, f"for @{handle(bob)} alone", visibility="direct")

    there = await seen(bob, private["uri"])

    assert there["visibility"] == "private"
    assert (await eve.call("GET", f"/api/v1/statuses/{there['id']}")).status_code == 404
    arrived: list[dict[str, Any]] = []

    async def is_told() -> bool:
        arrived[:] = await bob.get("/api/v1/conversations")
        return bool(arrived)

    await until(is_told)
    assert arrived[0]["last_status"]["uri"] == direct["uri"]
    assert arrived[0]["last_status"]["visibility"] == "direct"


async def test_votes_are_counted_on_both_sides(street: tuple[Town, Town]) -> None:
    ada, bob = await _neighbours(street)
    asked = await post(ada, "Which?", poll={"options": ["rye", "wheat"], "expires_in": 3600})
    there = await seen(bob, asked["uri"])

    voted = await bob.post(f"/api/v1/polls/{there['poll']['id']}/votes", json={"choices": [1]})
    assert voted["own_votes"] == [1]

    async def is_counted() -> bool:
        poll = (await ada.get(f"/api/v1/statuses/{asked['id']}"))["poll"]
        return [one["votes_count"] for one in poll["options"]] == [0, 1] and poll["voters_count"] == 1

    await until(is_counted)


async def test_a_quote_is_asked_for_and_shown_on_both_sides(street: tuple[Town, Town]) -> None:
    ada, bob = await _neighbours(street)
    said = await post(ada, "Quote me", quote_approval_policy="public")
    there = await seen(bob, said["uri"])
    assert there["quote_approval"]["current_user"] == "automatic"

    quoting = await post(bob, "Look", quoted_status_id=there["id"])
    assert quoting["quote"]["state"] == "pending"

    async def is_accepted() -> bool:
        shown = await bob.get(f"/api/v1/statuses/{quoting['id']}")
        return bool(shown["quote"]["state"] == "accepted")

    await until(is_accepted)
    await seen(ada, quoting["uri"])
    await becomes(ada, said["id"], "quotes_count", 1)
    back = await seen(ada, quoting["uri"])
    assert (back["quote"]["state"], back["quote"]["quoted_status"]["id"]) == ("accepted", said["id"])

    await ada.post(f"/api/v1/statuses/{said['id']}/quotes/{back['id']}/revoke")

    async def is_revoked() -> bool:
        shown = await bob.get(f"/api/v1/statuses/{quoting['id']}")
        return bool(shown["quote"]["state"] == "revoked")

    await until(is_revoked)
