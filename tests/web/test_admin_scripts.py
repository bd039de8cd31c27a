"""The console's pages for applications and signing in, in a real browser."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from tests.identity.records import make, owner_of, results
from tests.town import Person, Town, build_town
from tests.web.chromium import check_day_and_night, give_password, opened

FLOW = "/admin/flows/default-authentication-flow"


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One database is enough: what is tried here is the pages."""
    async with build_town("sqlite", tmp_path_factory.mktemp("console"), confirm_email="off") as town:
        yield town


@pytest.fixture(scope="module")
async def owner(place: Town) -> Person:
    return await owner_of(place)


async def sign_in(page: Page, person: Person) -> None:
    await give_password(page, person)
    await page.wait_for_url(lambda url: "/flows/" not in url)


async def names(page: Page) -> list[str]:
    return [(await one.inner_text()).split(" ")[1] for one in await page.locator(".flow .step h3").all()]


async def test_the_pages_have_no_barriers(chrome: Browser, place: Town, owner: Person) -> None:
    source = await make(owner, "/sources/scim/", name="Payroll", slug="payroll")
    [mapping] = await results(owner, "/propertymappings/scope/", scope_name="profile")
    async with opened(chrome, place) as page:
        await sign_in(page, owner)
        await page.goto("/admin/applications")
        await page.get_by_role("link", name="Add an application").click()
        await check_day_and_night(page)
        await page.get_by_role("link", name="Nextcloud").click()
        await page.get_by_label("Name", exact=True).fill("Files")
        await page.get_by_label("Address of the service").fill("https://cloud.example.org")
        await check_day_and_night(page)
        await page.get_by_role("button", name="Add and show the settings").click()
        await page.get_by_text("Files is added.").wait_for()
        await expect(page.get_by_role("button", name="Copy 2.")).to_be_visible()
        await page.get_by_label("User name", exact=True).last.fill(owner.username)
        await page.get_by_role("button", name="Try it").click()
        await page.get_by_text(f"{owner.username} may enter.").wait_for()
        await check_day_and_night(page)
        for path in (
            "/admin/applications",
            "/admin/certificates",
            "/admin/flows",
            "/admin/sources",
            f"/admin/sources/scim/{source['pk']}",
            f"/admin/records/propertymappings/scope/{mapping['pk']}",
        ):
            await page.goto(path)
            await check_day_and_night(page)


async def test_an_editor_marks_the_line_that_is_wrong(chrome: Browser, place: Town, owner: Person) -> None:
    async with opened(chrome, place) as page:
        await sign_in(page, owner)
        await page.goto("/admin/records/policies/expression/new")
        await page.locator("#f-name").fill("wrong")
        await page.get_by_label("Expression", exact=True).fill("a = 1\nif a")
        await page.get_by_role("button", name="Add", exact=True).click()
        await expect(page.locator(".numbers .bad")).to_have_text("2")
        await expect(page.get_by_label("Expression", exact=True)).to_be_focused()
        await check_day_and_night(page)
        await page.get_by_label("Expression", exact=True).fill("if user is not None:")
        await page.get_by_label("Expression", exact=True).press("End")
        await page.get_by_label("Expression", exact=True).press("Enter")
        assert await page.get_by_label("Expression", exact=True).input_value() == "if user is not None:\n    "
        await page.get_by_label("Expression", exact=True).press_sequentially("return True")
        await page.get_by_role("button", name="Try it").click()
        await page.get_by_text("The policy does not pass.").wait_for()


async def test_a_flow_is_edited_by_dragging_and_keys_and_the_next_sign_in_changes(
    chrome: Browser, place: Town, owner: Person
) -> None:
    person = await place.sign_up("dragged")
    await make(owner, "/stages/deny/", name="closed-today")
    async with opened(chrome, place) as page, opened(chrome, place) as other:
        await sign_in(page, owner)
        await page.goto(FLOW)
        await page.get_by_label("Stage", exact=True).select_option(label="closed-today (turns people away)")
        await (
            page.locator("section", has=page.get_by_role("heading", name="Add a stage"))
            .get_by_role("button", name="Add", exact=True)
            .click()
        )
        await expect(page.locator(".flow .step").last).to_contain_text("closed-today")
        before = await names(page)
        await page.locator(".flow .step").last.press("Alt+ArrowUp")
        await expect(page.locator(".flow .step").nth(len(before) - 2)).to_contain_text("closed-today")
        await expect(page.locator(".flow .step").nth(len(before) - 2)).to_be_focused()
        await page.set_viewport_size({"width": 1280, "height": 2400})
        await page.locator(".flow .step h3", has_text="closed-today").hover()
        await page.mouse.down()
        for height in (9, 5):  # a browser says where something is held over only after the second move
            await page.locator(".flow .step").first.hover(position={"x": 40, "y": height})
        await page.mouse.up()
        await expect(page.locator(".flow .step").first).to_contain_text("closed-today")
        assert await names(page) == ["closed-today", *before[:-1]]
        await check_day_and_night(page)

        await other.goto("/flows/-/default/authentication/")
        await expect(other.get_by_label("User name or e-mail address")).to_have_count(0)
        await page.get_by_role("button", name="Remove closed-today").click()
        await expect(page.locator(".flow .step", has_text="closed-today")).to_have_count(0)
        await sign_in(other, person)

        await page.locator("#f-user").fill("dragged")
        await page.get_by_role("button", name="Rehearse").click()
        await page.get_by_text("They can use this flow.").wait_for()
        await check_day_and_night(page)
