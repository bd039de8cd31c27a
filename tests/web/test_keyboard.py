"""Keys alone are enough to sign in, read, answer and post; one always sees where the focus is, and nothing keeps it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from itertools import groupby

import pytest
from playwright.async_api import Browser, Page, expect

from tests.social.posts import settle
from tests.town import Person, build_town
from tests.web.by_keyboard import focus, see_focus, tab_to, walk
from tests.web.chromium import opened, sign_in
from tests.web.scenery import Scenery, build_scenery, person_of

WALKED = (
    "/home",
    "/publish",
    "/@{bob}",
    "/@{bob}/{post}",
    "/notifications",
    "/search?q=garden",
    "/settings/profile",
    "/settings/security",
)
WALKED_BY_OWNERS = ("/admin", "/admin/people", "/admin/flows/default-password-change", "/admin/reports/{report}")


@pytest.fixture(scope="module")
async def scenery(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scenery]:
    """One database is enough: what is tried here is the pages."""
    async with build_town("sqlite", tmp_path_factory.mktemp("keyboard")) as town:
        yield await build_scenery(town)


async def sign_in_by_keys(page: Page, person: Person) -> None:
    await page.goto("/about")
    await tab_to(page, "Sign in")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/flows/**")
    for label, words in (("User name or e-mail address", person.username), ("Password", person.password)):
        await page.get_by_label(label, exact=True).wait_for()
        at = await focus(page)
        if at is None or at["name"] != label:
            await tab_to(page, label)
        await page.keyboard.type(words)
        await page.keyboard.press("Enter")
    await page.wait_for_url(re.compile(r"//[^/]+/$"))


async def test_reading_and_answering(chrome: Browser, scenery: Scenery) -> None:
    ada = scenery.ada
    async with opened(chrome, scenery.town) as page:
        await sign_in_by_keys(page, person_of(ada))
        await page.keyboard.press("g")
        await page.keyboard.press("h")
        await page.wait_for_url("**/home")
        await page.wait_for_load_state()

        await page.keyboard.press("Tab")
        assert (await see_focus(page))["name"] == "Skip to the content"
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        assert (await see_focus(page))["region"] == "MAIN"
        await page.keyboard.press("Escape")

        posts = page.locator(".post")
        await page.keyboard.press("j")
        await expect(posts.nth(0)).to_be_focused()
        await page.keyboard.press("j")
        await page.keyboard.press("k")
        await expect(posts.nth(0)).to_be_focused()
        walked = posts.filter(has_text="A walk along the river")
        while not await walked.evaluate("one => one === document.activeElement"):
            await page.keyboard.press("j")
            await see_focus(page)
        id = await walked.get_attribute("data-id")
        await page.keyboard.press("f")
        await expect(walked.locator("button.favourite")).to_have_attribute("aria-pressed", "true")
        await tab_to(page, "Boost")
        await page.keyboard.press("Enter")
        await expect(walked.locator("button.boost")).to_have_attribute("aria-pressed", "true")
        await expect(page.locator("[data-busy]")).to_have_count(0)
        said = await ada.get(f"/api/v1/statuses/{id}")
        assert (said["favourited"], said["reblogged"]) == (True, True)

        await tab_to(page, "More")
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        assert (await see_focus(page))["name"] == "Open this post"
        await page.keyboard.press("Escape")
        assert (await see_focus(page))["name"] == "More"
        await expect(page.locator("details.menu[open]")).to_have_count(0)

        await page.keyboard.press("r")
        await expect(page.locator(".answering textarea[name=status]")).to_be_focused()
        await page.keyboard.type("Well said, by keys")
        await page.keyboard.press("Control+Enter")
        answer = page.locator(".post").filter(has_text="Well said, by keys")
        await expect(answer).to_be_focused()
        await see_focus(page)
        await page.keyboard.press("Enter")
        await page.wait_for_url(f"**/@{ada.name}/*")
        told = await ada.get(f"/api/v1/statuses/{page.url.rsplit('/', 1)[1]}")
        assert told["in_reply_to_id"] == id


async def test_writing(chrome: Browser, scenery: Scenery) -> None:
    ada = scenery.ada
    async with opened(chrome, scenery.town) as page:
        await sign_in(page, person_of(ada))
        await page.goto("/home")
        await page.keyboard.press("n")
        await expect(page.locator("#compose-text")).to_be_focused()
        await see_focus(page)
        await page.keyboard.type("Written with no mouse @bo")
        suggestions = page.locator(".suggestions li")
        await expect(suggestions.first).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(suggestions.first).to_be_hidden()
        await expect(page.locator("#compose-text")).to_be_focused()
        for _ in range(4):
            await page.keyboard.press("Backspace")

        await tab_to(page, "Emoji")
        await page.keyboard.press("Enter")
        picker = page.locator("dialog.emoji-picker")
        await expect(picker.get_by_role("searchbox")).to_be_focused()
        await expect(picker.locator(".emoji-grid button").first).to_be_visible()
        for _ in range(8):  # round and round, but never to the page behind it
            await page.keyboard.press("Tab")
            at = await focus(page)
            assert at is None or at["region"] == "DIALOG", at
        await page.keyboard.press("Escape")
        await expect(picker).to_have_count(0)
        await expect(page.locator("#compose-text")).to_be_focused()

        await tab_to(page, "More options")
        await page.keyboard.press("Enter")
        await page.locator("#compose-warning").wait_for()
        await expect(page.locator("#compose-text")).to_be_focused()
        await tab_to(page, "Content warning (optional)", back=True)
        await page.keyboard.type("Keys")
        await tab_to(page, "Who may see this")
        await page.keyboard.type("Fol")
        await tab_to(page, "Post")
        await page.keyboard.press("Enter")
        written = page.locator(".post").filter(has_text="Written with no mouse").first
        await expect(written).to_be_attached()
        told = await ada.get(f"/api/v1/statuses/{await written.get_attribute('data-id')}")
        assert (told["spoiler_text"], told["visibility"]) == ("Keys", "private")
        assert "Written with no mouse" in told["content"]


async def test_a_picture_is_looked_at_and_left(chrome: Browser, scenery: Scenery) -> None:
    async with opened(chrome, scenery.town) as page:
        await sign_in(page, person_of(scenery.ada))
        await page.goto(scenery.filled("/@{bob}/media"))
        picture = page.locator("a[data-view]").first
        for _ in range(60):
            await page.keyboard.press("Tab")
            if await picture.evaluate("one => one === document.activeElement"):
                break
        await see_focus(page)
        await page.keyboard.press("Enter")
        await expect(page.locator("dialog.viewer").get_by_label("Close")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.locator("dialog.viewer")).to_have_count(0)
        await expect(picture).to_be_focused()


@pytest.mark.parametrize(("who", "addresses"), [("ada", WALKED), ("owner", WALKED_BY_OWNERS)], ids=["ada", "owner"])
async def test_tab_leads_through_every_part_of_a_page_once(
    chrome: Browser, scenery: Scenery, who: str, addresses: tuple[str, ...]
) -> None:
    async with opened(chrome, scenery.town) as page:
        await sign_in(page, scenery.owner if who == "owner" else person_of(scenery.ada))
        for address in addresses:
            await page.goto(scenery.filled(address))
            stops = await walk(page)
            parts = [part for part, _ in groupby(stop["region"] for stop in stops)]
            assert len(parts) == len(set(parts)), f"the focus jumps on {address}: {parts}"
            assert parts[:3] == ["A", "HEADER", "NAV"], address
            assert "MAIN" in parts, address
            assert who == "owner" or parts[-1] == "ASIDE", (address, parts, stops[-1])


async def test_without_scripts(chrome: Browser, scenery: Scenery) -> None:
    ada = scenery.ada
    async with opened(chrome, scenery.town, java_script_enabled=False) as page:
        await sign_in_by_keys(page, person_of(ada))
        await page.goto("/home")
        await tab_to(page, "Favourite")
        async with page.expect_navigation():
            await page.keyboard.press("Enter")
        await page.goto("/publish")
        await expect(page.locator("textarea:focus")).to_be_visible()  # a page gets its focus a moment after it is there
        at = await focus(page)
        assert at is not None
        assert at["name"] == "Text"
        await page.keyboard.type("Neither mouse nor script")
        await tab_to(page, "Content warning (optional)", back=True)
        await page.keyboard.type("Plain")
        await tab_to(page, "Who may see this")
        await page.keyboard.type("Fol")
        await tab_to(page, "Post")
        await page.keyboard.press("Enter")
        await page.get_by_text("Neither mouse nor script").first.wait_for(state="attached")
        await settle(scenery.town)
        [told, *_] = await ada.get(f"/api/v1/accounts/{ada.id}/statuses")
        assert (told["spoiler_text"], told["visibility"]) == ("Plain", "private")
