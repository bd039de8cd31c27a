"""Who sees what across servers: documents of ours for people elsewhere, and posts from elsewhere for people here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest

from tests.federation.asking import ask
from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import RemotePerson
from tests.social.members import Member, join, until
from tests.social.posts import does, post, settle
from tests.town.town import Engine

VISIBILITIES = ("public", "unlisted", "private", "direct")
OPEN = ("public", "unlisted")
VIEWERS = ("unsigned", "stranger", "follower", "mentioned", "blocked", "shut out")
_names = iter(range(1000))


@pytest.fixture(scope="module", params=["off", "on"], ids=["open", "secure"])
async def lane(
    request: pytest.FixtureRequest, engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("access"), secure_mode=request.param) as made:
        yield made


def is_secure(lane: Street) -> bool:
    return lane.here.environment["KITH_SECURE_MODE"] == "on"


def someone(lane: Street, **changes: Any) -> RemotePerson:
    return lane.there.person(f"far{next(_names)}", key=0, **changes)


# Documents of ours, for people elsewhere


def may_see(viewer: str, visibility: str) -> bool:
    """The rule for people here: whoever is blocked sees nothing, though it names them."""
    if viewer == "blocked":
        return False
    allowed = {"private": ("follower", "mentioned"), "direct": ("mentioned",)}
    return visibility in OPEN or viewer in allowed[visibility]


def answer_to(viewer: str, visibility: str, *, secure: bool) -> int:
    """What is answered for a post. In secure mode nobody is served who does not say who they are."""
    if secure and viewer in ("unsigned", "shut out"):
        return 401 if viewer == "unsigned" else 403
    return 200 if may_see(viewer, visibility) else 404


class Cast(msgspec.Struct):
    author: Member
    viewers: dict[str, RemotePerson | None]
    posts: dict[str, dict[str, Any]]
    boosts: dict[str, dict[str, Any]]

    async def look(self, viewer: str, url: str) -> httpx.Response:
        who = self.viewers[viewer]
        return await ask(self.author.town, url) if who is None else await who.get(url)


async def make_cast(lane: Street) -> Cast:
    """An author here with a post and a boost of each kind, and everybody elsewhere who may ask for them."""
    author = await join(lane.here)
    viewers: dict[str, RemotePerson | None] = {name: someone(lane) for name in VIEWERS if name != "unsigned"}
    viewers["unsigned"] = None
    viewers["shut out"] = lane.away.person(f"far{next(_names)}", key=1)
    for name in ("follower", "blocked", "shut out", "mentioned", "stranger"):
        who = viewers[name]
        assert who is not None
        verb = "Like" if name in ("mentioned", "stranger") else "Follow"
        await lane.sends(who, who.activity(verb, author.me["uri"]))
    named = " ".join(f"@{who.handle}" for name, who in viewers.items() if who and name in ("mentioned", "blocked"))
    posts = {one: await post(author, f"{named} {one}", visibility=one) for one in VISIBILITIES}
    for one in ("public", "unlisted", "private"):
        await does(author, "pin", posts[one])
        await post(author, f"below {one}", in_reply_to_id=posts[one]["id"], visibility=one)
    boosts = {one: await does(author, "reblog", posts[one]) for one in ("public", "unlisted", "private")}
    blocked = viewers["blocked"]
    assert blocked is not None
    await author.to(await lane.account_of(blocked), "block")
    await settle(lane.here)
    return Cast(author, viewers, posts, boosts)


async def shut_out(lane: Street, cast: Cast) -> None:
    await lane.here.kith("federation", "block", lane.away.domain)
    if is_secure(lane):

        async def is_refused() -> bool:
            return (await cast.look("shut out", cast.author.me["uri"])).status_code == 403

        await until(is_refused)
    await lane.settled()


async def test_a_document_is_shown_to_those_who_may_see_it_and_to_nobody_else(lane: Street) -> None:
    cast = await make_cast(lane)
    await shut_out(lane, cast)
    secure, wrong = is_secure(lane), list[str]()

    async def expect(viewer: str, url: str, status: int, words: str = "") -> dict[str, Any]:
        answer = await cast.look(viewer, url)
        if answer.status_code != status:
            wrong.append(f"{viewer} {url} {words}: {answer.status_code}, not {status}")
        if answer.status_code != 200:
            assert "content" not in answer.json()
            return {}
        if viewer not in ("unsigned", "shut out"):
            assert answer.headers["cache-control"] == "private, no-store", url
        return dict(answer.json())

    try:
        for viewer in VIEWERS:
            for visibility, one in cast.posts.items():
                status = answer_to(viewer, visibility, secure=secure)
                for end in ("", "/activity", "/replies", "/replies?page=true", "/likes", "/shares"):
                    await expect(viewer, one["uri"] + end, status, visibility)
            for visibility, one in cast.boosts.items():
                status = answer_to(viewer, visibility, secure=secure)
                if viewer == "mentioned" and visibility == "private":
                    status = 404  # a boost names nobody
                told = await expect(viewer, one["uri"], status, f"boost {visibility}")
                assert not told or told["type"] == "Announce"
            await lists_are_right(cast, viewer, expect, secure=secure)
        assert wrong == []
    finally:
        await lane.here.kith("federation", "allow", lane.away.domain)


async def lists_are_right(cast: Cast, viewer: str, expect: Any, *, secure: bool) -> None:
    """What is in lists is what may be seen alone; nothing else is named there."""
    uri = cast.author.me["uri"]
    refused = answer_to(viewer, "public", secure=secure)
    lists = 200 if refused == 404 and not secure else refused
    seen = {one["uri"] for name, one in cast.posts.items() if may_see(viewer, name) and name != "direct"}
    for path in ("", "/outbox", "/followers", "/following", "/collections/featured", "/collections/tags"):
        await expect(viewer, uri + path, lists)
    outbox = await expect(viewer, f"{uri}/outbox?page=true", lists)
    shown = {one["object"]["id"] for one in outbox.get("orderedItems", ()) if one["type"] == "Create"}
    if lists == 200:
        assert shown & {one["uri"] for one in cast.posts.values()} == seen, (viewer, "outbox")
    featured = await expect(viewer, f"{uri}/collections/featured", lists)
    if lists == 200:
        pinned = {one["id"] for one in featured["orderedItems"]}
        assert pinned == {cast.posts[name]["uri"] for name in OPEN}, (viewer, "featured")
    for visibility, one in cast.posts.items():
        context = f"{cast.author.town.base_url}/contexts/{cast.author.id}-{one['id']}"
        status = refused if secure and refused in (401, 403) else 200 if visibility in OPEN else 404
        if viewer == "blocked" and secure:
            status = 404
        await expect(viewer, context, status, visibility)
