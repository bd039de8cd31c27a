"""Who sees which status, asked of everything that can show one."""

from __future__ import annotations

from typing import Any

import httpx
from sqlalchemy import bindparam, update

from kith.base.db import command
from kith.identity.users.tables import users
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.social.members import Member, join, join_all, set_state, stranger, until
from tests.social.posts import arrive, does, ids, post, said_elsewhere, settle
from tests.town import Town

VISIBILITIES = ("public", "unlisted", "private", "direct")
VIEWERS = ("nobody", "author", "stranger", "follower", "mentioned", "shut out", "blocking", "muting")
Seen = set[tuple[str, str]]
_unapprove = command(update(users).where(users.c.username == bindparam("name")).values(approved_at=None))


def may_see(viewer: str, visibility: str) -> bool:
    """The rule, as it is told: whoever the author blocks sees nothing, though it names them."""
    if viewer == "author":
        return True
    if viewer == "shut out":
        return False
    allowed = {
        "public": VIEWERS,
        "unlisted": VIEWERS,
        "private": ("follower", "mentioned"),
        "direct": ("mentioned",),
    }
    return viewer in allowed[visibility]


class Cast:
    """An author, those who look, and what there is to see."""

    def __init__(self, town: Town, author: Member, others: dict[str, Member]) -> None:
        self.town = town
        self.author = author
        self.members: dict[str, Member | None] = {"nobody": None, "author": author, **others}
        self.named = f"@{others['mentioned'].name} @{others['shut out'].name}"

    async def look(self, viewer: str, path: str, **params: Any) -> httpx.Response:
        member = self.members[viewer]
        if member is None:
            return await self.town.http.get(path, params=params)
        return await member.call("GET", path, params=params)

    async def posts(self, author: Member, **sent: Any) -> dict[str, dict[str, Any]]:
        """One of each visibility; all of them name the same two."""
        return {
            visibility: await post(author, f"{self.named} {visibility}", visibility=visibility, **sent)
            for visibility in VISIBILITIES
        }


async def _cast(town: Town) -> Cast:
    author = await join(town)
    others = {name: await join(town) for name in VIEWERS if name not in ("nobody", "author")}
    await others["follower"].to(author, "follow")
    await others["mentioned"].patch("/api/v2/notifications/policy", json={"for_private_mentions": "accept"})
    cast = Cast(town, author, others)
    await arrive(author, *others.values())
    return cast


async def test_a_status_is_shown_to_those_who_may_see_it_wherever_it_could_be(town: Town) -> None:  # noqa: C901
    cast = await _cast(town)
    host, quoter = await join_all(town, 2)
    tag = f"seen{cast.author.name.replace('_', '')}"
    cast.named += f" #{tag}"
    root = await post(host, "a question")
    plain = await cast.posts(cast.author, poll={"options": ["a", "b"], "expires_in": 600})
    replies = await cast.posts(cast.author, in_reply_to_id=root["id"])
    below = {
        visibility: await post(cast.author, "going on", in_reply_to_id=one["id"]) for visibility, one in plain.items()
    }
    for visibility in ("public", "unlisted"):
        await does(host, "reblog", plain[visibility])
    quotes = {
        visibility: await post(quoter, "see", quoted_status_id=plain[visibility]["id"])
        for visibility in ("public", "unlisted")
    }
    for name in ("mentioned", "shut out"):
        for one in plain.values():
            await does(cast.members[name] or host, "favourite", one)
            await does(cast.members[name] or host, "bookmark", one)
    await settle(town)
    shut_out, blocking, muting = (cast.members[name] for name in ("shut out", "blocking", "muting"))
    assert shut_out is not None
    assert blocking is not None
    assert muting is not None
    await cast.author.to(shut_out, "block")
    await blocking.to(cast.author, "block")
    await muting.to(cast.author, "mute")
    await settle(town)

    wrong: list[str] = []

    def expect(place: str, viewer: str, visibility: str, *, seen: bool, wanted: bool) -> None:
        if seen != wanted:
            wrong.append(f"{place}: {viewer} {'sees' if seen else 'does not see'} {visibility}")

    singles = ("", "/context", "/history", "/reblogged_by", "/favourited_by", "/card")
    for viewer in VIEWERS:
        far = viewer in ("shut out", "blocking", "muting")
        for visibility, one in plain.items():
            wanted = may_see(viewer, visibility)
            for end in singles:
                answer = await cast.look(viewer, f"/api/v1/statuses/{one['id']}{end}")
                # Which of the two is what the next line asks.
                assert answer.status_code in (200, 404), answer.text
                expect(end or "status", viewer, visibility, seen=answer.status_code == 200, wanted=wanted)
            answer = await cast.look(viewer, f"/api/v1/polls/{one['poll']['id']}")
            expect("poll", viewer, visibility, seen=answer.status_code == 200, wanted=wanted)
            answer = await cast.look(viewer, f"/api/v1/statuses/{below[visibility]['id']}/context")
            if answer.status_code == 200:
                above = {ancestor["id"] for ancestor in answer.json()["ancestors"]}
                expect("ancestors", viewer, visibility, seen=one["id"] in above, wanted=wanted and not far)
            else:
                assert viewer == "shut out", (viewer, visibility)

        async def listed(
            place: str, viewer: str, path: str, among: dict[str, Any], wanted: Seen, **params: Any
        ) -> None:
            answer = await cast.look(viewer, path, limit="40", **params)
            assert answer.status_code == 200, answer.text
            found = answer.json()
            if isinstance(found, dict):
                found = found["descendants"]
            shown = {(one["reblog"] or one)["id"] for one in found}
            for visibility, one in among.items():
                expect(place, viewer, visibility, seen=one["id"] in shown, wanted=(viewer, visibility) in wanted)

        allowed = {(viewer, visibility) for visibility in VISIBILITIES if may_see(viewer, visibility)}
        by_id = {"id[]": [one["id"] for one in plain.values()]}
        await listed("by id", viewer, "/api/v1/statuses", plain, allowed, **by_id)
        await listed("profile", viewer, f"/api/v1/accounts/{cast.author.id}/statuses", plain, allowed)
        descendants = set() if far else allowed
        await listed("thread", viewer, f"/api/v1/statuses/{root['id']}/context", replies, descendants)
        public = set() if far else {(viewer, "public")}
        await listed("public", viewer, "/api/v1/timelines/public", plain, public)
        await listed("tag", viewer, f"/api/v1/timelines/tag/{tag}", plain, public)
        boosts = set() if far else {(viewer, "public"), (viewer, "unlisted")}
        await listed("boosts", viewer, f"/api/v1/accounts/{host.id}/statuses", plain, boosts)
        for visibility, one in quotes.items():
            quote = (await cast.look(viewer, f"/api/v1/statuses/{one['id']}")).json()["quote"]
            expect("quote", viewer, visibility, seen=quote["quoted_status"] is not None, wanted=not far)
        if viewer != "nobody":
            at_home = {"author": set(VISIBILITIES), "follower": {"public", "unlisted", "private"}}.get(viewer, set())
            homely = {(viewer, visibility) for visibility in at_home}
            await listed("home", viewer, "/api/v1/timelines/home", plain, homely)
            marked = allowed if viewer == "mentioned" else set()
            await listed("favourites", viewer, "/api/v1/favourites", plain, marked)
            await listed("bookmarks", viewer, "/api/v1/bookmarks", plain, marked)
            own = {(viewer, "direct")} if viewer in ("author", "mentioned") else set()
            await listed("direct", viewer, "/api/v1/timelines/direct", plain, own)
            member = cast.members[viewer]
            assert member is not None
            told = await member.get("/api/v1/notifications", params={"types[]": "mention"})
            about = {one["status"]["id"] for one in told}
            for visibility, one in plain.items():
                expect("notices", viewer, visibility, seen=one["id"] in about, wanted=viewer == "mentioned")
    assert wrong == []


async def test_sources_pins_searches_and_translations_follow_the_same_rule(new_town: TownBuilder) -> None:
    """Also for whoever waits to be let in, who sees what strangers see, and whoever moved away, who sees nothing."""
    town = await new_town(translator="libretranslate", translator_url="http://127.0.0.1:9", registrations="approval")
    cast = await _cast(town)
    pending, moved = await join_all(town, 2)
    for name, member in (("pending", pending), ("moved", moved)):
        cast.members[name] = member
    word = f"word{cast.author.name.replace('_', '')}"
    cast.named += f" {word}"
    await cast.author.patch("/api/v1/accounts/update_credentials", json={"indexable": True})
    plain = await cast.posts(cast.author)
    for visibility in ("public", "unlisted", "private"):
        await does(cast.author, "pin", plain[visibility])
    await settle(town)
    for name, verb in (("blocking", "block"), ("muting", "mute")):
        await (cast.members[name] or pending).to(cast.author, verb)
    await cast.author.to(cast.members["shut out"] or pending, "block")
    await set_state(town, moved.id, lambda _: {"moved_to": int(cast.author.id)})
    await wait_for_approval(town, pending)

    async def is_refused() -> bool:
        return (await moved.call("GET", "/api/v1/lists")).status_code == 403

    await until(is_refused)
    path = f"/api/v1/accounts/{cast.author.id}/statuses"
    for viewer in (*VIEWERS, "pending", "moved"):
        is_member = viewer not in ("nobody", "pending", "moved")
        answer = await cast.look(viewer, path, pinned="true")
        as_whom = "nobody" if viewer == "pending" else viewer
        seen = {one for one in VISIBILITIES if may_see(as_whom, one)} - {"direct"}
        if viewer == "moved":
            assert answer.status_code == 403
        else:
            assert {one["id"] for one in answer.json()} == {plain[one]["id"] for one in seen}, viewer
        answer = await cast.look(viewer, "/api/v2/search", q=word, type="statuses")
        known = {"author": set(VISIBILITIES), "mentioned": set(VISIBILITIES)}.get(viewer, {"public"})
        found = known if is_member and viewer not in ("shut out", "blocking", "muting") else set()
        told = answer.json().get("statuses", [])
        assert {one["id"] for one in told} == {plain[one]["id"] for one in found}, viewer
        for visibility, one in plain.items():
            source = await cast.look(viewer, f"/api/v1/statuses/{one['id']}/source")
            refused = 401 if viewer == "nobody" else 403
            wanted = (200 if may_see(viewer, visibility) else 404) if is_member else refused
            assert source.status_code == wanted, (viewer, visibility)
            asking = cast.members[viewer]
            if asking is None:
                continue
            said = await asking.call("POST", f"/api/v1/statuses/{one['id']}/translate", json={"lang": "de"})
            translated = (503 if visibility in ("public", "unlisted") else 403) if wanted == 200 else wanted
            assert said.status_code == translated, (viewer, visibility)


async def wait_for_approval(town: Town, member: Member) -> None:
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_unapprove, name=member.name)
    await set_state(town, member.id, lambda _: {"is_listed": False})


async def test_whoever_moved_is_still_read_and_whoever_waits_is_not(town: Town) -> None:
    reader, moved, waiting = await join_all(town, 3)
    said = {name: (await post(member, "Hello"))["id"] for name, member in (("moved", moved), ("waiting", waiting))}
    await set_state(town, moved.id, lambda _: {"moved_to": int(reader.id)})
    await set_state(town, waiting.id, lambda _: {"is_listed": False})
    for name, author, status in (("moved", moved, 200), ("waiting", waiting, 404)):
        for path in (
            f"/api/v1/statuses/{said[name]}",
            f"/api/v1/statuses/{said[name]}/source",
            f"/api/v1/accounts/{author.id}",
            f"/api/v1/accounts/{author.id}/statuses",
            f"/api/v1/accounts/{author.id}/statuses?pinned=true",
        ):
            assert (await reader.call("GET", path)).status_code == status, path
        public = await ids(reader, "/api/v1/timelines/public")
        assert (said[name] in public) is (status == 200)


async def _thread(town: Town, viewer: Member | None, status_id: str) -> set[str]:
    """What stands around a status."""
    path = f"/api/v1/statuses/{status_id}/context"
    answer = await (town.http.get(path) if viewer is None else viewer.call("GET", path))
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    return {one["id"] for one in (*shown["ancestors"], *shown["descendants"])}


async def _found(viewer: Member, word: str) -> set[str]:
    found = await viewer.get("/api/v2/search", params={"q": word, "type": "statuses"})
    return {one["id"] for one in found["statuses"]}


async def test_whoever_is_limited_is_heard_in_threads_and_search_by_followers(town: Town) -> None:
    author, follower, passer_by, host = await join_all(town, 4)
    word = f"word{author.name.replace('_', '')}"
    await author.does("PATCH", "/api/v1/accounts/update_credentials", json={"indexable": True})
    await follower.to(author, "follow")
    root = await post(host, "a question")
    said = await post(author, f"an answer {word}", in_reply_to_id=root["id"])
    last = await post(host, "thanks", in_reply_to_id=said["id"])
    await does(passer_by, "favourite", said)
    await settle(town)
    everybody = {"author": author, "follower": follower, "stranger": passer_by, "nobody": None}
    for limited in (False, True):
        if limited:
            await set_state(town, author.id, lambda work: {"silenced_at": work.now})
        for name, viewer in everybody.items():
            heard = {said["id"]} if not limited or name in ("author", "follower") else set()
            assert await _thread(town, viewer, root["id"]) == {last["id"]} | heard, name
            assert await _thread(town, viewer, last["id"]) == {root["id"]} | heard, name
            if viewer is not None:
                assert await _found(viewer, word) == heard, name
                assert (await viewer.get(f"/api/v1/statuses/{said['id']}"))["id"] == said["id"]


async def test_what_comes_from_a_blocked_domain_is_left_out_of_every_list(town: Town) -> None:
    host, far, near = await join_all(town, 3)
    domain = f"{host.name.replace('_', '-')}.example"
    author = await stranger(town, domain, indexable=True)
    word = f"word{host.name.replace('_', '')}"
    root = await post(host, "a question")
    said = await said_elsewhere(town, author, f"an answer {word}")
    answer = {"in_reply_to_id": int(root["id"]), "in_reply_to_account_id": int(host.id)}
    below = await said_elsewhere(town, author, "an answer", **answer)
    last = await post(host, "thanks", in_reply_to_id=said)
    await does(host, "reblog", said)
    await far.post("/api/v1/domain_blocks", json={"domain": domain})
    await settle(town)
    for viewer, seen in ((near, True), (far, False), (None, True)):
        assert await _thread(town, viewer, root["id"]) == ({below} if seen else set())
        assert await _thread(town, viewer, last["id"]) == ({said} if seen else set())
        if viewer is not None:
            assert await _found(viewer, word) == ({said} if seen else set())
            assert (said in await ids(viewer, "/api/v1/timelines/public")) is seen
            assert (said in await ids(viewer, f"/api/v1/accounts/{host.id}/statuses")) is seen
            assert (await viewer.get(f"/api/v1/statuses/{said}"))["id"] == said


async def test_what_is_gone_is_gone_for_everybody(town: Town) -> None:
    cast = await _cast(town)
    suspended = await join(town)
    follower, mentioned = cast.members["follower"], cast.members["mentioned"]
    assert follower is not None
    assert mentioned is not None
    await follower.to(suspended, "follow")
    await settle(town)
    deleted, hidden = await cast.posts(cast.author), await cast.posts(suspended)
    for made in (deleted, hidden):
        await does(follower, "reblog", made["public"])
        for one in made.values():
            await does(mentioned, "favourite", one)
    await settle(town)
    for one in deleted.values():
        await cast.author.delete(f"/api/v1/statuses/{one['id']}")
    await set_state(town, suspended.id, lambda work: {"suspended_at": work.now})
    await settle(town)
    gone = {one["id"] for made in (deleted, hidden) for one in made.values()}
    for viewer in VIEWERS:
        for id in gone:
            for end in ("", "/context", "/history"):
                assert (await cast.look(viewer, f"/api/v1/statuses/{id}{end}")).status_code == 404
        paths = [
            "/api/v1/timelines/public",
            f"/api/v1/accounts/{cast.author.id}/statuses",
            f"/api/v1/accounts/{suspended.id}/statuses",
            f"/api/v1/accounts/{follower.id}/statuses",
        ]
        if viewer != "nobody":
            paths += ["/api/v1/timelines/home", "/api/v1/favourites", "/api/v1/timelines/direct"]
        for path in paths:
            answer = await cast.look(viewer, path, limit="40")
            assert answer.status_code == 200, f"{path}: {answer.text}"
            assert gone.isdisjoint((one["reblog"] or one)["id"] for one in answer.json()), (viewer, path)
    assert await mentioned.get("/api/v1/notifications") == []
    assert (await follower.refreshed())["statuses_count"] == 1  # its boost of somebody who may come back


async def test_what_may_not_be_seen_cannot_be_touched(town: Town) -> None:
    author, stranger = await join_all(town, 2)
    verbs = ("favourite", "reblog", "bookmark", "mute", "pin", "unpin", "unfavourite", "unreblog", "unbookmark")
    for visibility in ("private", "direct"):
        made = await post(author, "not for you", visibility=visibility)
        for verb in verbs:
            answer = await stranger.call("POST", f"/api/v1/statuses/{made['id']}/{verb}")
            assert answer.status_code == 404, (verb, answer.text)
        for method, path in (("PUT", ""), ("DELETE", ""), ("GET", "/source"), ("GET", "/quotes")):
            answer = await stranger.call(method, f"/api/v1/statuses/{made['id']}{path}", json={"status": "mine"})
            assert answer.status_code == 404, (method, path)
        for sent in ({"in_reply_to_id": made["id"]}, {"quoted_status_id": made["id"]}):
            answer = await stranger.call("POST", "/api/v1/statuses", json={"status": "well", **sent})
            assert answer.status_code == 404
    public = await post(author, "for all")
    for method in ("PUT", "DELETE"):
        answer = await stranger.call(method, f"/api/v1/statuses/{public['id']}", json={"status": "mine"})
        assert answer.status_code == 404


async def test_nobody_signs_in_to_an_account_that_is_kept_in_memory(town: Town) -> None:
    person = await town.sign_up()
    await settle(town)
    account = (await town.http.get("/api/v1/accounts/lookup", params={"acct": person.username})).json()
    before, after = Browser(town), Browser(town)
    await before.sign_in(person)
    assert await before.who() == person.username
    await set_state(town, account["id"], lambda _: {"memorial": True})
    told = await after.sign_in(person)
    assert await after.who() is None
    assert "This account is disabled." in str(told)
    await set_state(town, account["id"], lambda _: {"memorial": False})
    await after.sign_in(person)
    assert await after.who() == person.username
