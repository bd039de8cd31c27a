"""Who sees what was said elsewhere: the rule for people here, asked of everything that can show a post."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest

from tests.federation.inbox_street import Street, street
from tests.federation.neighbour import PUBLIC, RemotePerson
from tests.federation.two_servers import find_post
from tests.social.members import Member, join
from tests.social.posts import arrive, does, post
from tests.social.test_access import may_see
from tests.town.town import Engine

VISIBILITIES = ("public", "unlisted", "private", "direct")
VIEWERS = ("nobody", "stranger", "follower", "mentioned", "shut out", "blocking", "muting", "domain blocking")
FAR = ("shut out", "blocking", "muting", "domain blocking")
TAG = "farandwide"


@pytest.fixture(scope="module")
async def lane(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Street]:
    async with street(engine, tmp_path_factory.mktemp("authors")) as made:
        yield made


def sees(viewer: str, visibility: str) -> bool:
    """Whoever hides a whole server still sees one post of it that they ask for."""
    return may_see("stranger" if viewer == "domain blocking" else viewer, visibility)


def addressed(author: RemotePerson, visibility: str, named: list[Member]) -> dict[str, Any]:
    followers, uris = f"{author.uri}/followers", [one.me["uri"] for one in named]
    return {
        "public": {"to": [PUBLIC], "cc": [followers, *uris]},
        "unlisted": {"to": [followers], "cc": [PUBLIC, *uris]},
        "private": {"to": [followers], "cc": uris},
        "direct": {"to": uris, "cc": []},
    }[visibility]


class Cast(msgspec.Struct):
    lane: Street
    author: RemotePerson
    author_id: str
    members: dict[str, Member | None]

    def member(self, viewer: str) -> Member:
        found = self.members[viewer]
        assert found is not None
        return found

    @property
    def named(self) -> list[Member]:
        return [self.member("mentioned"), self.member("shut out")]

    async def says(self, kind: str, **changes: Any) -> dict[str, str]:
        """A post of each visibility; all of them name the same two. Their ids here."""
        made = {}
        mentions = [{"type": "Mention", "href": one.me["uri"], "name": f"@{one.name}"} for one in self.named]
        tag = {"type": "Hashtag", "name": f"#{TAG}", "href": f"{self.author.home.url}/tags/{TAG}"}
        for one in VISIBILITIES:
            name = f"{kind}-{one}"
            to = addressed(self.author, one, self.named)
            note = self.author.note(name, f"{one} #{TAG}", tag=[*mentions, tag], **(to | changes))
            await self.lane.sends(self.author, self.author.create(note))
            made[one] = str(note["id"])
        mine = await self.member("mentioned").get("/api/v1/notifications", params={"types[]": "mention", "limit": "40"})
        ids = {told["status"]["uri"]: str(told["status"]["id"]) for told in mine}
        return {one: ids[uri] for one, uri in made.items()}

    async def look(self, viewer: str, path: str, **params: Any) -> httpx.Response:
        member = self.members[viewer]
        if member is None:
            return await self.lane.here.http.get(path, params=params)
        return await member.call("GET", path, params=params)


async def make_cast(lane: Street, name: str) -> Cast:
    author = lane.there.person(name, key=0)
    author.document["indexable"] = True
    lane.there.serves(f"/users/{name}", author.document)
    members: dict[str, Member | None] = {one: await join(lane.here) for one in VIEWERS if one != "nobody"}
    members["nobody"] = None
    cast = Cast(lane, author, "", members)
    follower, mentioned = cast.member("follower"), cast.member("mentioned")
    await mentioned.patch("/api/v2/notifications/policy", json={"for_private_mentions": "accept"})
    await mentioned.patch("/api/v2/notifications/policy", json={"for_new_accounts": "accept"})
    await lane.sends(author, author.activity("Follow", follower.me["uri"]))
    account = await lane.account_of(author)
    cast.author_id = str(account.id)
    await follower.to(account, "follow")
    asked = await lane.there.receives(lambda one: one.type == "Follow" and one.signer == follower.me["uri"])
    await lane.sends(author, author.activity("Accept", asked.activity))
    await arrive(*(one for one in members.values() if one is not None))
    return cast


async def part(cast: Cast) -> None:
    """Whatever ends: the author blocks one, and is blocked, muted and shut out with all their neighbours."""
    account = await cast.lane.account_of(cast.author)
    await cast.lane.sends(cast.author, cast.author.activity("Block", cast.member("shut out").me["uri"]))
    await cast.member("blocking").to(account, "block")
    await cast.member("muting").to(account, "mute")
    await cast.member("domain blocking").post("/api/v1/domain_blocks", json={"domain": cast.lane.there.domain})
    await cast.lane.settled()


async def test_what_was_said_elsewhere_is_shown_to_those_who_may_see_it(lane: Street) -> None:  # noqa: C901
    cast = await make_cast(lane, "zoe")
    host = await join(lane.here)
    root = await post(host, "a question")
    poll = {"type": "Question", "endTime": "2099-01-01T00:00:00Z", "oneOf": [
        {"type": "Note", "name": name, "replies": {"type": "Collection", "totalItems": 0}} for name in ("a", "b")
    ]}  # fmt: skip
    everybody = {"canQuote": {"automaticApproval": [PUBLIC]}}
    plain = await cast.says("plain", interactionPolicy=everybody, **poll)
    replies = await cast.says("reply", inReplyTo=root["uri"])
    await does(host, "reblog", plain["public"])
    await does(host, "reblog", plain["unlisted"])
    for name in ("mentioned", "shut out"):
        for id in plain.values():
            await does(cast.member(name), "favourite", id)
            await does(cast.member(name), "bookmark", id)
    await lane.settled()
    await part(cast)
    wrong: list[str] = []

    def expect(place: str, viewer: str, visibility: str, *, seen: bool, wanted: bool) -> None:
        if seen != wanted:
            wrong.append(f"{place}: {viewer} {'sees' if seen else 'does not see'} {visibility}")

    for viewer in VIEWERS:
        far = viewer in FAR
        allowed = {one for one in VISIBILITIES if sees(viewer, one)}
        for visibility, id in plain.items():
            shown = await cast.look(viewer, f"/api/v1/statuses/{id}")
            for end in ("", "/context", "/history", "/reblogged_by", "/favourited_by", "/card"):
                answer = await cast.look(viewer, f"/api/v1/statuses/{id}{end}")
                # Which of the two is asked below.
                assert answer.status_code in (200, 404), answer.text
                seen = answer.status_code == 200
                expect(end or "status", viewer, visibility, seen=seen, wanted=visibility in allowed)
            if shown.status_code == 200:
                poll_id = shown.json()["poll"]["id"]
                for other in VIEWERS:
                    answer = await cast.look(other, f"/api/v1/polls/{poll_id}")
                    expect("poll", other, visibility, seen=answer.status_code == 200, wanted=sees(other, visibility))

        async def listed(
            place: str, viewer: str, path: str, among: dict[str, str], wanted: set[str], **params: Any
        ) -> None:
            answer = await cast.look(viewer, path, limit="40", **params)
            assert answer.status_code == 200, f"{place} {viewer}: {answer.text}"
            found = answer.json()
            found = found["descendants"] if isinstance(found, dict) else found
            shown = {(one["reblog"] or one)["id"] for one in found}
            for visibility, id in among.items():
                expect(place, viewer, visibility, seen=id in shown, wanted=visibility in wanted)

        opened = {"public", "unlisted"}
        by_id = {"id[]": list(plain.values())}
        await listed("by id", viewer, "/api/v1/statuses", plain, allowed, **by_id)
        await listed("profile", viewer, f"/api/v1/accounts/{cast.author_id}/statuses", plain, allowed)
        context = f"/api/v1/statuses/{root['id']}/context"
        await listed("thread", viewer, context, replies, set() if far else allowed)
        for place, path in (("public", "/api/v1/timelines/public"), ("tag", f"/api/v1/timelines/tag/{TAG}")):
            await listed(place, viewer, path, plain, set() if far else {"public"})
        await listed("boosts", viewer, f"/api/v1/accounts/{host.id}/statuses", plain, set() if far else opened)
        if viewer != "nobody":
            homely = opened | {"private"} if viewer == "follower" else set()
            await listed("home", viewer, "/api/v1/timelines/home", plain, homely)
            marked = allowed if viewer == "mentioned" else set()
            await listed("favourites", viewer, "/api/v1/favourites", plain, marked)
            await listed("bookmarks", viewer, "/api/v1/bookmarks", plain, marked)
            told = await cast.member(viewer).get("/api/v1/notifications", params={"types[]": "mention", "limit": "40"})
            about = {one["status"]["id"] for one in told}
            for visibility, id in plain.items():
                expect("notices", viewer, visibility, seen=id in about, wanted=viewer == "mentioned")
            for visibility, id in plain.items():
                answer = await cast.look(viewer, f"/api/v1/statuses/{id}/source")
                expect("source", viewer, visibility, seen=answer.status_code == 200, wanted=visibility in allowed)
    assert wrong == []


async def test_nobody_does_to_a_post_what_they_could_not_see(lane: Street) -> None:
    cast = await make_cast(lane, "yves")
    plain = await cast.says("acted")
    await part(cast)
    for viewer in (one for one in VIEWERS if one != "nobody"):
        member = cast.member(viewer)
        for visibility, id in plain.items():
            for verb in ("favourite", "bookmark", "reblog"):
                answer = await member.call("POST", f"/api/v1/statuses/{id}/{verb}")
                is_apart = viewer == "blocking" and verb != "bookmark"
                is_open = visibility in ("public", "unlisted")
                may = sees(viewer, visibility) and not is_apart and (verb != "reblog" or is_open)
                assert (answer.status_code == 200) is may, (viewer, visibility, verb, answer.text)
            answer = await member.call("POST", "/api/v1/statuses", json={"status": "so", "in_reply_to_id": id})
            assert (answer.status_code == 200) is sees(viewer, visibility), (viewer, visibility, answer.text)


async def test_what_is_gone_elsewhere_is_gone_for_everybody(lane: Street) -> None:
    cast = await make_cast(lane, "xena")
    host = await join(lane.here)
    deleted, left = await cast.says("deleted"), await cast.says("left")
    await does(host, "reblog", deleted["public"])
    await does(host, "reblog", left["public"])
    for id in (*deleted.values(), *left.values()):
        await does(cast.member("mentioned"), "favourite", id)
    for one in VISIBILITIES:
        tombstone = {"id": f"{cast.author.uri}/statuses/deleted-{one}", "type": "Tombstone"}
        await lane.sends(cast.author, cast.author.activity("Delete", tombstone))
    await are_gone(cast, host, set(deleted.values()))
    assert (await find_post(cast.member("follower"), f"{cast.author.uri}/statuses/left-public"))["id"] == left["public"]
    await lane.sends(cast.author, cast.author.activity("Delete", cast.author.uri))
    await are_gone(cast, host, {*deleted.values(), *left.values()})
    for viewer in VIEWERS:
        # 410 for those who may know that there was somebody.
        assert (await cast.look(viewer, f"/api/v1/accounts/{cast.author_id}")).status_code in (404, 410), viewer


async def are_gone(cast: Cast, host: Member, gone: set[str]) -> None:
    await cast.lane.settled()
    for viewer in VIEWERS:
        for id in gone:
            for end in ("", "/context", "/history"):
                assert (await cast.look(viewer, f"/api/v1/statuses/{id}{end}")).status_code == 404, (viewer, end)
        paths = ["/api/v1/timelines/public", f"/api/v1/timelines/tag/{TAG}", f"/api/v1/accounts/{host.id}/statuses"]
        if viewer != "nobody":
            paths += ["/api/v1/timelines/home", "/api/v1/favourites"]
        for path in paths:
            shown = (await cast.look(viewer, path, limit="40")).json()
            assert not gone & {(one["reblog"] or one)["id"] for one in shown}, (viewer, path)
        if viewer != "nobody":
            told = (await cast.look(viewer, "/api/v1/notifications", limit="40")).json()
            assert not gone & {one["status"]["id"] for one in told if one.get("status")}, viewer
