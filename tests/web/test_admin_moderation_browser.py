"""A case of the team in a real browser; the console's pages as such are looked at in test_all_pages."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser as Chrome

from tests.social.members import join
from tests.social.posts import post
from tests.social.staff import employ
from tests.town import Person, Town
from tests.web.chromium import check_day_and_night, opened, sign_in


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_case_is_read_and_closed(town: Town, chrome: Chrome) -> None:
    owner, ada, bob = await employ(town, "owner"), await join(town), await join(town)
    said = await post(bob, "Buy my watches")
    sent = {"account_id": bob.id, "status_ids": [said["id"]], "comment": "An advert", "category": "spam"}
    report = await ada.post("/api/v1/reports", json=sent)
    await owner.post("/api/v1/admin/announcements", json={"text": "Tea at four"})
    async with opened(chrome, town) as page:
        await sign_in(page, Person(town.http, owner.name, f"correct horse {owner.name}"))
        await page.goto("/admin/announcements")
        await check_day_and_night(page)
        await page.goto("/admin/reports")
        await page.locator(f"a[href='/admin/reports/{report['id']}']").click()
        await page.get_by_label("New note").fill("Looks like a robot")
        await page.get_by_role("button", name="Add the note").click()
        await page.get_by_text("Looks like a robot").wait_for()
        await page.get_by_label("Limit", exact=False).check()
        await page.get_by_role("button", name="Do it").click()
        await page.get_by_text("Resolved by").wait_for()
        await check_day_and_night(page)
    assert (await owner.get(f"/api/v1/admin/accounts/{bob.id}"))["silenced"] is True
