"""Tags: what is known of them, following them, and showing them on a profile."""

from __future__ import annotations

import re
import uuid
from typing import Any

from kith.social.ids import AccountId
from kith.social.tags import store as tags
from kith.social.tags.service import MOST_FOLLOWED
from tests.social.members import join, join_all, set_state
from tests.social.posts import arrive, home, post, settle, walk
from tests.social.shapes import FEATURED_TAG, OWN_TAG, TAG, check, entity
from tests.town import Town

HISTORY = [entity("History")]


def new_tag(begin: str = "Tag") -> str:
    return f"{begin}{uuid.uuid4().hex[:8]}"


async def test_uses_are_counted_by_day_and_by_person(town: Town) -> None:
    ada, bob, eve = await join_all(town, 3)
    await set_state(town, eve.id, lambda work: {"silenced_at": work.now})
    tag = new_tag()
    for author, text, sent in (
        (ada, f"#{tag} one", {}),
        (ada, f"#{tag.upper()} two, #{tag}", {}),
        (bob, f"#{tag}", {}),
        (bob, f"#{tag}", {"visibility": "unlisted"}),
        (bob, f"#{tag}", {"visibility": "private"}),
        (eve, f"#{tag}", {}),
    ):
        await post(author, text, **sent)
    await settle(town)
    shown = await ada.get(f"/api/v1/tags/{tag.lower()}")
    check(shown, OWN_TAG)
    assert shown["name"] == tag
    assert [(day["uses"], day["accounts"]) for day in shown["history"]] == [("3", "2")] + [("0", "0")] * 6
    stranger = await town.http.get(f"/api/v1/tags/{tag}")
    check(stranger.json(), TAG)
    unused = (await town.http.get(f"/api/v1/tags/{new_tag()}")).json()
    assert {(day["uses"], day["accounts"]) for day in unused["history"]} == {("0", "0")}
    for name in ("123", "two%20words", "a-b"):
        assert (await town.http.get(f"/api/v1/tags/{name}")).status_code == 404


async def test_strangers_do_not_find_tags_of_posts_that_are_not_for_everybody(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    tag = new_tag("secret")
    await ada.to(bob, "follow")

    async def told() -> list[Any]:
        found = (await town.http.get("/api/v2/search", params={"q": tag, "type": "hashtags"})).json()["hashtags"]
        return [[one["name"] for one in found], bool((await town.http.get(f"/api/v1/tags/{tag}")).json()["id"])]

    for visibility in ("direct", "private"):
        await post(ada, f"@{bob.me['username']} #{tag}", visibility=visibility)
    assert await told() == [[], False]
    await post(ada, f"#{tag.upper()}", visibility="unlisted")
    assert await told() == [[tag], True]


async def test_a_followed_tag_comes_home_until_it_is_not_followed(town: Town) -> None:
    ada, followed, stranger = await join_all(town, 3)
    await ada.to(followed, "follow")
    await arrive(ada)
    one, other = new_tag(), new_tag()
    for tag in (one, one, other):
        shown = await ada.post(f"/api/v1/tags/{tag}/follow")
        check(shown, OWN_TAG)
        assert shown["following"] is True
    both = (await post(stranger, f"#{one} #{other}"))["id"]
    only = (await post(stranger, f"#{one}"))["id"]
    by_followed = (await post(followed, f"#{one}"))["id"]
    await post(stranger, f"#{one}", visibility="unlisted")
    await settle(town)
    assert await home(ada) == [by_followed, only, both]
    assert (await ada.post(f"/api/v1/tags/{one}/unfollow"))["following"] is False
    await settle(town)
    assert await home(ada) == [by_followed, both]
    await ada.to(followed, "unfollow")
    await settle(town)
    assert await home(ada) == [both]


async def test_a_home_that_is_built_anew_has_what_was_said_under_followed_tags_since_then(town: Town) -> None:
    """At the first look as after a long absence."""
    ada, bob, eve, stranger = await join_all(town, 4)
    tag, other = new_tag(), new_tag()
    await post(stranger, f"too early #{tag}")
    await ada.to(bob, "follow")
    await ada.to(eve, "mute")
    for one in (tag, other):
        await ada.post(f"/api/v1/tags/{one}/follow")
    by_bob = (await post(bob, f"both ways #{tag}"))["id"]
    both = (await post(stranger, f"#{tag} #{other}"))["id"]
    await post(stranger, f"#{tag}", visibility="unlisted")
    await post(eve, f"#{tag}")
    await post(ada, "my own")
    await settle(town)

    await arrive(ada)

    shown = [one for one in await ada.get("/api/v1/timelines/home") if one["account"]["id"] != ada.id]
    assert [one["id"] for one in shown] == [both, by_bob]
    await ada.post(f"/api/v1/tags/{tag}/unfollow")
    await ada.post(f"/api/v1/tags/{other}/unfollow")
    await settle(town)
    assert by_bob in await home(ada)
    assert both not in await home(ada)


async def test_followed_tags_are_walked(town: Town) -> None:
    [ada] = await join_all(town, 1)
    tags = [new_tag() for _ in range(5)]
    for tag in tags:
        await ada.post(f"/api/v1/tags/{tag}/follow")
    shown = await ada.get("/api/v1/followed_tags")
    check(shown, [OWN_TAG])
    assert [one["name"] for one in shown] == tags[::-1]
    pages = await walk(ada, "/api/v1/followed_tags?limit=2")
    assert [id for page in pages for id in page] == [one["id"] for one in shown]
    last = await ada.call("GET", "/api/v1/followed_tags?limit=4")
    [cursor] = re.findall(r"max_id=(\d+)", last.headers["link"])
    after = await ada.get("/api/v1/followed_tags", params={"min_id": cursor, "limit": "2"})
    assert [one["name"] for one in after] == [tags[3], tags[2]]


async def test_tags_on_a_profile(town: Town) -> None:
    ada, bob = await join_all(town, 2)
    tag, often = new_tag(), new_tag()
    first = await post(ada, f"#{tag}")
    await post(ada, f"#{tag}", visibility="private")
    for _ in range(2):
        await post(ada, f"#{often} #once{often}")
    suggested = await ada.get("/api/v1/featured_tags/suggestions")
    check(suggested, [OWN_TAG])
    assert {one["name"] for one in suggested} == {tag, often, f"once{often}"}
    made = await ada.post("/api/v1/featured_tags", data={"name": f"#{tag}"})
    check(made, FEATURED_TAG)
    assert (made["name"], made["statuses_count"]) == (tag, "1")
    assert await ada.post("/api/v1/featured_tags", json={"name": tag}) == made
    assert (await ada.post(f"/api/v1/tags/{often}/feature"))["featuring"] is True
    assert tag not in {one["name"] for one in await ada.get("/api/v1/featured_tags/suggestions")}

    async def counts() -> dict[str, str]:
        seen = await bob.get(f"/api/v1/accounts/{ada.id}/featured_tags")
        assert seen == await ada.get("/api/v1/featured_tags")
        return {one["name"]: one["statuses_count"] for one in seen}

    assert await counts() == {often: "2", tag: "1"}
    third = await post(ada, f"#{tag}", visibility="unlisted")
    assert await counts() == {often: "2", tag: "2"}
    await ada.does("PUT", f"/api/v1/statuses/{third['id']}", json={"status": f"#{often}"})
    assert await counts() == {often: "3", tag: "1"}
    await ada.delete(f"/api/v1/statuses/{first['id']}")
    assert await counts() == {often: "3", tag: "0"}
    assert (await ada.post(f"/api/v1/tags/{often}/unfeature"))["featuring"] is False
    assert (await bob.call("DELETE", f"/api/v1/featured_tags/{made['id']}")).status_code == 404
    assert await ada.delete(f"/api/v1/featured_tags/{made['id']}") == {}
    assert await counts() == {}


async def test_ten_tags_are_enough(town: Town) -> None:
    [ada] = await join_all(town, 1)
    refusals: list[tuple[dict[str, Any], str]] = [({"name": "123"}, "Validation failed: Tag is invalid")]
    for _ in range(10):
        await ada.post("/api/v1/featured_tags", json={"name": new_tag()})
    words = "Validation failed: You have already featured the maximum number of hashtags"
    refusals += [({"name": new_tag()}, words)]
    for sent, error in refusals:
        answer = await ada.call("POST", "/api/v1/featured_tags", json=sent)
        assert (answer.status_code, answer.json()["error"]) == (422, error)


async def test_nobody_follows_tags_without_end(town: Town) -> None:
    ada = await join(town)
    async with town.house() as house, house.works.begin() as work:
        spelled = {f"endless{number}": f"endless{number}" for number in range(MOST_FOLLOWED)}
        noted = await tags.note(work.db, spelled, ids=[work.new_id() for _ in spelled], now=work.now)
        for tag in noted.values():
            await tags.follow(work.db, AccountId(int(ada.id)), tag.id, id=work.new_id(), now=work.now)
    answer = await ada.call("POST", "/api/v1/tags/onemore/follow")
    assert answer.status_code == 422, answer.text
    assert (await ada.post("/api/v1/tags/endless7/follow"))["following"]
    await ada.post("/api/v1/tags/endless7/unfollow")
    assert (await ada.post("/api/v1/tags/onemore/follow"))["following"]
