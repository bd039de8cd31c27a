"""A walk through the console for people in a real browser; its pages as such are looked at in test_all_pages."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser as Chrome
from playwright.async_api import expect

from tests.town import Town, build_town
from tests.web.chromium import check_day_and_night, opened, sign_in


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """What is looked at here does not depend on the database."""
    async with build_town("sqlite", tmp_path_factory.mktemp("people")) as built:
        yield built


async def test_the_menu_waits_until_it_is_wanted_on_a_phone(place: Town, chrome: Chrome) -> None:
    owner = await place.owner()
    async with opened(chrome, place, viewport={"width": 360, "height": 740}, java_script_enabled=False) as page:
        await sign_in(page, owner)
        await page.goto("/staff/signups/")
        menu = page.get_by_role("navigation", name="Console")
        await expect(page.get_by_role("heading", name="Sign-ups")).to_be_in_viewport()
        await expect(menu).to_be_hidden()
        await page.get_by_role("link", name="Menu", exact=True).click()
        await menu.get_by_role("link", name="Jobs").click()
        await expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_in_viewport()


async def test_people_are_found_looked_at_and_acted_on(place: Town, chrome: Chrome) -> None:
    owner = await place.owner()
    for name in ("walk_ada", "walk_bob"):
        await place.sign_up(name)
    async with opened(chrome, place) as page:
        await sign_in(page, owner)
        await page.goto("/admin")
        await page.get_by_role("navigation", name="Console").get_by_role("link", name="People", exact=True).click()
        await page.get_by_label("Name, user name or e-mail address").fill("walk_")
        await page.get_by_role("button", name="Show", exact=True).click()
        await page.get_by_role("link", name="walk_ada").click()
        for tab in ("Signing in", "Groups and applications", "Posts and reports", "What they did"):
            await page.get_by_role("navigation", name="About this person").get_by_role("link", name=tab).click()
        await page.goto("/admin/people?search=walk_")
        await page.get_by_label("Choose walk_ada").check()
        await page.get_by_label("Choose walk_bob").check()
        await page.get_by_label("With the people chosen above").select_option("disable")
        await page.get_by_role("button", name="See what will happen").click()
        await check_day_and_night(page)
        await page.get_by_role("button", name="Do it to 2 people").click()
        await page.get_by_text("Done for 2 people.").wait_for()
        await page.goto("/admin/people?origin=remote")
        await check_day_and_night(page)
