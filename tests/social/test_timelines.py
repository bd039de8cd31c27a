"""What comes home, from whom and in which order; and that nothing is lost or doubled on the way."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, cast

import msgspec
import pytest

from kith.base.paging import Cursor
from kith.base.work import Work
from kith.social.feeds import store as feeds
from kith.social.ids import AccountId, StatusId
from kith.social.statuses import pages
from kith.social.statuses.facts import StatusPosted
from kith.social.timelines import reading
from kith.social.timelines.home_feed import ASKED_EVERY, GIVEN_UP_AFTER
from kith.social.timelines.tasks import IDLE, Tidy, carry, tidy
from tests.social.members import Member, join, join_all, set_state, stranger
from tests.social.posts import arrive, does, home, ids, post, said_elsewhere, settle, walk
from tests.town import Town

HOME = "/api/v1/timelines/home"
Setting = Callable[[Member, Member, Member], Awaitable[None]]


async def _follows(me: Member, author: Member, _: Member, **options: Any) -> None:
    await me.to(author, "follow", **options)


def follows(**options: Any) -> Setting:
    return lambda me, author, other: _follows(me, author, other, **options)


async def nobody(*_: Member) -> None:
    """Has to do with nobody."""


async def both(me: Member, author: Member, other: Member) -> None:
    await me.to(author, "follow")
    await me.to(other, "follow")


def and_then(verb: str, *, whom: int) -> Setting:
    async def setting(*people: Member) -> None:
        await people[0].to(people[1], "follow")
        await people[0].to(people[whom], verb)

    return setting


async def blocked_by_other(me: Member, author: Member, other: Member) -> None:
    await me.to(author, "follow")
    await other.to(me, "block")


async def exclusively(me: Member, author: Member, _: Member) -> None:
    await me.to(author, "follow")
    made = await me.post("/api/v1/lists", json={"title": "Elsewhere", "exclusive": True})
    await me.post(f"/api/v1/lists/{made['id']}/accounts", json={"account_ids": [author.id]})


OWN = {"plain", "german", "self-reply", "names other", "private"}
# What somebody has to do with the author and with another, and which of the author's posts come home then.
RULES: dict[str, tuple[Setting, set[str]]] = {
    "follows nobody": (nobody, set()),
    "follows": (follows(), OWN | {"boost of other"}),
    "follows both": (both, OWN | {"reply to other"}),  # what is boosted is there already
    "wants no boosts": (follows(reblogs=False), OWN),
    "reads German alone": (follows(languages=["de"]), {"german"}),
    "mutes other": (and_then("mute", whom=2), OWN - {"names other"}),
    "blocks other": (and_then("block", whom=2), OWN - {"names other"}),
    "is blocked by other": (blocked_by_other, OWN),
    "mutes the author": (and_then("mute", whom=1), set()),
    "blocks the author": (and_then("block", whom=1), set()),
    "reads the author on a list": (exclusively, set()),
}


async def test_what_comes_home_is_what_the_rules_say(town: Town) -> None:
    author, other = await join_all(town, 2)
    readers = {name: await join(town) for name in RULES}
    for name, (setting, _) in RULES.items():
        await setting(readers[name], author, other)
    await arrive(*readers.values())
    by_other = await post(other, "by other", language="en")
    made: dict[str, dict[str, Any]] = {"plain": await post(author, "plain", language="en")}
    made["german"] = await post(author, "deutsch", language="de")
    made["self-reply"] = await post(author, "more", language="en", in_reply_to_id=made["plain"]["id"])
    made["names other"] = await post(author, f"with @{other.name}", language="en")
    made["private"] = await post(author, "for followers", language="en", visibility="private")
    made["direct"] = await post(author, f"only @{other.name}", language="en", visibility="direct")
    made["reply to other"] = await post(author, "indeed", language="en", in_reply_to_id=by_other["id"])
    await settle(town)
    made["boost of other"] = await does(author, "reblog", by_other)
    await settle(town)
    for name, (_, wanted) in RULES.items():
        shown = {one["id"] for one in await readers[name].get(HOME)}
        assert {kind for kind, one in made.items() if one["id"] in shown} == wanted, name
    # A feed that is built anew holds the same.
    async with town.house() as house, house.works.begin() as work:
        for reader in readers.values():
            await feeds.forget(work.db, [AccountId(int(reader.id))])
    for reader in readers.values():
        await reader.call("GET", HOME)
    await settle(town)
    for name, (_, wanted) in RULES.items():
        shown = {one["id"] for one in await readers[name].get(HOME)}
        assert {kind for kind, one in made.items() if one["id"] in shown} == wanted, name


async def test_following_and_parting_fill_and_empty_a_home(town: Town) -> None:
    ada, bob, cat = await join_all(town, 3)
    by_bob, by_cat = (await post(bob))["id"], (await post(cat))["id"]
    boost = await does(bob, "reblog", by_cat)
    assert boost["reblog"]["id"] == by_cat
    own = (await post(ada, "mine"))["id"]
    await arrive(ada)
    assert await home(ada) == [own]
    await ada.to(bob, "follow")
    await settle(town)
    assert await home(ada) == [own, by_cat, by_bob]
    await ada.to(cat, "mute")
    await settle(town)
    assert await home(ada) == [own, by_bob]
    await ada.to(bob, "unfollow")
    await settle(town)
    assert await home(ada) == [own]
    await bob.delete(f"/api/v1/statuses/{by_bob}")
    await ada.to(bob, "follow")
    await settle(town)
    assert by_bob not in await home(ada)


async def test_a_blocked_domain_leaves_home_and_lists(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    domain = f"{ada.name.replace('_', '-')}.example"
    far, near = await stranger(town, domain), await stranger(town)
    await ada.to(bob, "follow")
    made = await ada.post("/api/v1/lists", json={"title": "Some"})
    await ada.post(f"/api/v1/lists/{made['id']}/accounts", json={"account_ids": [bob.id]})
    tag = f"far{ada.name.replace('_', '').lower()}"
    await ada.post(f"/api/v1/tags/{tag}/follow")
    await arrive(ada)
    tagged = await said_elsewhere(town, far, "by tag", tag_names=[tag])
    boosted = [await said_elsewhere(town, author) for author in (far, near)]
    for one in boosted:
        await does(bob, "reblog", one)
        await settle(town)
    in_list = f"/api/v1/timelines/list/{made['id']}"
    assert await home(ada) == [*boosted[::-1], tagged]
    assert await ids(ada, in_list) == boosted[::-1]
    await ada.post("/api/v1/domain_blocks", json={"domain": domain})
    await settle(town)
    assert await home(ada) == await ids(ada, in_list) == boosted[1:]


async def test_of_two_boosts_that_come_at_once_one_comes_home(town: Town) -> None:
    ada, bob, cat, dan = await join_all(town, 4)
    for booster in (bob, cat):
        await ada.to(booster, "follow")
    await arrive(ada)
    by_dan = (await post(dan))["id"]
    boosts = [await does(booster, "reblog", by_dan) for booster in (bob, cat)]
    facts = [
        StatusPosted(
            status_id=StatusId(int(boost["id"])),
            account_id=AccountId(int(boost["account"]["id"])),
            reblog_of_id=StatusId(int(by_dan)),
        )
        for boost in boosts
    ]
    await settle(town)

    async with town.house() as house, house.works.begin() as work:
        await feeds.clear(work.db, int(ada.id))
        await carry(work, facts)

    assert await home(ada) == [by_dan]


async def test_where_a_boost_goes_the_next_one_takes_its_place(town: Town) -> None:
    ada, bob, cat, dan = await join_all(town, 4)
    for booster in (bob, cat):
        await ada.to(booster, "follow")
    await arrive(ada)
    by_dan = (await post(dan, "worth it"))["id"]
    for booster in (bob, cat):
        await does(booster, "reblog", by_dan)
        await settle(town)

    async def boosters() -> list[str]:
        return [one["account"]["id"] for one in await ada.get("/api/v1/timelines/home") if one["reblog"]]

    assert await boosters() == [bob.id]
    await does(bob, "unreblog", by_dan)
    await settle(town)
    assert await boosters() == [cat.id]
    await does(cat, "unreblog", by_dan)
    await settle(town)
    assert await boosters() == []


async def test_what_many_boosted_stands_once_in_a_home_that_is_filled_later(town: Town) -> None:
    ada, bob, cat, eve, dan = await join_all(town, 5)
    by_dan = (await post(dan))["id"]
    boosts = [await does(booster, "reblog", by_dan) for booster in (bob, cat, ada, eve)]
    last = await post(bob)
    by_bob, _, by_ada, _ = (boost["id"] for boost in boosts)

    async def entries() -> list[str]:
        await settle(town)
        return [one["id"] for one in await ada.get(HOME)]

    for booster in (bob, cat):
        await ada.to(booster, "follow")
    await arrive(ada)
    assert await entries() == [last["id"], by_ada, by_bob]  # built
    await ada.to(eve, "follow")
    assert await entries() == [last["id"], by_ada, by_bob]  # added to
    await ada.to(dan, "follow")
    assert await entries() == [last["id"], by_ada, by_dan]


async def test_a_home_is_built_anew_after_long_absence(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    by_bob = (await post(bob))["id"]
    await ada.to(bob, "follow")
    await arrive(ada)
    assert await home(ada) == [by_bob]
    async with town.house() as house:
        async with house.works.begin() as work:
            await feeds.note_presence(work.db, AccountId(int(ada.id)), work.now - IDLE - timedelta(days=1))
        async with house.works.begin() as work:
            await tidy(work, Tidy())
    first = await ada.call("GET", HOME)
    assert (first.status_code, first.json()) == (206, [])
    assert first.headers["mastodon-async-refresh"].endswith("retry=5")
    await settle(town)
    assert await home(ada) == [by_bob]


async def test_a_home_that_grew_too_long_is_cut_when_its_turn_comes(town: Town) -> None:
    [ada] = await join_all(town, 1)
    far, tag, owner = await stranger(town, "far.example"), "longhome", int(ada.id)
    await ada.post(f"/api/v1/tags/{tag}/follow")
    await arrive(ada)
    old = [feeds.entry(owner, StatusId(n), original_id=StatusId(n), author_id=far.id) for n in range(1, 901)]
    async with town.house() as house, house.works.begin() as work:
        await feeds.add(work.db, old)
        newest = work.new_id() >> 16
    moments = range(newest - feeds.TRIMMED, newest)
    [turn] = [one for one in moments if not (owner + (owner >> 16) + one) % feeds.TRIMMED]
    lengths = []

    for moment in (turn - 1, turn):
        id = moment << 16
        await said_elsewhere(town, far, id=id, uri=f"{far.uri}/{id}", conversation_id=id, tag_names=[tag])
        await settle(town)
        async with town.house() as house, house.works.begin() as work:
            lengths.append(len(await feeds.newest(work.db, owner, 5_000)))

    assert lengths == [901, feeds.MOST]
    assert (await home(ada))[:2] == [str(turn << 16), str((turn - 1) << 16)]


async def test_a_home_whose_building_failed_is_asked_for_again_and_waited_for_a_day(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    by_bob = (await post(bob))["id"]
    await ada.to(bob, "follow")
    await arrive(ada)

    async def lose_it(ago: timedelta) -> None:
        """As if a worker had died over it."""
        async with town.house() as house, house.works.begin() as work:
            await feeds.clear(work.db, int(ada.id))
            await feeds.set_state(work.db, AccountId(int(ada.id)), feeds.BUILDING, work.now - ago)

    async def look_twice() -> list[tuple[int, list[str]]]:
        seen = []
        for _ in range(2):
            answer = await ada.call("GET", HOME)
            seen.append((answer.status_code, [one["id"] for one in answer.json()]))
            await settle(town)
        return seen

    await lose_it(timedelta())
    assert await look_twice() == [(206, []), (206, [])]
    await lose_it(ASKED_EVERY + timedelta(minutes=1))
    assert await look_twice() == [(206, []), (200, [by_bob])]
    await lose_it(GIVEN_UP_AFTER + timedelta(minutes=1))
    assert await look_twice() == [(200, []), (200, [by_bob])]


async def test_walking_loses_nothing_and_doubles_nothing_while_others_post(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await ada.to(bob, "follow")
    await arrive(ada)
    old = [(await post(bob, f"old {number}"))["id"] for number in range(12)]
    await settle(town)
    pages: list[list[str]] = []
    url, new = f"{HOME}?limit=5", []
    while True:
        answer = await ada.call("GET", url)
        if not answer.json():
            break
        pages.append([one["id"] for one in answer.json()])
        new.append((await post(bob, "meanwhile"))["id"])
        await settle(town)
        url = answer.links["next"]["url"]
    assert [id for page in pages for id in page] == old[::-1]
    forward = await walk(ada, f"{HOME}?limit=5&min_id={old[0]}", back=True)
    assert [id for page in forward for id in reversed(page)] == [*old[1:], *new]
    assert await home(ada, since_id=old[-1]) == new[::-1]
    assert await home(ada, max_id=old[2], min_id=old[0]) == [old[1]]


async def test_a_page_is_a_fixed_number_of_queries(town: Town) -> None:
    """However long it is, and whatever stands in it."""
    ada, *others = await join_all(town, 4)
    for other in others:
        await ada.to(other, "follow")
    await arrive(ada)
    for number, other in enumerate(others * 4):
        if number % 4 == 1:
            await post(other, "well?", poll={"options": ["a", "b"], "expires_in": 600})
        elif number % 4 == 2:
            await post(other, f"see #tag{number} @{ada.name}", quoted_status_id=(await post(others[0]))["id"])
        else:
            await post(other, f"@{others[0].name} #some words")
    await settle(town)
    counts: dict[int, tuple[int, int]] = {}
    async with town.house() as house:
        for limit in (1, 5, 40):
            asked: list[int] = []
            for _ in range(6):
                work = house.works.open()
                counting = _Counting(work.db)
                work.db = counting
                asked.append(await _queries(work, counting, AccountId(int(ada.id)), limit))
                await work.rollback()
            # Whenever the server writes something, what was kept until then is read again.
            counts[limit] = (asked[0], min(asked[1:]))
    assert counts[40][1] == counts[5][1]
    assert counts[40][1] <= 9
    assert counts[40][0] <= 16


class _Counting:
    """A session that knows how often it was asked."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        if name in ("all", "one", "slow", "run", "many"):
            self.asked += 1
        return getattr(self._session, name)


async def _queries(work: Work, counting: _Counting, me: AccountId, limit: int) -> int:
    rows = await reading.feed(work, me, me, Cursor(limit=limit))
    body, ids, _ = await pages.render(work, rows, me)
    assert limit >= len(msgspec.json.decode(body)) == len(ids) > 0
    return counting.asked


@pytest.mark.parametrize("who", ["member", "stranger"])
async def test_open_timelines_show_what_is_open(town: Town, who: str) -> None:
    ada, bob, limited = await join_all(town, 3)
    await set_state(town, limited.id, lambda work: {"silenced_at": work.now})
    tag = f"open{ada.name.replace('_', '')}"
    made = {
        "public": await post(bob, f"#{tag}"),
        "unlisted": await post(bob, f"#{tag}", visibility="unlisted"),
        "private": await post(bob, f"#{tag}", visibility="private"),
        "reply": await post(bob, f"#{tag}", in_reply_to_id=(await post(ada))["id"]),
        "limited": await post(limited, f"#{tag}"),
    }
    made["self-reply"] = await post(bob, f"#{tag} #second{tag}", in_reply_to_id=made["public"]["id"])
    await does(ada, "reblog", made["public"])
    await settle(town)

    async def kinds(path: str, **params: Any) -> set[str]:
        if who == "member":
            found = await ids(ada, path, **params)
        else:
            answer = await town.http.get(path, params={"limit": "40", **params})
            found = [one["id"] for one in answer.json()]
        assert len(found) == len(set(found))
        return {kind for kind, one in made.items() if one["id"] in found}

    assert await kinds("/api/v1/timelines/public") == {"public", "self-reply"}
    assert await kinds("/api/v1/timelines/public", local="true") == {"public", "self-reply"}
    assert await kinds("/api/v1/timelines/public", remote="true") == set()
    assert await kinds("/api/v1/timelines/public", only_media="1") == set()
    path = f"/api/v1/timelines/tag/{tag.upper()}"
    assert await kinds(path) == {"public", "reply", "self-reply"}
    assert await kinds(path, **{"all[]": f"second{tag}"}) == {"self-reply"}
    assert await kinds(path, **{"none[]": f"second{tag}"}) == {"public", "reply"}
    assert await kinds(f"/api/v1/timelines/tag/second{tag}", **{"any[]": tag}) == {"public", "reply", "self-reply"}
    unknown = f"nobodyeverused{tag}"
    assert await kinds(path, **{"any[]": unknown, "all[]": unknown}) == {"public", "reply", "self-reply"}
    for others in ({}, {"any[]": tag}):
        assert await kinds(f"/api/v1/timelines/tag/{unknown}", **others) == set()
    own = f"/api/v1/accounts/{bob.id}/statuses"
    assert await kinds(own) == {"public", "unlisted", "reply", "self-reply"}
    assert await kinds(own, exclude_replies="true") == {"public", "unlisted", "self-reply"}
    assert await kinds(own, tagged=f"second{tag}") == {"self-reply"}
    assert await kinds(f"/api/v1/accounts/{ada.id}/statuses", exclude_reblogs="true") == set()
    if who == "member":
        await ada.to(bob, "mute")
        assert await kinds("/api/v1/timelines/public") == set()
        assert await kinds(path) == set()


async def test_markers_remember_how_far_somebody_read(town: Town) -> None:
    [ada] = await join_all(town, 1)
    assert await ada.get("/api/v1/markers", params={"timeline[]": ["home", "notifications"]}) == {}
    first = await ada.post("/api/v1/markers", json={"home": {"last_read_id": "10"}})
    assert (first["home"]["last_read_id"], first["home"]["version"]) == ("10", 0)
    again = await ada.post("/api/v1/markers", data={"home[last_read_id]": "20"})
    assert (again["home"]["last_read_id"], again["home"]["version"]) == ("20", 1)
    assert await ada.get("/api/v1/markers", params={"timeline[]": "home"}) == again


async def test_only_links_that_are_a_trend_have_a_timeline(town: Town) -> None:
    ada = await join(town)
    link = "https://elsewhere.example/page"
    await post(ada, link)

    for query in ({"url": link}, {"url": "nonsense"}, {}):
        answer = await ada.call("GET", "/api/v1/timelines/link", params=query)
        assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"})
        assert (await town.http.get("/api/v1/timelines/link", params=query)).status_code == 404
    refused = await town.http.get("/api/v1/timelines/link", headers={"Authorization": "Bearer none"})
    assert refused.status_code == 401
    assert (await town.http.get("/api/v2/instance")).json()["configuration"]["timelines_access"][
        "trending_link_feeds"
    ] == {"local": "public", "remote": "public"}


async def test_public_timelines_show_the_languages_that_somebody_has_chosen(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    german = await post(bob, "Guten Morgen #lingua", language="de")
    french = await post(bob, "Bonjour #lingua", language="fr")
    own = await post(ada, "Buongiorno #lingua", language="it")
    await settle(town)
    for path in ("/api/v1/timelines/public", "/api/v1/timelines/tag/lingua"):
        assert {german["id"], french["id"], own["id"]} <= set(await ids(ada, path))

    await ada.patch("/api/v1/preferences", json={"reading:languages": ["de"]})

    found = await ids(ada, "/api/v1/timelines/public")
    assert {german["id"], own["id"]} <= set(found)
    assert french["id"] not in found
    assert french["id"] in await ids(bob, "/api/v1/timelines/public")
    assert french["id"] in await ids(ada, "/api/v1/timelines/tag/lingua")  # who asks for a tag wants all of it


async def test_an_app_can_ask_whether_its_home_is_built(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    await ada.to(bob, "follow")
    await arrive(ada)

    async def set_state_of_home(state: str) -> None:
        async with town.house() as house, house.works.begin() as work:
            await feeds.set_state(work.db, AccountId(int(ada.id)), state, work.now)

    await set_state_of_home(feeds.BUILDING)
    first = await ada.call("GET", HOME)
    assert first.status_code == 206
    id = first.headers["mastodon-async-refresh"].partition('id="')[2].partition('"')[0]
    path = f"/api/v1_alpha/async_refreshes/{id}"
    told = {"id": id, "status": "running", "result_count": None}
    assert await ada.get(path) == {"async_refresh": told}
    assert (await bob.call("GET", path)).status_code == 404
    assert (await ada.call("GET", "/api/v1_alpha/async_refreshes/1")).status_code == 404

    await set_state_of_home(feeds.READY)

    assert await ada.get(path) == {"async_refresh": told | {"status": "finished"}}


class Asked:
    """A session that remembers how it was asked."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.ways: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._session, name)
        if name not in ("all", "slow"):
            return found

        def ask(statement: Any, /, **params: Any) -> Any:
            self.ways.append(name)
            return found(statement, **params)

        return ask


OPEN: dict[str, Any] = {"local": False, "remote": False, "only_media": False}
TAGS: dict[str, Any] = OPEN | {"any_of_these": [1], "all_of_these": [], "none_of_these": []}
# What anybody may narrow so that of all that was said next to nothing fits: read beside the loop, which serves others.
FAR: dict[str, tuple[Callable[..., Awaitable[Any]], dict[str, Any]]] = {
    "public media": (reading.public, OPEN | {"only_media": True}),
    "local media": (reading.public, OPEN | {"local": True, "only_media": True}),
    "from elsewhere": (reading.public, OPEN | {"remote": True}),
    "one tag": (reading.tagged, TAGS),
    "about a link": (reading.linking, {"card_id": 1}),
    "tagged media": (reading.tagged, TAGS | {"only_media": True}),
    "tagged here": (reading.tagged, TAGS | {"local": True}),
    "tagged so, too": (reading.tagged, TAGS | {"all_of_these": [2]}),
    "not tagged so": (reading.tagged, TAGS | {"none_of_these": [2]}),
    "tagged one way or the other": (reading.tagged, TAGS | {"any_of_these": [1, 2], "all_of_these": [3]}),
    "media of somebody": (reading.of_account, {"author_id": AccountId(1), "only_media": True}),
    "no answers of somebody": (reading.of_account, {"author_id": AccountId(1), "no_replies": True}),
    "a tag of somebody": (reading.of_account, {"author_id": AccountId(1), "tag_id": 1}),
    "what somebody shows": (reading.of_account, {"author_id": AccountId(1)}),
}


@pytest.mark.parametrize("name", FAR)
async def test_what_may_be_far_away_is_read_beside_the_loop(town: Town, name: str) -> None:
    read, narrow = FAR[name]
    for me in (None, AccountId(2)):
        async with town.house() as house, house.works.begin() as work:
            session, work.db = work.db, cast("Any", Asked(work.db))
            given = {"cursor": Cursor(20), **narrow}
            await read(work, me, **given)
            asked, work.db = cast("Any", work.db), session
        assert set(asked.ways) == {"slow"}


async def test_of_several_tags_each_is_walked_along_by_itself(town: Town) -> None:
    """However rare they are together, nobody walks along all that everybody says."""
    ada, rare = (await join_all(town, 1))[0], [f"rare{uuid.uuid4().hex[:8]}" for _ in range(3)]
    said = [(await post(ada, f"#{rare[number % 3]} {number}"))["id"] for number in range(9)]
    said.append((await post(ada, f"#{rare[0]} #{rare[1]}"))["id"])
    await settle(town)
    path, others = f"/api/v1/timelines/tag/{rare[0]}", {"any[]": rare[1:]}
    newest = said[::-1]
    assert await ids(ada, path, **others) == newest
    assert await ids(ada, path, **others, limit="4") == newest[:4]
    assert await ids(ada, path, **others, limit="4", max_id=newest[3]) == newest[4:8]
    assert await ids(ada, path, **others, limit="4", min_id=newest[6]) == newest[2:6]
    assert await ids(ada, path, **others, since_id=newest[2]) == newest[:2]
    async with town.house() as house, house.works.begin() as work:
        session, work.db = work.db, cast("Any", Asked(work.db))
        await reading.tagged(work, None, Cursor(20), **(TAGS | {"any_of_these": [1, 2, 3]}))
        asked, work.db = cast("Any", work.db), session
    assert asked.ways == ["slow"] * 3


async def test_whoever_reads_few_languages_walks_beside_the_loop(town: Town) -> None:
    [ada] = await join_all(town, 1)
    me = AccountId(int(ada.id))
    for chosen, way in (([], "all"), (["ky"], "slow")):
        await ada.patch("/api/v1/preferences", json={"reading:languages": chosen})
        async with town.house() as house, house.works.begin() as work:
            session, work.db = work.db, cast("Any", Asked(work.db))
            await reading.public(work, me, Cursor(20), **OPEN)
            asked, work.db = cast("Any", work.db), session
        assert asked.ways == [way]
