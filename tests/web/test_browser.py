"""The pages in a real browser: with scripts and without, by day and by night, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from tests.town import Person, Town, build_town
from tests.web.chromium import check, check_everywhere, opened, sign_in


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One database is enough: what is tried here is the pages."""
    async with build_town("sqlite", tmp_path_factory.mktemp("browser"), confirm_email="off") as town:
        yield town


@pytest.fixture(scope="module")
async def ada(place: Town) -> Person:
    return await place.sign_up("ada")


@pytest.mark.parametrize("scripts", [True, False])
async def test_a_person_signs_up_in_changes_their_password_and_leaves(
    chrome: Browser, place: Town, scripts: bool
) -> None:
    name = f"grace{int(scripts)}"
    async with opened(chrome, place, java_script_enabled=scripts) as page:
        await page.goto("/")
        await page.get_by_role("link", name="Sign up").click()
        await page.get_by_label("User name").fill(name)
        await page.get_by_label("E-mail address").fill(f"{name}@example.org")
        await page.get_by_label("Password", exact=True).fill("a fine one 77")
        await page.get_by_label("Repeat password").fill("a fine one 77")
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_text(f"You are signed in as {name}.").wait_for()

        await page.get_by_role("link", name="Settings").click()
        await page.locator("main").get_by_role("link", name="Security").click()
        await page.get_by_role("link", name="Change password").click()
        await page.get_by_label("Password", exact=True).fill("a fine one 77")
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_label("Repeat password").wait_for()
        await page.get_by_label("Password", exact=True).fill("another one 88")
        await page.get_by_label("Repeat password").fill("another one 88")
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_role("heading", name="Security").wait_for()

        await page.get_by_label("What is the app password for?").fill("Mail")
        await page.get_by_role("button", name="Create app password").click()
        assert (await page.locator("code.key").inner_text()).startswith("kith_")

        await page.get_by_role("button", name="Sign out").click()
        await page.get_by_role("link", name="Sign in").click()
        await page.get_by_label("User name or e-mail address").fill(name)
        await page.keyboard.press("Enter")
        await page.get_by_label("Password").fill("another one 88")
        await page.keyboard.press("Enter")
        await page.get_by_text(f"You are signed in as {name}.").wait_for()

        await page.goto("/settings/security")
        await page.get_by_role("link", name="Delete my account").click()
        await page.get_by_label("Password").fill("another one 88")
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_role("button", name="Delete my account").click()
        await page.get_by_role("link", name="Sign in").wait_for()


@pytest.mark.parametrize("scripts", [True, False])
async def test_the_first_field_and_the_first_error_have_the_focus(
    chrome: Browser, place: Town, ada: Person, scripts: bool
) -> None:
    async with opened(chrome, place, java_script_enabled=scripts) as page:
        await page.goto("/flows/default-authentication-flow/")
        await expect(page.get_by_label("User name or e-mail address")).to_be_focused()
        await page.keyboard.type(ada.username)
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("Password")).to_be_focused()
        await page.keyboard.type("wrong")
        await page.keyboard.press("Enter")
        await page.get_by_text("Invalid password").wait_for()

        field = page.get_by_label("Password")
        await expect(field).to_be_focused()
        assert await field.get_attribute("aria-invalid") == "true"
        described = await field.get_attribute("aria-describedby") or ""
        assert "Invalid password" in await page.locator(f"#{described.strip()}").inner_text()
        await page.keyboard.type(ada.password)
        await page.keyboard.press("Enter")
        await page.get_by_text("You are signed in as ada.").wait_for()


async def test_axe_finds_nothing_on_the_way_in(chrome: Browser, place: Town, ada: Person) -> None:
    """Pages that have no address of their own; the others are looked at in test_all_pages."""
    async with opened(chrome, place) as page:
        for path in ("/flows/default-unenrollment-flow/", place.setup_link()):
            await page.goto(path)
            await check_everywhere(page)
        await page.goto("/flows/default-authentication-flow/")
        await page.get_by_label("User name or e-mail address").fill(ada.username)
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_label("Password").wait_for()
        await check_everywhere(page)
        await page.get_by_label("Password").fill("wrong")
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_text("Invalid password").wait_for()
        await check_everywhere(page)
    async with opened(chrome, place) as page:
        await sign_in(page, ada)
        await page.goto("/settings/security")
        await page.get_by_label("What is the app password for?").fill("Mail on my phone")
        await page.get_by_role("button", name="Create app password").click()
        await page.locator("code.key").wait_for()
        await check_everywhere(page)


async def test_axe_finds_nothing_on_pages_for_staff(chrome: Browser, place: Town) -> None:
    owner = await place.owner()
    flow = (await owner.get("/api/v2/flows/instances/", params={"slug": "default-password-change"})).json()["results"][
        0
    ]
    policy = await owner.call("POST", "/api/v2/policies/expression/", json={"expression": 'print("x")\nreturn True'})
    bound = {"target": flow["pbm_uuid"], "policy": policy.json()["pk"], "order": 0}
    await owner.call("POST", "/api/v2/policies/bindings/", json=bound)
    async with opened(chrome, place) as page:
        await page.goto("/flows/default-password-change/")
        await page.get_by_text("Give it to the administrators").wait_for()
        await check_everywhere(page)
        await sign_in(page, owner)
        for path in ("/staff/policies/", "/staff/refusals/?code=x", "/staff/refusals/"):  # with something on them
            await page.goto(path)
            await check_everywhere(page)
        await page.locator(".rows a").first.click()
        await page.get_by_role("heading", name="Denied access ").wait_for()
        await check_everywhere(page)
        for path in ("/staff/flows/default-password-change/", f"/staff/policies/{policy.json()['pk']}/"):
            await page.goto(path)
            await page.get_by_label("User name").fill(owner.username)
            await page.get_by_role("button", name="Test").click()
            await page.locator(".notice.success").wait_for()
            await check_everywhere(page)


@pytest.mark.parametrize("scripts", [True, False])
async def test_an_owner_sees_it_as_somebody_else_and_ends_it(
    chrome: Browser, place: Town, ada: Person, scripts: bool
) -> None:
    owner = await place.owner()
    banner = f"You are {owner.username} and are viewing this server as {ada.username}."
    async with opened(chrome, place, java_script_enabled=scripts) as page:
        await sign_in(page, owner)
        await page.goto("/settings/security")
        await page.get_by_role("link", name="View as another person").click()
        await page.get_by_label("User name").fill("nobody-at-all")
        await page.get_by_label("Reason").fill("They asked")
        await page.get_by_role("button", name="View as this person").click()
        await expect(page.get_by_label("User name")).to_be_focused()
        if scripts:
            await check(page)
        await page.get_by_label("User name").fill(ada.username)
        await page.get_by_role("button", name="View as this person").click()
        await page.get_by_text(f"You are signed in as {ada.username}.").wait_for()
        for path in ("/", "/settings/security", "/nothing-here"):
            await page.goto(path)
            await page.get_by_text(banner).wait_for()
            if scripts:
                await check(page)
        await (
            page.get_by_role("region", name="Viewing as another person")
            .get_by_role("button", name="Stop viewing")
            .click()
        )
        await page.get_by_text(f"You are signed in as {owner.username}.").wait_for()
        await expect(page.get_by_text(banner)).to_have_count(0)


@pytest.mark.parametrize("scripts", [True, False])
async def test_sessions_keys_and_factors_are_looked_after(chrome: Browser, place: Town, scripts: bool) -> None:
    grace = await place.sign_up()
    async with (
        opened(chrome, place, java_script_enabled=scripts) as here,
        opened(chrome, place, user_agent="Mozilla/5.0 (Windows) Firefox/140.0") as there,
    ):
        await sign_in(here, grace)
        await sign_in(there, grace)
        await here.goto("/flows/default-authenticator-static-setup/?next=/settings/security")
        await here.get_by_role("button", name="I have saved them").click()
        factors = here.get_by_role("region", name="Two-factor sign-in")
        await factors.get_by_text("Rename").first.click()
        await factors.get_by_label("New name").fill("Paper in the drawer")
        await factors.get_by_role("button", name="Rename").click()
        await factors.get_by_text("Paper in the drawer").wait_for()
        if scripts:
            await check(here)
        await factors.get_by_role("button", name="Remove").click()
        await here.get_by_text("The sign-in method was removed.").wait_for()

        row = here.get_by_role("listitem").filter(has_text="Firefox on Windows")
        await row.get_by_role("button", name="End session").click()
        await here.get_by_text("The session was ended.").wait_for()
        await there.goto("/settings/security")
        await there.get_by_label("User name or e-mail address").wait_for()

        await here.get_by_label("Language").select_option("de")
        await here.get_by_role("button", name="Change language").click()
        await here.get_by_role("heading", name="Sicherheit").wait_for()
        assert await here.locator("html").get_attribute("lang") == "de"
        if scripts:
            await check(here)


async def test_a_password_is_shown_by_keyboard_and_sent_hidden(chrome: Browser, place: Town, ada: Person) -> None:
    async with opened(chrome, place) as page:
        await page.goto("/flows/default-authentication-flow/")
        await page.get_by_label("User name or e-mail address").fill(ada.username)
        await page.keyboard.press("Enter")
        field = page.get_by_label("Password")
        await field.fill("wrong")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("button", name="Show password")).to_be_focused()
        await page.keyboard.press("Space")
        assert await field.get_attribute("type") == "text"
        await expect(page.get_by_role("button", name="Hide password")).to_be_focused()
        await check(page)
        await page.keyboard.press("Enter")
        assert await field.get_attribute("type") == "password"
    async with opened(chrome, place, java_script_enabled=False) as page:
        await page.goto("/flows/default-authentication-flow/")
        await page.get_by_label("User name or e-mail address").fill(ada.username)
        await page.keyboard.press("Enter")
        await page.get_by_label("Password").wait_for()
        await expect(page.get_by_role("button", name="Show password")).to_have_count(0)


async def test_a_browser_does_the_work_of_a_captcha(chrome: Browser, place: Town) -> None:
    owner = await place.owner()
    flow = {"name": "Work", "slug": "toil", "title": "Work", "designation": "stage_setup"}
    made = (await owner.call("POST", "/api/v2/flows/instances/", json=flow)).json()
    stages = (
        ("captcha", {"name": "work", "public_key": "pow", "private_key": "-"}),
        ("dummy", {"name": "It was done"}),
    )
    for order, (kind, body) in enumerate(stages):
        stage = (await owner.call("POST", f"/api/v2/stages/{kind}/", json=body)).json()
        binding = {"flow": made["pk"], "stage": stage["pk"], "order": order}
        await owner.call("POST", "/api/v2/flows/bindings/", json=binding)

    async with opened(chrome, place) as page:
        await page.goto("/flows/toil/")
        await page.get_by_text("It was done").wait_for()
    async with opened(chrome, place, java_script_enabled=False) as page:
        await page.goto("/flows/toil/")
        await page.get_by_text("needs JavaScript").wait_for()
