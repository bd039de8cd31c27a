"""Notifications, conversations, follow requests and announcements, by links and forms alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kith.web
from kith.web.client.shortcuts import SHORTCUTS
from tests.social.members import Member, join
from tests.social.posts import does, post, settle
from tests.social.samples import image_file
from tests.social.staff import employ
from tests.town import Town
from tests.web.browsing import Browser
from tests.web.test_client import person, press, signed_in


def badge(browser: Browser) -> str:
    """The number beside the bell; nothing where it is hidden."""
    found = re.search(r'id="unread"( hidden)?><span data-count>([^<]*)<', browser.page.text)
    assert found is not None
    return "" if found[1] else found[2]


@pytest.mark.parametrize(
    "path",
    [
        "/notifications",
        "/notifications/mentions",
        "/notifications/policy",
        "/notifications/requests",
        "/notifications/requests/1",
        "/notifications/groups/x",
        "/conversations",
        "/follow_requests",
        "/announcements",
    ],
)
async def test_they_are_for_members(browser: Browser, path: str) -> None:
    await browser.open(path)
    assert browser.path.startswith("/flows/")


async def test_emoji_are_pictures_in_a_line_of_a_post_too(town: Town, browser: Browser) -> None:
    team = await employ(town, "administrator")
    picture = {"image": ("teapot.png", image_file("PNG", (32, 32)), "image/png")}
    await team.post("/api/v1/admin/custom_emojis", data={"shortcode": "teapot"}, files=picture)
    ada, bob = await signed_in(town, browser), await join(town)
    await does(bob, "favourite", await post(ada, "Time for <b> :teapot: and :nothing:"))
    await settle(town)
    page = (await browser.open("/notifications")).text
    assert re.search(r'Time for &lt;b&gt; <img class="emoji" src="[^"]+" alt=":teapot:"[^>]*> and :nothing:</a>', page)


async def test_alike_ones_stand_together_and_are_marked_as_read(town: Town, browser: Browser) -> None:
    ada, bob, cleo = await signed_in(town, browser), await join(town), await join(town)
    assert "Nothing yet." in (await browser.open("/notifications")).text
    said = await post(ada, "Nice <weather> today")
    for one in (bob, cleo):
        await does(one, "favourite", said)
    await settle(town)

    await browser.open("/notifications")
    assert "and 1 other person favourited your post" in browser.page.text
    assert "Nice &lt;weather&gt; today" in browser.page.text
    assert browser.page.text.count('class="notification new"') == 1
    assert badge(browser) == "1"
    await browser.press("/markers")
    assert browser.path == "/notifications"
    assert (badge(browser), browser.page.text.count('class="notification new"')) == ("", 0)
    assert (await ada.get("/api/v2/notifications/unread_count")) == {"count": 0}

    [everybody] = set(re.findall(r'href="(/notifications/groups/[^"]+)"', browser.page.text))
    await browser.open(everybody)
    assert f"@{bob.name}" in browser.page.text
    assert f"@{cleo.name}" in browser.page.text


async def test_each_kind_says_what_happened(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    said = await post(ada, "Boost me")
    await ada.patch("/api/v1/accounts/update_credentials", json={"locked": True})
    await does(bob, "reblog", said)
    await post(bob, f"@{ada.name} hello")
    await bob.to(ada, "follow")
    await settle(town)

    await browser.open("/notifications")
    for words in ("boosted your post", "mentioned you", "asks to follow you"):
        assert words in browser.page.text
    assert badge(browser) == "3"
    await browser.open("/notifications/mentions")
    assert "mentioned you" in browser.page.text
    assert "boosted your post" not in browser.page.text

    await browser.open("/notifications")
    await press(browser, f"/follow_requests/{bob.id}/authorize")
    assert (await ada.sees(bob))["followed_by"]


async def test_new_followers_are_followed_back(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    await bob.to(ada, "follow")
    await settle(town)
    await browser.open("/notifications")
    assert "followed you" in browser.page.text
    await press(browser, f"/{bob.id}/follow")
    assert (await ada.sees(bob))["following"]
    assert "Follow back" not in browser.page.text


async def test_the_team_hears_of_reports(town: Town, browser: Browser) -> None:
    owner, bob, cleo = await employ(town, "owner"), await join(town), await join(town)
    await browser.sign_in(owner.name, person(owner).password)
    await bob.post("/api/v1/reports", json={"account_id": cleo.id, "comment": "Sells <b>snake oil</b>"})
    await settle(town)
    await browser.open("/notifications")
    assert "reported somebody" in browser.page.text
    assert f"About @{cleo.name}: Sells &lt;b&gt;snake oil&lt;/b&gt;" in browser.page.text


async def test_one_is_dismissed_and_all_are_cleared(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    for number in range(2):
        await post(bob, f"@{ada.name} number {number}")
    await settle(town)
    await browser.open("/notifications")
    await press(browser, "/dismiss")
    assert len(await ada.get("/api/v1/notifications")) == 1
    await press(browser, "/notifications/clear")
    assert "Nothing yet." in browser.page.text
    assert await ada.get("/api/v1/notifications") == []


async def test_pages_lead_on_and_back(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    for number in range(32):
        await post(bob, f"@{ada.name} number {number}.")
    await settle(town)
    await browser.open("/notifications")
    assert browser.page.text.count('class="notification new"') == 30
    [older] = re.findall(r'rel="next" href="([^"]+)"', browser.page.text)
    await browser.open(f"/notifications{older.replace('&amp;', '&')}")
    assert "number 0." in browser.page.text
    assert browser.page.text.count('class="notification new"') == 2
    [newer] = re.findall(r'rel="prev" href="([^"]+)"', browser.page.text)
    await browser.open(f"/notifications{newer.replace('&amp;', '&')}")
    assert "number 31." in browser.page.text


async def test_who_is_held_back_is_let_through(town: Town, browser: Browser) -> None:
    ada, bob, cleo = await signed_in(town, browser), await join(town), await join(town)
    await browser.open("/notifications/policy")
    await browser.press("/policy", for_not_following="filter")
    assert (await ada.get("/api/v2/notifications/policy"))["for_not_following"] == "filter"
    for one in (bob, cleo):
        await post(one, f"@{ada.name} may I?")
    await settle(town)

    await browser.open("/notifications")
    assert "may I?" not in browser.page.text
    assert "2 people whose notifications are held back" in browser.page.text
    await browser.open("/notifications/requests")
    requests = {one["account"]["id"]: one["id"] for one in await ada.get("/api/v1/notifications/requests")}
    await browser.open(f"/notifications/requests/{requests[bob.id]}")
    assert "may I?" in browser.page.text
    await browser.press("/accept")
    assert browser.path == "/notifications/requests"
    await browser.press("/requests/accept", **{"id[]": requests[cleo.id]})
    await settle(town)
    assert "Nothing is held back." in (await browser.open("/notifications/requests")).text
    assert (await browser.open("/notifications")).text.count("may I?") == 2


async def test_conversations_are_read_and_removed(town: Town, browser: Browser) -> None:
    ada, bob = await signed_in(town, browser), await join(town)
    assert "no private conversations yet" in (await browser.open("/conversations")).text
    await ada.to(bob, "follow")
    await post(bob, f"@{ada.name} just for you", visibility="direct")
    await settle(town)

    await browser.open("/conversations")
    assert "just for you" in browser.page.text
    [found] = await ada.get("/api/v1/conversations")
    assert found["unread"]
    await press(browser, "/read")
    [found] = await ada.get("/api/v1/conversations")
    assert not found["unread"]
    await press(browser, f"/conversations/{found['id']}", _method="DELETE")
    assert await ada.get("/api/v1/conversations") == []


async def test_follow_requests_are_answered(town: Town, browser: Browser) -> None:
    ada, bob, cleo = await signed_in(town, browser), await join(town), await join(town)
    await ada.patch("/api/v1/accounts/update_credentials", json={"locked": True})
    for one in (bob, cleo):
        await one.to(ada, "follow")
    await browser.open("/follow_requests")
    await press(browser, f"/{bob.id}/authorize")
    await press(browser, f"/{cleo.id}/reject")
    assert "Nobody is waiting" in browser.page.text
    assert (await bob.sees(ada))["following"]
    assert not (await cleo.sees(ada))["requested"]


async def test_announcements_stand_above_home_until_dismissed(town: Town, browser: Browser) -> None:
    owner: Member = await employ(town, "owner")
    made = await owner.post("/api/v1/admin/announcements", json={"text": "Cake <b>at</b> noon"})
    ada = await signed_in(town, browser)
    await browser.open("/home")
    assert "Cake &lt;b&gt;at&lt;/b&gt; noon" in browser.page.text
    await press(browser, f"/{made['id']}/reactions/%F0%9F%8E%89", _method="PUT")
    [seen] = await ada.get("/api/v1/announcements")
    assert [(one["name"], one["me"]) for one in seen["reactions"]] == [("🎉", True)]
    await press(browser, f"/{made['id']}/reactions/%F0%9F%8E%89", _method="DELETE")
    await press(browser, f"/{made['id']}/dismiss")
    assert "Cake" not in browser.page.text
    assert "Cake" in (await browser.open("/announcements")).text
    await owner.delete(f"/api/v1/admin/announcements/{made['id']}")


def test_the_page_of_shortcuts_names_what_the_script_does() -> None:
    script = (Path(kith.web.__file__).parent / "static/client/keys.js").read_text()
    keys = script.partition("const KEYS = {")[2].partition("\n};")[0]
    does = set(re.findall(r'^  "?([^\s":]+)"?: ', keys, re.MULTILINE))
    goes = set(re.findall(r"(\w): ", script.partition("const GO = {")[2].partition("};")[0]))
    told = [pressed for _, part in SHORTCUTS for pressed, _ in part]

    assert {last for first, last in (pair for pair in told if len(pair) == 2) if first == "g"} == goes
    assert {pressed[0] for pressed in told if len(pressed) == 1} - {"Escape"} == does


async def test_what_others_write_is_shown_as_they_wrote_it(town: Town, browser: Browser) -> None:
    """And not as HTML: names, texts, warnings."""
    ada, bob = await signed_in(town, browser), await join(town)
    await bob.patch("/api/v1/accounts/update_credentials", json={"display_name": "<script>a</script>{name}"})
    said = await post(ada, "<img src=x onerror=b>", spoiler_text="<i>warned</i>")
    await does(bob, "favourite", said)
    await post(bob, f"@{ada.name} <script>c</script>", visibility="direct")
    await settle(town)
    for path in ("/notifications", "/conversations"):
        text = (await browser.open(path)).text
        assert "<script>a" not in text
        assert "<script>c" not in text
        assert "<i>warned" not in text
    assert "&lt;i&gt;warned&lt;/i&gt;" in (await browser.open("/notifications")).text
    assert "&lt;script&gt;a&lt;/script&gt;{name}" in browser.page.text
