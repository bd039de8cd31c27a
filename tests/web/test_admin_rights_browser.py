"""What the console got for the people who run it, walked in a real browser: by day at a desk, by night on a telephone."""

from __future__ import annotations

from playwright.async_api import Browser as Chrome

from tests.social.staff import employ
from tests.town import Person, Town
from tests.web.chromium import check_day_and_night, opened, sign_in

PAGES = (
    "/admin/roles",
    "/admin/roles/community/1",
    "/admin/roles/identity/new?search=user",
    "/admin/invitations/new",
    "/admin/tokens/new",
    "/admin/mails",
    "/admin/mails/strike?language=de",
)


async def test_roles_invitations_tokens_and_mails_are_looked_after(town: Town, chrome: Chrome) -> None:
    boss = await employ(town, "owner")
    async with opened(chrome, town) as page:
        await sign_in(page, Person(town.http, boss.name, f"correct horse {boss.name}"))
        await page.goto("/admin")
        await page.get_by_role("button", name="I make backups of it").click()
        for path in PAGES:
            await page.goto(path)
            await check_day_and_night(page)

        await page.goto("/admin/roles/community/new")
        await page.get_by_label("Name", exact=True).fill("Herald")
        await page.get_by_label("Make announcements").check()
        await page.get_by_role("button", name="Add a role").click()
        await page.get_by_role("link", name="Herald").click()
        assert await page.get_by_label("Make announcements").is_checked()

        await page.goto("/admin/invitations")
        await page.get_by_role("link", name="Make an invitation").click()
        await page.get_by_label("Name (optional)").first.fill("for-bob")
        await page.get_by_role("button", name="Make an invitation").click()
        await page.get_by_text("for-bob").wait_for()
        await check_day_and_night(page)
        await page.get_by_role("button", name="End").click()
        await page.get_by_text("There is no invitation.").wait_for()

        await page.goto("/admin/tokens/new")
        await page.get_by_label("What it is for").fill("Nightly report")
        await page.get_by_role("button", name="Make a token").click()
        await page.get_by_text("it is not shown again").wait_for()
        await page.get_by_role("link", name="Done").click()
        await page.get_by_text("Nightly report").wait_for()
        await check_day_and_night(page)

        await page.goto("/admin/mails/archive_ready")
        await page.get_by_label("Text").fill("Dear {name}, fetch it: {link}")
        await page.get_by_role("button", name="Preview").click()
        await page.get_by_text("Dear ada, fetch it: https://our.example/settings/export").wait_for()
        await page.get_by_label("Text").fill("Dear {friend}, fetch it: {link}")
        await page.get_by_role("button", name="Save changes").click()
        await page.get_by_text("{friend} is not known in this mail").first.wait_for()
        await check_day_and_night(page)
        await page.get_by_label("Text").fill("Dear {name}, fetch it: {link}")
        await page.get_by_role("button", name="Save changes").click()
        await page.get_by_text("Your changes count from now on.").wait_for()
    [mail] = [one for one in await boss.get("/api/v1/admin/mail_texts") if one["name"] == "archive_ready"]
    assert mail["texts"]["en"]["body"] == "Dear {name}, fetch it: {link}"
