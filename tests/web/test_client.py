"""The member's client, by links and forms alone, as somebody whose browser runs no script uses it."""

from __future__ import annotations

import re

from tests.social.members import Member, join, until
from tests.social.posts import post
from tests.town import Person, Town
from tests.web.browsing import Browser


def person(member: Member) -> Person:
    return Person(member.town.http, member.name, f"correct horse {member.name}")


async def signed_in(town: Town, browser: Browser) -> Member:
    member = await join(town)
    await browser.sign_in(member.name, person(member).password)
    return member


async def press(browser: Browser, action: str, **fields: str) -> None:
    """A button of the page's shared form, whose address ends so."""
    [found, *_] = re.findall(rf'formaction="([^"]*{re.escape(action)})"', browser.page.text)
    token = browser.cookie("kith_csrf") or ""
    sent = {"csrf": token, "next": browser.path, **fields}
    browser.page = await browser.http.post(found.replace("&amp;", "&"), data=sent, follow_redirects=True)


async def test_whoever_is_not_signed_in_is_asked_to_be_and_comes_back(town: Town, browser: Browser) -> None:
    member = await join(town)
    await browser.open("/bookmarks?max_id=5")
    await browser.submit(uid_field=member.name)
    await browser.submit(password=person(member).password)

    assert browser.path == "/bookmarks?max_id=5"


async def test_a_post_is_written_and_answered_on_pages(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    bob = await join(town)
    said = await post(bob, f"@{ada.name} shall we?")
    await browser.open(f"/publish?reply_to={said['id']}")
    assert "shall we?" in browser.page.text
    assert f"@{bob.name} " in browser.page.text

    await browser.press("/publish", status=f"@{bob.name} we shall", spoiler_text="An answer", visibility="unlisted")

    assert browser.page.status_code == 200, browser.page.text
    [answer] = (await bob.get(f"/api/v1/statuses/{said['id']}/context"))["descendants"]
    assert (answer["spoiler_text"], answer["visibility"]) == ("An answer", "unlisted")
    assert "we shall" in answer["content"]


async def test_what_is_refused_is_shown_again_as_it_was_written(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    await browser.open("/publish")

    answer = await browser.press("/publish", status="x" * 501, spoiler_text="Much & more")

    assert answer.status_code == 422
    assert "character limit of 500 exceeded" in answer.text
    assert "x" * 501 in answer.text
    assert 'value="Much &amp; more"' in answer.text


async def test_a_post_is_changed_on_its_page(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    said = await post(ada, "A first try")
    await browser.open(f"/@{ada.name}/{said['id']}/edit")
    assert ">A first try</textarea>" in browser.page.text

    await browser.press("/publish", status="A second one")

    assert "A second one" in browser.page.text
    assert (await ada.get(f"/api/v1/statuses/{said['id']}"))["content"] == "<p>A second one</p>"


async def test_buttons_of_a_post_do_what_apps_do(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    said = await post(bob, "Press me")
    await browser.open(f"/@{bob.name}/{said['id']}")
    for verb in ("favourite", "reblog", "bookmark"):
        await press(browser, f"/{said['id']}/{verb}", at=said["id"])

    seen = await ada.get(f"/api/v1/statuses/{said['id']}")
    assert (seen["favourited"], seen["reblogged"], seen["bookmarked"]) == (True, True, True)
    assert browser.page.text.count('aria-pressed="true"') == 3
    await press(browser, f"/{said['id']}/unfavourite", at=said["id"])
    assert not (await ada.get(f"/api/v1/statuses/{said['id']}"))["favourited"]


async def test_home_has_what_the_api_has(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    await ada.to(bob, "follow")
    said = [await post(bob, f"number {number}.") for number in range(22)]

    async def is_there() -> bool:
        return len(await ada.get("/api/v1/timelines/home", params={"limit": 40})) >= 22

    await until(is_there)
    await browser.open("/home")
    shown = re.findall(r'<article [^>]*data-row="(\d+)"', browser.page.text)
    assert shown == [one["id"] for one in reversed(said)][:20]
    [older] = re.findall(r'rel="next" href="\?([^"]+)"', browser.page.text)
    await browser.open(f"/home?{older.replace('&amp;', '&')}")
    assert (
        re.findall(r'<article [^>]*data-row="(\d+)"', browser.page.text) == [one["id"] for one in reversed(said)][20:]
    )


async def test_one_votes_on_the_page(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    said = await bob.post(
        "/api/v1/statuses", json={"status": "Lunch?", "poll": {"options": ["Soup", "Salad"], "expires_in": 3600}}
    )
    await browser.open(f"/@{bob.name}/{said['id']}")
    await browser.press("/votes", **{"choices[]": "1"})

    poll = (await ada.get(f"/api/v1/statuses/{said['id']}"))["poll"]
    assert (poll["voted"], poll["own_votes"]) == (True, [1])
    assert "100%" in browser.page.text


async def test_profiles_offer_what_is_between_the_two(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    await browser.open(f"/@{bob.name}")
    await press(browser, f"/{bob.id}/follow")
    assert (await ada.sees(bob))["following"]
    await press(browser, f"/{bob.id}/follow?reblogs=false")
    assert not (await ada.sees(bob))["showing_reblogs"]
    await press(browser, f"/{bob.id}/unfollow")
    assert not (await ada.sees(bob))["following"]
    await press(browser, f"/{bob.id}/block")
    assert (await ada.sees(bob))["blocking"]


async def test_only_those_who_may_see_a_post_see_its_page(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    secret = await post(bob, "psst", visibility="direct")
    told = await post(bob, f"@{ada.name} psst", visibility="direct")

    assert (await browser.open(f"/@{bob.name}/{secret['id']}")).status_code == 404
    assert (await browser.open(f"/@{bob.name}/{told['id']}")).status_code == 200


async def test_pieces_are_for_members_and_carry_their_own_token(town: Town, browser: Browser) -> None:
    said = await post(await join(town), "A piece")
    assert (await browser.http.get(f"/web/pieces?ids={said['id']}")).status_code == 401
    await signed_in(town, browser)
    answer = await browser.http.get(f"/web/pieces?ids={said['id']},x,99999999999999999999")
    assert answer.text.count("<article") == 1
    assert "A piece" in answer.text


async def test_followers_are_listed_with_what_one_can_do(town: Town, browser: Browser) -> None:
    ada, bob, cleo = await signed_in(town, browser), await join(town), await join(town)
    await cleo.to(bob, "follow")
    await browser.open(f"/@{bob.name}/followers")
    assert f"@{cleo.name}" in browser.page.text
    await press(browser, f"/{cleo.id}/follow")
    assert browser.path == f"/@{bob.name}/followers"
    assert (await ada.sees(cleo))["following"]
    assert "follows nobody yet" in (await browser.open(f"/@{bob.name}/following")).text


async def test_who_favourited_a_post_is_listed(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    said = await post(bob, "Look")
    await ada.post(f"/api/v1/statuses/{said['id']}/favourite")
    assert f"@{ada.name}" in (await browser.open(f"/@{bob.name}/{said['id']}/favourites")).text
    assert "Nobody has boosted" in (await browser.open(f"/@{bob.name}/{said['id']}/reblogs")).text
