"""Trends: what is one, who decides about it, and when it is none any more."""

from __future__ import annotations

import random
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kith.social.ids import StatusId
from kith.social.statuses import store as status_store
from kith.social.statuses.tables import PRIVATE, PUBLIC, UNLISTED
from kith.social.trends import tasks
from tests.conftest import TownBuilder
from tests.social.members import Member, join, join_all, set_state, stranger, strangers, until
from tests.social.posts import post, settle
from tests.social.shapes import OWN_TAG, PUBLIC_STATUS, STATUS, TAG, always, check, entity
from tests.social.staff import employ, employ_as, verdict
from tests.social.test_tags import new_tag
from tests.social.trend_seeds import like, make_card, refresh, say, share, use
from tests.town import Town

TRENDS, ADMIN = "/api/v1/trends", "/api/v1/admin/trends"
ADMIN_TAG = always(entity("StaffTag"), "following", "featuring", "trendable", "usable", "listable", "requires_review")
LINK = entity("TrendingLink")
ADMIN_LINK = always(entity("StaffLink"), "id", "requires_review")
ADMIN_STATUS = STATUS | {"requires_review": "bool"}
PUBLISHER = entity("Publisher")
AUTHOR = entity("TrendAuthor")
DAY = timedelta(days=1)


def new_url() -> str:
    return f"https://{uuid.uuid4().hex[:8]}.example/article"


async def trending(member: Member | Town, kind: str, base: str = TRENDS, **params: Any) -> list[dict[str, Any]]:
    """All of a kind, however many pages."""
    http = member.town.http if isinstance(member, Member) else member.http
    found: list[dict[str, Any]] = []
    headers = {"Authorization": f"Bearer {member.token}"} if isinstance(member, Member) else {}
    while True:
        page = await http.get(
            f"{base}/{kind}", params={"limit": "20", "offset": str(len(found)), **params}, headers=headers
        )
        assert page.status_code == 200, page.text
        found += page.json()
        if len(page.json()) < 20:
            return found


async def names(member: Member | Town, base: str = TRENDS) -> list[str]:
    return [one["name"] for one in await trending(member, "tags", base)]


async def urls(member: Member | Town, base: str = TRENDS) -> list[str]:
    return [one["url"] for one in await trending(member, "links", base)]


async def statuses(member: Member | Town, base: str = TRENDS, **headers: str) -> list[str]:
    return [one["id"] for one in await trending(member, "statuses", base)]


async def find(member: Member, kind: str, **wanted: Any) -> dict[str, Any]:
    """One of what the team sees."""
    found = await trending(member, kind, ADMIN)
    return next(one for one in found if all(one[name] == value for name, value in wanted.items()))


# What is counted


async def test_figures_are_those_that_somebody_else_would_count(new_town: TownBuilder) -> None:
    """A week of posts, drawn from a seed, counted here once more in another way."""
    town = await new_town()
    owner = await employ(town, "owner")
    people = await strangers(town, 9)
    people += await strangers(town, 1, silenced_at=datetime.now(UTC))
    gone = await stranger(town)
    drawn = random.Random(7)
    tags, links = [new_tag("t").lower() for _ in range(4)], [new_url() for _ in range(4)]
    uses: list[tuple[int, str, int]] = []
    shares: list[tuple[int, str, int]] = []
    async with town.house() as house, house.works.begin() as work:
        cards = [await make_card(work, url) for url in links]
        for number in range(260):
            author = drawn.choice([*people, gone])
            ago = drawn.choice((0,) * 12 + (1, 2, 3, 4, 5, 6))
            tag, place = drawn.choice(tags), drawn.choice((0, 0, 0, 1, 1, 2, 3))
            visibility = drawn.choice((PUBLIC, PUBLIC, PUBLIC, UNLISTED, PRIVATE))
            is_sensitive, is_deleted = drawn.random() < 0.1, drawn.random() < 0.1
            said = await say(
                work, author, tag, ago=ago * DAY, visibility=visibility, card_id=cards[place], sensitive=is_sensitive,
                deleted_at=work.now if is_deleted else None, content=f"<p>{number}</p>",
            )  # fmt: skip
            is_open = visibility == PUBLIC and not is_deleted
            if is_open and author is not people[-1]:
                uses.append((author.id, tag, ago))
            if is_open and not is_sensitive and author not in (people[-1], gone):
                shares.append((author.id, links[place], ago))
                if drawn.random() < 0.3 and (booster := drawn.choice(people[:-1])) is not author:
                    boost = {"reblog_of_id": said.id, "deleted_at": None, "content": ""}
                    await say(work, booster, ago=ago * DAY, **boost)
                    shares.append((booster.id, links[place], ago))
    await set_state(town, gone.id, lambda work: {"suspended_at": work.now})

    await refresh(town)

    for kind, key, counted in (("tags", "name", uses), ("links", "url", shares)):
        known: set[int] = {gone.id} if kind == "tags" else set()
        scores = {name: _score(counted, name, known) for name in {one[1] for one in counted}}
        expected = {name: score for name, score in scores.items() if score >= 1}
        shown = await trending(owner, kind, ADMIN)
        check(shown, [ADMIN_TAG if kind == "tags" else ADMIN_LINK])
        assert {one[key] for one in shown} == expected.keys()
        assert [expected[one[key]] for one in shown] == sorted(expected.values(), reverse=True)
        assert len(set(expected.values())) > 1
        for one in shown:
            assert _history(one) == [_day(counted, one[key], ago) for ago in range(7)], one[key]


def _day(
    counted: list[tuple[int, str, int]], name: str, ago: int, but: frozenset[int] = frozenset()
) -> tuple[int, int]:
    found = [who for who, what, when in counted if (what, when) == (name, ago) and who not in but]
    return len(set(found)), len(found)


def _score(counted: list[tuple[int, str, int]], name: str, gone: set[int]) -> float:
    today, before = (_day(counted, name, ago, frozenset(gone))[0] for ago in (0, 1))
    return (today - max(before, 1)) ** 2 / max(before, 1) if today >= max(before, 5) else 0


def _history(one: dict[str, Any]) -> list[tuple[int, int]]:
    return [(int(day["accounts"]), int(day["uses"])) for day in one["history"]]


async def test_scores_fall_until_nothing_is_left(town: Town) -> None:
    moderator, tag = await employ(town, "moderator"), new_tag()
    await use(town, tag, await strangers(town, 5))
    await refresh(town)
    assert tag in await names(moderator, ADMIN)

    await refresh(town, later=timedelta(hours=17))  # 16 falls to 0.84

    assert tag not in await names(moderator, ADMIN)


async def test_four_people_are_no_trend(town: Town) -> None:
    moderator, tag, url = await employ(town, "moderator"), new_tag(), new_url()
    people = await strangers(town, 4)
    await use(town, tag, [*people, *people])
    await share(town, url, [*people, *people])
    status = await like(town, await stranger(town, discoverable=True), 4)

    await refresh(town)

    assert tag not in await names(moderator, ADMIN)
    assert url not in await urls(moderator, ADMIN)
    assert status not in await statuses(moderator, ADMIN)


# What the team decides


async def _acts(owner: Member, by: Member) -> list[str]:
    return [one["action"] for one in await owner.get("/api/v1/admin/audit", params={"username": by.name})]


async def test_a_tag_is_shown_once_somebody_has_approved_it(town: Town) -> None:
    moderator, owner, ada = await employ(town, "moderator"), await employ(town, "owner"), await join(town)
    tag = new_tag()
    await use(town, tag, await strangers(town, 5))
    await refresh(town)
    assert tag not in await names(town)
    waiting = await find(moderator, "tags", name=tag)
    check(waiting, ADMIN_TAG)
    assert (waiting["trendable"], waiting["requires_review"]) == (False, True)

    approved = await moderator.post(f"{ADMIN}/tags/{waiting['id']}/approve")

    check(approved, ADMIN_TAG)
    assert (approved["trendable"], approved["requires_review"]) == (True, False)
    [shown] = [one for one in await trending(town, "tags") if one["name"] == tag]
    check(shown, TAG)
    check([one for one in await trending(ada, "tags") if one["name"] == tag], [OWN_TAG])
    assert (await moderator.post(f"{ADMIN}/tags/{waiting['id']}/reject"))["trendable"] is False
    assert tag not in await names(town)
    assert await _acts(owner, moderator) == ["reject_trending_tag", "approve_trending_tag"]


async def test_what_the_team_says_of_a_tag_holds_everywhere(town: Town) -> None:
    moderator, ada = await employ(town, "moderator"), await join(town)
    tag = new_tag()
    await use(town, tag, await strangers(town, 5))
    await refresh(town)
    id = (await find(moderator, "tags", name=tag))["id"]
    path = f"/api/v1/admin/tags/{id}"
    await moderator.does("PUT", path, json={"trendable": True})
    assert tag in await names(ada)

    changed = await moderator.does("PUT", path, data={"listable": "false", "display_name": tag.upper()})
    check(changed, ADMIN_TAG)
    assert (changed["name"], changed["listable"], changed["trendable"]) == (tag.upper(), False, True)
    assert await moderator.get(path) == changed
    assert (await ada.get("/api/v2/search", params={"q": tag, "type": "hashtags"}))["hashtags"] == []
    assert tag.upper() not in await names(ada)

    await moderator.does("PUT", path, json={"listable": True, "usable": False})
    refused = await ada.call("POST", "/api/v1/statuses", json={"status": f"#{tag}"})
    assert refused.status_code == 422
    assert refused.json()["error"] == f"Validation failed: Text contained a disallowed hashtag: {tag.upper()}"
    assert tag.upper() not in await names(moderator, ADMIN)

    wrong = await moderator.call("PUT", path, json={"display_name": "another", "usable": True})
    assert wrong.status_code == 422
    assert wrong.json()["error"] == "Validation failed: Display name does not match the previous name"
    assert (await moderator.get(path))["usable"] is False
    listed = await moderator.get("/api/v1/admin/tags", params={"limit": "1", "max_id": str(int(id) + 1)})
    assert [one["id"] for one in listed] == [id]
    assert await verdict(moderator, "PUT", "/api/v1/admin/tags/1", json={}) == 404


async def test_unreviewed_tags_can_be_left_out_of_a_search(town: Town) -> None:
    moderator, ada, tag = await employ(town, "moderator"), await join(town), new_tag()
    await post(ada, f"#{tag}")
    sought = {"q": tag, "type": "hashtags", "exclude_unreviewed": "true"}
    [found] = (await ada.get("/api/v2/search", params=sought | {"exclude_unreviewed": "false"}))["hashtags"]
    assert (await ada.get("/api/v2/search", params=sought))["hashtags"] == []

    await moderator.does("PUT", f"/api/v1/admin/tags/{found['id']}", json={})

    assert [one["id"] for one in (await ada.get("/api/v2/search", params=sought))["hashtags"]] == [found["id"]]


async def test_a_link_is_shown_by_its_own_or_its_sites_review(town: Town) -> None:
    moderator, owner, people = await employ(town, "moderator"), await employ(town, "owner"), await strangers(town, 5)
    url = new_url()
    other = url + "/2"
    for one in (url, other):
        await share(town, one, people)
    await refresh(town)
    waiting, second = await find(moderator, "links", url=url), await find(moderator, "links", url=other)
    check(waiting, ADMIN_LINK)
    assert waiting["requires_review"] is True
    assert url not in await urls(town)

    check(await moderator.post(f"{ADMIN}/links/{waiting['id']}/approve"), ADMIN_LINK)

    assert (await find(moderator, "links", url=url))["requires_review"] is False
    check([one for one in await trending(town, "links") if one["url"] == url], [LINK])
    assert other not in await urls(town)
    publishers = await moderator.get(f"{ADMIN}/links/publishers")
    check(publishers, [PUBLISHER])
    [site] = [one for one in publishers if one["domain"] in url]
    approved = await moderator.post(f"{ADMIN}/links/publishers/{site['id']}/approve")
    check(approved, PUBLISHER)
    assert (approved["trendable"], approved["requires_review"]) == (True, False)
    assert other in await urls(town)
    await moderator.post(f"{ADMIN}/links/{second['id']}/reject")
    await refresh(town)
    assert other not in await urls(town)
    await moderator.post(f"{ADMIN}/links/publishers/{site['id']}/reject")
    assert url in await urls(town)  # what is said of the link itself goes first
    assert await _acts(owner, moderator) == [
        "reject_trending_publisher", "reject_trending_link", "approve_trending_publisher", "approve_trending_link",
    ]  # fmt: skip


async def test_a_post_is_shown_by_its_own_or_its_authors_review(town: Town) -> None:
    moderator, owner = await employ(town, "moderator"), await employ(town, "owner")
    author = await stranger(town, discoverable=True)
    first, second = await like(town, author, 5), await like(town, author, 9)
    await refresh(town)
    assert (await find(moderator, "statuses", id=first))["requires_review"] is True
    assert first not in await statuses(town)

    approved = await moderator.post(f"{ADMIN}/statuses/{first}/approve")

    check(approved, ADMIN_STATUS)
    assert approved["requires_review"] is False
    check([one for one in await trending(town, "statuses") if one["id"] == first], [PUBLIC_STATUS])
    assert second not in await statuses(town)
    told = await moderator.post(f"{ADMIN}/statuses/accounts/{author.id}/approve")
    check(told, AUTHOR)
    assert [id for id in await statuses(town) if id in (first, second)] == [second, first]
    await moderator.post(f"{ADMIN}/statuses/{second}/reject")
    await refresh(town)
    assert second not in await statuses(town)
    await moderator.post(f"{ADMIN}/statuses/accounts/{author.id}/reject")
    check(await moderator.get(f"{ADMIN}/statuses/accounts"), [AUTHOR])
    assert await _acts(owner, moderator) == [
        "reject_trending_account", "reject_trending_status", "approve_trending_account", "approve_trending_status",
    ]  # fmt: skip


async def test_only_whoever_may_review_sees_and_decides(town: Town) -> None:
    owner, member = await employ(town, "owner"), await employ(town, "user")
    other = await employ_as(town, owner, 5, "manage_reports")
    reviewer = await employ_as(town, owner, 6, "manage_taxonomies")
    tag = new_tag()
    await use(town, tag, await strangers(town, 5))
    await refresh(town)
    found = await find(reviewer, "tags", name=tag)
    for one in (member, other, town):
        assert tag not in await names(one, ADMIN)
    for kind in ("tags", "links", "statuses", "links/publishers", "statuses/accounts"):
        for act in ("approve", "reject"):
            path = f"{ADMIN}/{kind}/{found['id']}/{act}"
            assert await verdict(other, "POST", path) == 403
            assert (await town.http.post(path)).status_code == 401
            assert await verdict(reviewer, "POST", f"{ADMIN}/{kind}/1/{act}") == 404
    narrow = await join(town)
    assert await verdict(narrow, "GET", f"{ADMIN}/tags") == 403
    secret = (await post(narrow, "For few", visibility="private"))["id"]
    assert await verdict(reviewer, "POST", f"{ADMIN}/statuses/{secret}/approve") == 404


# What leaves


Change = Callable[[Member, Member, str], Awaitable[Any]]


async def _state(member: Member, **values: Any) -> None:
    await set_state(member.town, member.id, lambda work: {k: work.now if v == "now" else v for k, v in values.items()})


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda _ada, bob, one: bob.delete(f"/api/v1/statuses/{one}"), id="deleted"),
        pytest.param(lambda _ada, bob, _one: _state(bob, silenced_at="now"), id="limited"),
        pytest.param(lambda _ada, bob, _one: _state(bob, suspended_at="now"), id="suspended"),
        pytest.param(lambda _ada, bob, _one: _state(bob, sensitized_at="now"), id="sensitive author"),
        pytest.param(lambda _ada, bob, _one: _state(bob, discoverable=False), id="does not want to be found"),
        pytest.param(lambda _ada, bob, _one: _state(bob, noindex=True), id="not for search engines"),
        pytest.param(
            lambda _ada, bob, one: bob.does(
                "PUT", f"/api/v1/statuses/{one}", json={"status": "a", "spoiler_text": "b"}
            ),
            id="with a warning",
        ),
        pytest.param(lambda ada, bob, _one: ada.to(bob, "block"), id="blocked"),
        pytest.param(lambda ada, bob, _one: bob.to(ada, "block"), id="blocked by the author"),
        pytest.param(lambda ada, bob, _one: ada.to(bob, "mute"), id="muted"),
    ],
)
async def test_a_post_leaves_the_trends_at_once(town: Town, change: Change) -> None:
    moderator, (ada, bob) = await employ(town, "moderator"), await join_all(town, 2)
    await _state(bob, discoverable=True)
    id = (await post(bob, "Listen", language="en"))["id"]
    async with town.house() as house, house.works.begin() as work:
        await status_store.change(work.db, StatusId(int(id)), {"favourites_count": 5})
    await refresh(town)
    await moderator.post(f"{ADMIN}/statuses/{id}/approve")
    assert id in await statuses(ada)

    await change(ada, bob, id)

    assert id not in await statuses(ada)


@pytest.mark.parametrize(
    "differing",
    [
        {"in_reply_to_id": 1}, {"sensitive": True}, {"spoiler_text": "x"}, {"language": None}, {"visibility": UNLISTED},
        {"ago": timedelta(hours=12)},
    ],
    ids=repr,
)  # fmt: skip
async def test_some_posts_are_never_a_trend(town: Town, differing: dict[str, Any]) -> None:
    moderator = await employ(town, "moderator")
    author = await stranger(town, discoverable=True)
    one, other = await like(town, author, 20), await like(town, author, 20, **differing)

    await refresh(town)

    found = await statuses(moderator, ADMIN)
    assert one in found
    assert other not in found


async def test_who_is_gone_or_deletes_does_not_make_a_trend(town: Town) -> None:
    """Told of by what happens, without waiting for the next round."""
    owner, people = await employ(town, "owner"), await join_all(town, 5)
    tags = [new_tag() for _ in range(3)]
    posts = [[await post(one, f"#{tag}") for one in people] for tag in tags[:2]]
    posts.append([await post(one, f"#{tags[2]}") for one in people])
    await settle(town)
    await refresh(town)
    assert set(tags) <= set(await names(owner, ADMIN))

    await people[0].delete(f"/api/v1/statuses/{posts[0][0]['id']}")
    await people[1].does("PUT", f"/api/v1/statuses/{posts[1][1]['id']}", json={"status": "never mind"})
    await settle(town)
    await refresh(town)

    assert [tag for tag in await names(owner, ADMIN) if tag in tags] == [tags[2]]
    shown = await owner.get(f"/api/v1/tags/{tags[0]}")
    assert _history(shown)[0] == (4, 4)

    await owner.post(f"/api/v1/admin/accounts/{people[2].id}/action", json={"type": "silence"})
    await settle(town)

    assert tags[2] not in await names(owner, ADMIN)


async def test_a_link_leaves_with_those_who_shared_it(town: Town) -> None:
    owner, url, people = await employ(town, "owner"), new_url(), await strangers(town, 5)
    await share(town, url, people)
    await refresh(town)
    assert url in await urls(owner, ADMIN)

    await owner.post(f"/api/v1/admin/accounts/{people[0].id}/action", json={"type": "suspend"})
    await settle(town)

    assert url not in await urls(owner, ADMIN)


# How it is read


async def test_ones_own_languages_come_first(town: Town) -> None:
    moderator, ada, people = await employ(town, "moderator"), await join(town), await strangers(town, 6)
    author = await stranger(town, discoverable=True)
    german, english = await like(town, author, 6, language="de"), await like(town, author, 9)
    await moderator.post(f"{ADMIN}/statuses/accounts/{author.id}/approve")
    url = new_url()
    ids = [await share(town, url, people), await share(town, f"{url}/de", people[:5], language="de")]
    await refresh(town)
    for id in ids:
        await moderator.post(f"{ADMIN}/links/{id}/approve")

    async def order(headers: dict[str, str]) -> tuple[list[str], list[str]]:
        found = [(await ada.call("GET", f"{TRENDS}/{kind}", headers=headers, params={"limit": "40"})) for kind in
                 ("statuses", "links")]  # fmt: skip
        posts = [one["id"] for one in found[0].json() if one["id"] in (german, english)]
        return posts, [one["url"] for one in found[1].json() if one["url"].startswith(url)]

    assert await order({}) == ([english, german], [url, f"{url}/de"])
    assert await order({"Accept-Language": "de-AT, fr;q=0.5"}) == ([german, english], [f"{url}/de", url])
    await ada.patch("/api/v1/preferences", json={"reading:languages": ["de"]})
    assert await order({"Accept-Language": "en"}) == ([german, english], [f"{url}/de", url])
    anonymous = await town.http.get(f"{TRENDS}/statuses")
    assert {"authorization", "accept-language"} <= {
        word.strip().lower() for word in anonymous.headers["vary"].split(",")
    }


async def test_lists_are_read_a_stretch_at_a_time(new_town: TownBuilder) -> None:
    town = await new_town()
    owner, people = await employ(town, "owner"), await strangers(town, 7)
    await owner.does("PUT", "/api/v1/admin/settings", json={"trendable_by_default": True})
    tags = [new_tag() for _ in range(3)]
    for count, tag in zip((7, 6, 5), tags, strict=True):
        await use(town, tag, people[:count])
    await refresh(town)

    first = await town.http.get(f"{TRENDS}/tags", params={"limit": "2"})
    assert [one["name"] for one in first.json()] == tags[:2]
    assert first.headers["link"] == f'<{town.base_url}{TRENDS}/tags?limit=2&offset=2>; rel="next"'
    second = await town.http.get(f"{TRENDS}/tags", params={"limit": "2", "offset": "2"})
    assert [one["name"] for one in second.json()] == tags[2:]
    assert second.headers["link"] == f'<{town.base_url}{TRENDS}/tags?limit=2&offset=0>; rel="prev"'
    assert (await town.http.get(f"{TRENDS}/tags", params={"offset": "9" * 18})).json() == []


async def test_the_team_can_do_without_trends_or_without_reviews(new_town: TownBuilder) -> None:
    town = await new_town()
    owner, moderator, people = await employ(town, "owner"), await employ(town, "moderator"), await strangers(town, 5)
    tag, url = new_tag(), new_url()
    await use(town, tag, people)
    await share(town, url, people)
    status = await like(town, await stranger(town, discoverable=True), 9)
    await refresh(town)
    settings = "/api/v1/admin/settings"
    told = await owner.get(settings)
    assert (told["trends"], told["trendable_by_default"]) == (True, False)
    assert (await names(town), await urls(town), await statuses(town)) == ([], [], [])
    assert await verdict(moderator, "PUT", settings, json={"trends": False}) == 403

    assert (await owner.does("PUT", settings, json={"trendable_by_default": True}))["trendable_by_default"] is True
    assert (await names(town), await urls(town), await statuses(town)) == ([tag], [url], [status])
    assert (await town.http.get("/api/v1/timelines/link", params={"url": url})).status_code == 200
    await moderator.post(f"{ADMIN}/statuses/{status}/reject")
    assert await statuses(town) == []

    assert (await owner.does("PUT", settings, json={"trends": False}))["trends"] is False
    assert (await names(town), await urls(town), await statuses(town)) == ([], [], [])
    assert (await town.http.get("/api/v1/timelines/link", params={"url": url})).status_code == 404
    assert await names(moderator, ADMIN) == [tag]
    events = await owner.get("/api/v1/admin/audit", params={"action": "update_settings"})
    assert len(events) == 2


async def test_a_trending_link_has_a_timeline(town: Town) -> None:
    moderator, ada, people = await employ(town, "moderator"), await join(town), await strangers(town, 5)
    found = await strangers(town, 2, discoverable=True)
    url = new_url()
    card_id = await share(town, url, [*people, *found])
    await refresh(town)
    asked = {"url": url}
    assert await verdict(ada, "GET", "/api/v1/timelines/link", params=asked) == 404

    await moderator.post(f"{ADMIN}/links/{card_id}/approve")

    shown = await ada.get("/api/v1/timelines/link", params=asked)
    check(shown, [STATUS])
    assert [one["account"]["id"] for one in shown] == [str(one.id) for one in reversed(found)]
    assert {one["card"]["url"] for one in shown} == {url}
    page = await town.http.get("/api/v1/timelines/link", params=asked | {"limit": "1"})
    check(page.json(), [PUBLIC_STATUS])
    assert f"max_id={page.json()[0]['id']}" in page.headers["link"]
    after = await ada.get("/api/v1/timelines/link", params=asked | {"max_id": shown[0]["id"]})
    assert [one["id"] for one in after] == [shown[1]["id"]]
    await ada.post(f"/api/v1/accounts/{found[0].id}/mute")
    assert len(await ada.get("/api/v1/timelines/link", params=asked)) == 1
    await moderator.post(f"{ADMIN}/links/{card_id}/reject")
    assert await verdict(ada, "GET", "/api/v1/timelines/link", params=asked) == 404


# Asking for a review


async def test_the_team_is_told_once_what_waits_for_a_review(new_town: TownBuilder) -> None:
    town = await new_town()
    moderator, people = await employ(town, "moderator"), await strangers(town, 5)
    await join(town)
    tag, url = new_tag(), new_url()
    await use(town, tag, people)
    await share(town, url, people)
    status = await like(town, await stranger(town, discoverable=True), 9)
    await refresh(town)

    for _ in range(2):
        async with town.house() as house, house.works.begin() as work:
            await tasks.request_review(work, tasks.RequestReview())

    await until(lambda: _has_mail(town))
    await settle(town)
    [mail] = _review_mails(town)
    assert mail["to"] == f"{moderator.name}@example.org"
    text = mail.get_body(("plain",)).get_content()
    assert f"#{tag}" in text
    assert url in text
    assert status in text
    [site] = await moderator.get(f"{ADMIN}/links/publishers")
    assert site["requested_review_at"] is not None
    [author] = await moderator.get(f"{ADMIN}/statuses/accounts")
    assert author["requires_review"] is True


def _review_mails(town: Town) -> list[Any]:
    return [mail for mail in town.mails() if "New trends" in str(mail["subject"])]


async def _has_mail(town: Town) -> bool:
    return bool(_review_mails(town))
