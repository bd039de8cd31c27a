"""Whoever looks at an API can try it, with their password, with a token, or by signing in."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from tests.town import Town, build_town
from tests.web.chromium import opened, sign_in

PATIENCE = 120_000  # the viewer has a lot to draw, and both cores may be busy with other tests


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One database is enough: what is tried here is the page."""
    async with build_town("sqlite", tmp_path_factory.mktemp("viewer"), confirm_email="off") as town:
        yield town


async def _try(page: Page, operation: str) -> None:
    """Open an operation, have it executed, and see that it was."""
    block = page.locator(f"#{operation}")
    await block.locator(".opblock-summary-control").click()
    await block.get_by_role("button", name="Execute").click()
    await expect(block.locator(".live-responses-table tbody .response-col_status").first).to_contain_text("200")


async def test_the_social_api_can_be_tried(chrome: Browser, place: Town) -> None:
    owner = await place.owner()
    async with opened(chrome, place) as page:
        await sign_in(page, owner)
        await page.goto("/api/v2/docs")
        await page.locator("button.authorize").click(timeout=PATIENCE)
        async with page.expect_popup() as opening:
            await (
                page.locator(".auth-container")
                .filter(has_text="OAuth")
                .get_by_role("button", name="Apply given OAuth2 credentials")
                .click()
            )
        popup = await opening.value
        async with popup.expect_event("close"):
            await popup.get_by_role("button", name="Allow").click()
        await page.get_by_role("button", name="Close").last.click()
        await page.get_by_text("Accounts", exact=True).first.click()
        await _try(page, "operations-Accounts-get_api_v1_accounts_verify_credentials")


@pytest.mark.whole
async def test_the_identity_api_can_be_tried_with_a_password(chrome: Browser, place: Town) -> None:
    """Its description is so long that the viewer needs half a minute of a core for it."""
    owner = await place.owner()
    async with opened(chrome, place) as page:
        await sign_in(page, owner)
        await page.goto("/api/v2/docs")
        await page.get_by_role("combobox").first.select_option(label="Identity API")
        await expect(page.get_by_role("heading", name="Kith identity API")).to_be_visible(timeout=PATIENCE)
        await page.locator("button.authorize").click(timeout=PATIENCE)
        await page.get_by_label("Username").fill(owner.username)
        await page.get_by_label("Password").fill(owner.password)
        await page.get_by_label("Apply credentials").first.click()
        await page.get_by_role("button", name="Close").last.click()
        await page.get_by_text("core", exact=True).first.click()
        await _try(page, "operations-core-core_users_me")


async def test_the_files_of_the_viewer_are_our_own_and_kept_for_good(place: Town) -> None:
    page = await place.http.get("/api/docs")

    policy = page.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "//" not in policy
    addresses = [part.partition('"')[0] for part in page.text.split('src="')[1:]]
    assert len(addresses) == 3
    for address in addresses:
        answer = await place.http.get(address)
        assert (answer.status_code, "immutable" in answer.headers["cache-control"]) == (200, True)
    for wrong in (
        "/api/docs/x/package.json",
        "/api/docs/index.html",
        "/api/docs/../x",
        "/api/docs/x/oauth2-redirect.css",
    ):
        assert (await place.http.get(wrong)).status_code == 404
