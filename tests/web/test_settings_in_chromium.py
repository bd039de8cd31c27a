"""The settings in a real browser, with something on them, and what scripts add to them."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser as Chrome

from tests.social.members import join
from tests.town import Town
from tests.web.chromium import check, opened, sign_in
from tests.web.test_client import person

# With something on them, unlike in the table of all pages.
PARTS = ("", "/filters", "/mutes", "/blocks", "/domain_blocks")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_settings_have_no_barriers(town: Town, chrome: Chrome) -> None:
    ada, bob = await join(town), await join(town)
    await ada.to(bob, "mute", duration=3600)
    await ada.to(bob, "block")
    await ada.post("/api/v1/domain_blocks", json={"domain": "loud.example"})
    await ada.post(
        "/api/v2/filters", json={"title": "Spoons", "context": ["home"], "keywords_attributes": [{"keyword": "spoon"}]}
    )
    async with opened(chrome, town) as page:
        await sign_in(page, person(ada))
        for part in PARTS:
            await page.goto(f"/settings{part}")
            await check(page)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_preview_follows_what_is_typed(town: Town, chrome: Chrome) -> None:
    ada = await join(town)
    async with opened(chrome, town) as page:
        await sign_in(page, person(ada))
        await page.goto("/settings/profile")
        await page.get_by_label("Name that others see").fill("<b>Ada</b>")
        assert await page.locator('[data-preview="display_name"]').inner_text() == "<b>Ada</b>"
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_text("Saved.").wait_for()
        assert await page.locator('[data-preview="display_name"]').inner_text() == "<b>Ada</b>"
