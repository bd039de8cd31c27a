"""Pages are kept in pieces: what has changed since is on the next one all the same."""

from __future__ import annotations

import re

from kith.identity.messages.service import leave
from kith.identity.sessions import store as sessions
from tests.social.members import Member, join, set_state, until
from tests.social.posts import arrive, post
from tests.social.staff import employ
from tests.town import Town
from tests.web.browsing import Browser
from tests.web.conftest import NewBrowser
from tests.web.test_client import person, signed_in


async def home(browser: Browser) -> str:
    """Twice: what was kept for the first is shown with the second."""
    first = (await browser.open("/home")).text
    again = (await browser.open("/home")).text
    assert first == again
    return again


async def followed(ada: Member, town: Town) -> Member:
    bob = await join(town)
    await arrive(ada, bob)
    await ada.to(bob, "follow")
    return bob


async def test_what_happens_to_a_post_is_seen_at_once(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    bob = await followed(ada, town)
    said = await post(bob, "A first thought")
    other = await post(bob, "Another thought")
    await arrive(ada)
    page = await home(browser)
    assert "A first thought" in page
    assert "Another thought" in page

    await bob.call("PUT", f"/api/v1/statuses/{said['id']}", json={"status": "A second thought"})
    page = await home(browser)
    assert "A second thought" in page
    assert "A first thought" not in page

    await (await join(town)).post(f"/api/v1/statuses/{said['id']}/favourite")
    changed = await home(browser)
    assert changed != page

    await ada.post(f"/api/v1/statuses/{said['id']}/bookmark")
    marked = await home(browser)
    assert f"/statuses/{said['id']}/unbookmark" in marked
    assert f"/statuses/{said['id']}/unbookmark" not in changed

    await bob.delete(f"/api/v1/statuses/{said['id']}")
    page = await home(browser)
    assert "A second thought" not in page
    assert "Another thought" in page

    await ada.post("/api/v2/filters", json={"title": "No", "context": ["home"], "filter_action": "hide",
        "keywords_attributes": [{"keyword": "another"}]})  # fmt: skip
    assert "Another thought" not in await home(browser)
    [filtered] = await ada.get("/api/v2/filters")
    await ada.delete(f"/api/v2/filters/{filtered['id']}")
    assert "Another thought" in await home(browser)

    await ada.to(bob, "block")
    await until(lambda: _is_gone(browser, other["id"]))


async def _is_gone(browser: Browser, id: str) -> bool:
    """Blocked people leave a feed by a job."""
    return f'"status-{id}"' not in (page := await home(browser)) and "Another thought" not in page


async def test_who_people_are_now_is_seen_at_once(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    bob = await followed(ada, town)
    await post(bob, "Who am I?")
    await arrive(ada)
    assert "Robert the Great" not in await home(browser)
    await bob.patch("/api/v1/accounts/update_credentials", json={"display_name": "Robert the Great"})
    assert "Robert the Great" in await home(browser)

    assert "Console" not in await home(browser)
    await (await employ(town, "owner")).post(f"/api/v1/admin/accounts/{ada.id}/role", json={"role_id": "1"})
    assert "Console" in await home(browser)

    owner = await town.owner()
    found = (await owner.get(f"/api/v2/core/users/?username={ada.name}")).json()["results"]
    settings = {"attributes": {"settings": {"locale": "de"}}}
    await owner.call("PATCH", f"/api/v2/core/users/{found[0]['pk']}/", json=settings)
    assert '<html lang="de"' in (await browser.open("/home")).text


async def test_what_is_announced_and_left_for_somebody_is_seen_once(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    quiet = await home(browser)
    owner = await employ(town, "owner")
    told = await owner.post("/api/v1/admin/announcements", json={"text": "Tea is <b>served</b>", "published": True})
    page = await home(browser)
    assert "Tea is" in page
    await owner.call("PUT", f"/api/v1/admin/announcements/{told['id']}", json={"text": "Coffee is served"})
    page = await home(browser)
    assert "Coffee is served" in page
    assert "Tea is" not in page
    await ada.post(f"/api/v1/announcements/{told['id']}/dismiss")
    assert "Coffee is served" not in await home(browser)
    await owner.delete(f"/api/v1/admin/announcements/{told['id']}")
    assert _without_token(await home(browser)) == _without_token(quiet)

    async with town.house() as house, house.works.begin() as work:
        user = (await (await town.owner()).get(f"/api/v2/core/users/?username={ada.name}")).json()["results"][0]["pk"]
        await leave(work, user, "A word for you")
    assert "A word for you" in (await browser.open("/home")).text
    assert "A word for you" not in await home(browser)


async def test_whoever_may_not_come_in_any_more_is_out_with_the_next_page(town: Town, browser: Browser) -> None:
    ada = await join(town)
    await browser.sign_in(ada.name, person(ada).password)
    assert 'id="feed"' in await home(browser)
    await set_state(town, ada.id, lambda work: {"suspended_at": work.now})
    assert (await browser.open("/home")).status_code == 403
    await set_state(town, ada.id, lambda _: {"suspended_at": None})
    assert 'id="feed"' in await home(browser)

    owner = await town.owner()
    [found] = (await owner.get(f"/api/v2/core/users/?username={ada.name}")).json()["results"]
    async with town.house() as house, house.works.begin() as work:  # beside the server, as a command does it
        await sessions.end_all(work.db, found["pk"])
    assert 'id="feed"' not in (await browser.open("/home")).text

    await browser.sign_in(ada.name, person(ada).password)
    assert 'id="feed"' in await home(browser)
    await owner.call("PATCH", f"/api/v2/core/users/{found['pk']}/", json={"is_active": False})
    assert 'id="feed"' not in (await browser.open("/home")).text


async def test_pages_of_two_people_have_nothing_in_common_but_what_both_may_see(
    town: Town, browser: Browser, new_browser: NewBrowser
) -> None:
    ada = await signed_in(town, browser)
    bob = await followed(ada, town)
    theirs = new_browser()
    await theirs.sign_in(bob.name, person(bob).password)
    await post(bob, "Only for those who follow me", visibility="private")
    await arrive(ada, bob)
    mine, his = await home(browser), await home(theirs)
    assert "Only for those" in mine
    assert "Only for those" in his
    assert "/edit" in his
    for page, cookie in ((mine, browser.cookie("kith_csrf")), (his, theirs.cookie("kith_csrf"))):
        tokens = {*re.findall(r'name="csrf" value="([^"]+)"', page), *re.findall(r'data-csrf="([^"]+)"', page)}
        assert tokens == {cookie}
        assert "token-" not in page
    assert "Only for those" not in (await new_browser().open("/public/local")).text


def _without_token(page: str) -> str:
    return re.sub(r"(csrf(\" value)?=\")[^\"]+", r"\1", page)
