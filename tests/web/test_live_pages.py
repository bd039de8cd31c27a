"""What happens while a page is open, in a real browser: posts, edits and deletions arrive, notifications are counted."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from tests.social.members import Member, join, until
from tests.social.posts import does, post, settle
from tests.social.staff import employ
from tests.town import Town, build_town
from tests.web.chromium import check_day_and_night, opened, sign_in
from tests.web.test_client import person


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One database is enough: what is tried here is the pages."""
    async with build_town("sqlite", tmp_path_factory.mktemp("live"), confirm_email="off") as town:
        yield town


async def listening(page: Page, address: str) -> None:
    """On a page that has begun to hear what happens."""
    async with page.expect_response("**/api/v1/streaming/**"):
        await page.goto(address)


async def place_of(page: Page, id: str) -> float:
    """How far from the top of the window a post stands."""
    box = await page.locator(f"#post-{id}").bounding_box()
    assert box is not None
    return box["y"]


async def test_posts_arrive_change_and_go_while_one_reads(chrome: Browser, place: Town) -> None:
    ada, bob = await join(place), await join(place)
    await ada.to(bob, "follow")
    said = [await post(bob, f"number {number}. " + "More words. " * 30) for number in range(12)]
    await settle(place)
    async with opened(chrome, place) as page:
        await sign_in(page, person(ada))
        await listening(page, "/home")
        first = await post(bob, "At the top")
        await expect(page.locator(f"#post-{first['id']}")).to_be_visible()

        read = said[5]["id"]
        await page.locator(f"#post-{read}").scroll_into_view_if_needed()
        before = await place_of(page, read)
        await post(bob, "While you read")
        await expect(page.get_by_role("button", name="Show 1 new post")).to_be_visible()
        gone = await post(bob, "Soon gone")
        await expect(page.get_by_role("button", name="Show 2 new posts")).to_be_visible()
        await bob.delete(f"/api/v1/statuses/{gone['id']}")
        await expect(page.get_by_role("button", name="Show 1 new post")).to_be_visible()
        assert await place_of(page, read) == before

        await bob.does("PUT", f"/api/v1/statuses/{read}", json={"status": "Written anew"})
        await expect(page.locator(f"#post-{read}")).to_contain_text("Written anew")
        await bob.delete(f"/api/v1/statuses/{read}")
        await expect(page.locator(f"#post-{read}")).to_have_count(0)

        await page.get_by_role("button", name="Show 1 new post").click()
        await expect(page.locator("#feed .post").first).to_contain_text("While you read")
        await expect(page.locator("#feed .post").first).to_be_focused()
        assert "Soon gone" not in await page.locator("#feed").inner_text()

        await listening(page, "/tags/garden")
        tagged = await post(bob, "Tomatoes #garden")
        await expect(page.locator(f"#post-{tagged['id']}")).to_be_visible()


async def test_what_was_missed_is_caught_up_with(chrome: Browser, place: Town) -> None:
    """A page that the browser kept while another was looked at."""
    ada, bob = await join(place), await join(place)
    await ada.to(bob, "follow")
    await post(bob, "Before")
    await settle(place)
    async with opened(chrome, place) as page:
        await sign_in(page, person(ada))
        await listening(page, "/home")
        await page.evaluate("window.dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true}))")
        await post(bob, "Meanwhile")
        await settle(place)
        await expect(page.locator("#feed .post")).to_have_count(1)
        await page.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
        await expect(page.locator("#feed .post").first).to_contain_text("Meanwhile")


async def test_announcements_and_reactions_arrive(chrome: Browser, place: Town) -> None:
    owner, ada = await employ(place, "owner"), await join(place)
    made = await owner.post("/api/v1/admin/announcements", json={"text": "Tea at five"})
    reaction = f"/api/v1/announcements/{made['id']}/reactions/☕"
    await owner.does("PUT", reaction)
    async with opened(chrome, place) as page:
        await sign_in(page, person(ada))
        await listening(page, "/home")
        shown = page.locator(f"#announcement-{made['id']}")
        await expect(shown.locator(".count")).to_have_text("1")
        await ada.does("PUT", reaction)
        await expect(shown.locator(".count")).to_have_text("2")
        other = await owner.post("/api/v1/admin/announcements", json={"text": "Cake at six"})
        await expect(page.get_by_role("link", name="There is a new announcement")).to_be_visible()
        for one in (made, other):
            await owner.delete(f"/api/v1/admin/announcements/{one['id']}")
        await expect(shown).to_have_count(0)


async def test_keys_lead_from_post_to_post_and_do_something_with_them(chrome: Browser, place: Town) -> None:
    ada, bob = await join(place), await join(place)
    await ada.to(bob, "follow")
    older, newer = await post(bob, "The older one"), await post(bob, "The newer one")
    await settle(place)
    async with opened(chrome, place) as page:
        await sign_in(page, person(ada))
        await page.goto("/home")
        for key, at in (("j", newer), ("j", older), ("j", older), ("k", newer), ("1", newer), ("j", older)):
            await page.keyboard.press(key)
            await expect(page.locator(f"#post-{at['id']}")).to_be_focused()
        for key, act in (("f", "favourite"), ("d", "bookmark")):
            async with page.expect_response(f"**/api/v1/statuses/{older['id']}/{act}"):
                await page.keyboard.press(key)
        for keys, address in (
            ("gn", "/notifications"),
            ("gd", "/conversations"),
            ("gu", f"/@{ada.name}"),
            ("?", "/keyboard-shortcuts"),
        ):
            for key in keys:
                await page.keyboard.press(key)
            await page.wait_for_url(f"**{address}")
        await page.keyboard.press("Alt+n")
        await page.wait_for_url("**/publish")
        await page.get_by_label("Text", exact=True).press("Alt+x")
        await expect(page.locator("#compose-warning")).to_be_focused()
    seen = await ada.get(f"/api/v1/statuses/{older['id']}")
    assert (seen["favourited"], seen["bookmarked"]) == (True, True)


async def test_notifications_are_counted_listed_and_read(chrome: Browser, place: Town) -> None:
    ada, bob = await join(place), await join(place)
    said = await post(ada, "Look at this")
    async with opened(chrome, place) as page:
        await sign_in(page, person(ada))
        await listening(page, "/keyboard-shortcuts")
        badge = page.locator("#unread")
        await expect(badge).to_be_hidden()
        await does(bob, "favourite", said)
        await expect(badge).to_have_text("1 unread")

        async with page.expect_response("**/api/v1/markers"):
            await listening(page, "/notifications")
        await expect(badge).to_be_hidden()
        async with page.expect_response("**/api/v1/markers"):
            await post(bob, f"@{ada.name} and this?")
        await expect(page.locator("#notices")).to_contain_text("and this?")
        await check_day_and_night(page)
        assert await ada.get("/api/v2/notifications/unread_count") == {"count": 0}

        rows = page.locator(".notification")
        await expect(rows).to_have_count(2)
        await rows.last.get_by_role("button", name="Dismiss this notification").click()
        await expect(rows).to_have_count(1)


async def test_with_something_on_them_pages_are_without_barriers(chrome: Browser, place: Town) -> None:
    owner = await employ(place, "owner")
    await owner.post("/api/v1/admin/announcements", json={"text": "Cake at noon"})
    ada, bob, cleo = await join(place), await join(place), await join(place)
    await filled(ada, bob, cleo)
    await settle(place)
    async with opened(chrome, place) as page:
        await sign_in(page, person(ada))
        for path in ("/home", "/follow_requests", "/conversations"):
            await page.goto(path)
            await check_day_and_night(page)
        await page.locator(".conversation .when a").click()
        await page.wait_for_url("**/@*/*")

        async def is_read() -> bool:
            [conversation] = await ada.get("/api/v1/conversations")
            return not conversation["unread"]

        await until(is_read)


async def filled(ada: Member, bob: Member, cleo: Member) -> None:
    """Something on every page."""
    await ada.patch("/api/v1/accounts/update_credentials", json={"locked": True})
    await ada.to(bob, "follow")
    await bob.to(ada, "follow")
    await post(bob, f"@{ada.name} just for you", visibility="direct")
    await ada.patch("/api/v2/notifications/policy", json={"for_not_following": "filter"})
    await post(cleo, f"@{ada.name} may I?")
