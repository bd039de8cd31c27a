"""Kith and servers that share no line with it, on Fedify and on bovine, find, follow, read and like each other.

They ask WebFinger by https alone, so they are told addresses instead of handles.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from tests.federation.independent_server import IndependentServer, independent_server
from tests.federation.two_servers import home
from tests.social.members import Member, join, until
from tests.social.posts import post
from tests.town import Town, build_town
from tests.town.town import Engine


@pytest.fixture(scope="module", params=["fedify", "bovine"])
async def other(request: pytest.FixtureRequest) -> AsyncIterator[IndependentServer]:
    async with independent_server(request.param) as one:
        yield one


@pytest.fixture(scope="module")
async def here(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with build_town(engine, tmp_path_factory.mktemp("here"), private_hosts="127.0.0.1") as built:
        yield built


async def found(member: Member, handle: str) -> dict[str, Any]:
    asked = {"q": handle, "type": "accounts", "resolve": "true"}
    [account] = (await member.get("/api/v2/search", params=asked))["accounts"]
    return dict(account)


async def test_another_server_understands_who_and_what_is_here(here: Town, other: IndependentServer) -> None:
    ada = await join(here)
    status = await post(ada, "Hello #bread, from <Kith> & friends")

    actor = await other.order("lookup", what=ada.me["uri"])
    note = await other.order("lookup", what=status["uri"])

    assert (actor["type"], actor["id"]) == ("Person", ada.me["uri"])
    assert actor["json"]["preferredUsername"] == ada.name
    assert (note["type"], note["id"]) == ("Note", status["uri"])
    assert "Hello" in note["json"]["content"]


async def test_somebody_elsewhere_follows_is_accepted_and_gets_what_is_posted(
    here: Town, other: IndependentServer
) -> None:
    ada = await join(here)
    await other.order("follow", who=ada.me["uri"])

    async def was_accepted() -> bool:
        return bool(await other.heard("Accept"))

    await until(was_accepted)
    [follower] = await ada.get(f"/api/v1/accounts/{ada.id}/followers")
    assert follower["acct"] == other.handle[1:]

    status = await post(ada, "For those who follow me")

    async def has_it() -> bool:
        return any(one["json"]["object"]["id"] == status["uri"] for one in await other.heard("Create"))

    await until(has_it)


async def test_a_member_follows_somebody_elsewhere_and_reads_their_post(here: Town, other: IndependentServer) -> None:
    ada = await join(here)
    account = await found(ada, other.handle)
    assert account["uri"] == other.uri
    await ada.post(f"/api/v1/accounts/{account['id']}/follow", json={})

    async def follows() -> bool:
        [one] = await ada.get("/api/v1/accounts/relationships", params={"id[]": account["id"]})
        return bool(one["following"])

    await until(follows)
    note = await other.order("post", content="<p>Good morning from elsewhere</p>")

    async def is_at_home() -> bool:
        return any(one["uri"] == note["id"] for one in await home(ada))

    await until(is_at_home)


async def test_somebody_elsewhere_mentions_and_likes(here: Town, other: IndependentServer) -> None:
    ada = await join(here)
    status = await post(ada, "Worth a heart")
    await other.order("like", what=status["uri"])
    await other.order("post", content="<p>Hello you</p>", mentions=[ada.me["uri"]])

    async def is_told() -> bool:
        told = await ada.get("/api/v1/notifications")
        return {"favourite", "mention"} <= {one["type"] for one in told}

    await until(is_told)
    assert (await ada.get(f"/api/v1/statuses/{status['id']}"))["favourites_count"] == 1


async def test_what_members_do_to_posts_elsewhere_is_told_there(here: Town, other: IndependentServer) -> None:
    ada = await join(here)
    note = await other.order("post", content="<p>Likeable</p>", mentions=[ada.me["uri"]])
    seen: list[dict[str, Any]] = []

    async def is_known() -> bool:
        seen[:] = [one for one in (await ada.get("/api/v1/notifications")) if one["type"] == "mention"]
        return bool(seen)

    async def has_heard(*kinds: str) -> bool:
        return set(kinds) <= {one["kind"] for one in await other.order("heard") if one["actor"] == ada.me["uri"]}

    await until(is_known)
    status_id = seen[0]["status"]["id"]
    await ada.post(f"/api/v1/statuses/{status_id}/favourite")
    await ada.post(f"/api/v1/statuses/{status_id}/reblog")
    await ada.post(f"/api/v1/statuses/{status_id}/unfavourite")
    reply = await post(ada, f"{other.handle} thank you", in_reply_to_id=status_id)
    await until(partial(has_heard, "Like", "Announce", "Undo", "Create"))
    await ada.delete(f"/api/v1/statuses/{reply['id']}")
    await until(partial(has_heard, "Delete"))
    [liked] = [one for one in await other.heard("Like") if one["actor"] == ada.me["uri"]]
    assert liked["json"]["object"] == note["id"]
