"""The ways in, walked to their end in a real browser: with scripts and, wherever that can be, without."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pyotp
import pytest
from playwright.async_api import Browser, Page, expect

from tests.identity.flow_browser import link_in_mail
from tests.town import Person, Town, build_town
from tests.web.chromium import check_day_and_night, give_password, opened, send, sign_in
from tests.web.test_flows import flow_of, made, word

PASSWORD = "a fine one 77"
SIGN_UP = "/flows/default-enrollment-flow/"
RECOVERY = "/flows/default-recovery-flow/"
_WITH = pytest.param(True, id="scripts")
_WITHOUT = pytest.param(False, id="no-scripts")


# What is looked at by a script of its own cannot be looked at without any.
with_scripts = pytest.mark.parametrize("scripts", [_WITH], indirect=True, scope="module")


@pytest.fixture(scope="module", params=[_WITH, _WITHOUT])
def scripts(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
async def place(scripts: bool, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """A town as it is shipped, under a name that a passkey can be for; one database is enough for pages."""
    async with build_town("sqlite", tmp_path_factory.mktemp("journeys"), start=False) as town:
        town.base_url = f"http://localhost:{town.port}"
        await town.start()
        yield town


@pytest.fixture
async def page(chrome: Browser, place: Town, scripts: bool) -> AsyncIterator[Page]:
    async with opened(chrome, place, java_script_enabled=scripts) as page:
        yield page


@pytest.fixture(scope="module")
async def owner(chrome: Browser, place: Town, scripts: bool) -> Person:
    """The first owner, made on the page that the server's link leads to."""
    async with opened(chrome, place, java_script_enabled=scripts) as page:
        await page.goto(place.setup_link())
        answers = {"User name": "first", "E-mail address": "first@example.org", "Password": PASSWORD}
        await send(page, {**answers, "Repeat password": "another"}, "Create the owner account")
        await expect(page.get_by_label("Repeat password")).to_be_focused()
        await look(page, scripts)
        await send(page, {"Password": PASSWORD, "Repeat password": PASSWORD}, "Create the owner account")
        await page.get_by_role("heading", name="All set, first").wait_for()
        await look(page, scripts)
    return Person(place.http, "first", PASSWORD)


async def look(page: Page, scripts: bool) -> None:
    if scripts:
        await check_day_and_night(page)


async def see(page: Page, words: str) -> None:
    await page.get_by_text(words).first.wait_for()


async def leave(page: Page) -> None:
    await page.goto("/")
    await page.get_by_role("button", name="Sign out").click()
    await page.get_by_role("link", name="Sign in").wait_for()


async def test_the_first_owner_comes_in_and_nobody_is_made_one_after(
    page: Page, place: Town, owner: Person, scripts: bool
) -> None:
    await page.goto(place.setup_link())
    await see(page, "Page not found")
    await look(page, scripts)
    await sign_in(page, owner)
    await page.get_by_role("link", name="Console").click()
    await page.wait_for_url("**/admin")


async def test_an_account_is_made_and_its_address_confirmed(page: Page, place: Town, scripts: bool) -> None:
    name = word()
    await page.goto("/")
    await page.get_by_role("link", name="Sign up").click()
    answers = {"User name": name, "E-mail address": f"{name}@example.org", "Password": PASSWORD}
    await send(page, {**answers, "Repeat password": "another"})
    await see(page, "Passwords don't match.")
    await look(page, scripts)
    await send(page, {"Password": PASSWORD, "Repeat password": PASSWORD})
    await see(page, "We have sent you an e-mail.")
    await send(page, {}, "Send again")
    await see(page, "Email successfully sent.")
    await look(page, scripts)

    key = await link_in_mail(place, f"{name}@example.org", more_than=1)
    await page.goto(f"{SIGN_UP}?flow_token={key}")
    await look(page, scripts)
    await send(page, {}, "Continue")
    await see(page, f"You are signed in as {name}.")
    await leave(page)
    await page.goto(f"{SIGN_UP}?flow_token={key}")
    await page.get_by_role("alert").wait_for()
    await look(page, scripts)


async def test_an_address_is_confirmed_after_a_sign_in_was_refused(page: Page, place: Town, scripts: bool) -> None:
    name = word()
    await page.goto(SIGN_UP)
    answers = {"User name": name, "E-mail address": f"{name}@example.org", "Password": PASSWORD}
    await send(page, {**answers, "Repeat password": PASSWORD})
    await see(page, "We have sent you an e-mail.")
    await page.context.clear_cookies()
    ada = Person(place.http, name, PASSWORD)
    await give_password(page, ada)
    await see(page, "confirm your e-mail address first")
    await see(page, "Give it to the administrators")
    await look(page, scripts)

    key = await link_in_mail(place, f"{name}@example.org", after="/confirm/")
    await page.goto(f"/confirm/{key}")
    await look(page, scripts)
    await page.get_by_role("button", name="Confirm e-mail address").click()
    await see(page, f"{name}@example.org is now confirmed as the e-mail address of {name}.")
    await look(page, scripts)
    await page.goto(f"/confirm/{key}")
    await see(page, "Page not found")
    await look(page, scripts)
    await sign_in(page, ada)


async def test_a_code_is_asked_for_after_the_password(page: Page, place: Town, scripts: bool) -> None:
    ada = await place.sign_up()
    await sign_in(page, ada)
    await page.goto("/settings/security")
    await page.get_by_role("link", name="Add an authenticator app").click()
    await page.get_by_text("I can't scan the code").click()
    await look(page, scripts)
    app = pyotp.TOTP(await page.locator("code.key").inner_text())
    await send(page, {"Code": "12"})
    await see(page, "Code does not match")
    await look(page, scripts)
    now = int(time.time())
    await send(page, {"Code": app.at(now), "Name of this device (optional)": "Telephone"})
    await page.get_by_role("region", name="Two-factor sign-in").get_by_text("Telephone").wait_for()
    await leave(page)

    await give_password(page, ada)
    await expect(page.get_by_label("Code")).to_be_focused()
    await look(page, scripts)
    await send(page, {"Code": app.at(now + 30)})
    await see(page, f"You are signed in as {ada.username}.")

    await page.goto("/settings/security")
    await page.get_by_role("link", name="Create recovery codes").click()
    await look(page, scripts)
    code = await page.locator(".codes code").first.inner_text()
    await page.get_by_role("button", name="I have saved them").click()
    await page.get_by_role("heading", name="Security", exact=True).wait_for()
    await leave(page)
    await give_password(page, ada)
    await send(page, {"Code": code})
    await see(page, f"You are signed in as {ada.username}.")


async def test_a_passkey_is_enough_to_sign_in_and_is_a_second_factor_too(
    page: Page, place: Town, scripts: bool
) -> None:
    ada = await place.sign_up()
    await sign_in(page, ada)
    if not scripts:
        await page.goto("/flows/default-authenticator-webauthn-setup/")
        await see(page, "Passkeys need JavaScript.")
        await leave(page)
        await page.goto("/flows/default-authentication-flow/")
        await expect(page.get_by_role("button", name="Use a passkey")).to_have_count(0)
        return
    devices = await page.context.new_cdp_session(page)
    await devices.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
    }
    device = await devices.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    await page.goto("/settings/security")
    await page.get_by_role("link", name="Add a passkey").click()
    await look(page, scripts)
    await send(page, {"Name of this passkey (optional)": "This computer"}, "Create a passkey")
    await page.get_by_role("region", name="Two-factor sign-in").get_by_text("This computer").wait_for()
    await leave(page)

    await page.get_by_role("link", name="Sign in").click()
    await page.get_by_role("button", name="Use a passkey").click()
    await see(page, f"You are signed in as {ada.username}.")
    await leave(page)

    await give_password(page, ada)
    await page.get_by_role("button", name="Use a passkey").wait_for()
    await look(page, scripts)
    verified = {"authenticatorId": device["authenticatorId"], "isUserVerified": False}
    await devices.send("WebAuthn.setUserVerified", verified)
    await page.goto("/flows/-/cancel/?next=/flows/default-authentication-flow/")
    await page.get_by_role("button", name="Use a passkey").click()
    await see(page, "Your device did not confirm this.")
    await look(page, scripts)
    await devices.send("WebAuthn.setUserVerified", {**verified, "isUserVerified": True})
    await give_password(page, ada)
    await page.get_by_role("button", name="Use a passkey").click()
    await see(page, f"You are signed in as {ada.username}.")


async def test_a_lost_password_is_replaced_by_a_link(page: Page, place: Town, scripts: bool) -> None:
    ada = await place.sign_up()
    await page.goto("/flows/default-authentication-flow/")
    await page.get_by_role("link", name="Can't sign in?").click()
    await look(page, scripts)
    await send(page, {"User name or e-mail address": ada.username})
    await see(page, "We have sent you an e-mail.")
    await look(page, scripts)
    key = await link_in_mail(place, f"{ada.username}@example.org")
    await page.goto(f"{RECOVERY}?flow_token={key}")
    await send(page, {}, "Continue")
    await look(page, scripts)
    await send(page, {"Password": "short", "Repeat password": "short"})
    await see(page, "The password must have at least 8 characters.")
    await send(page, {"Password": PASSWORD, "Repeat password": PASSWORD})
    await see(page, f"You are signed in as {ada.username}.")
    await leave(page)
    await sign_in(page, Person(place.http, ada.username, PASSWORD))


async def test_whoever_is_invited_needs_no_mail(page: Page, place: Town, owner: Person, scripts: bool) -> None:
    name = word()
    fixed = {"email": f"{name}@example.org"}
    invitation = await made(owner, "/stages/invitation/invitations/", name=name, single_use=True, fixed_data=fixed)
    link = f"{SIGN_UP}?itoken={invitation['pk']}"
    await page.goto(link)
    await look(page, scripts)
    await send(page, {"User name": name, "Password": PASSWORD, "Repeat password": PASSWORD})
    await see(page, f"You are signed in as {name}.")
    await leave(page)

    stage = await made(owner, "/stages/invitation/", name=word(), continue_flow_without_invitation=False)
    slug = await flow_of(owner, stage, designation="enrollment")
    await page.goto(f"/flows/{slug}/?itoken={invitation['pk']}")
    await see(page, "Invalid invite/invite not found")
    await look(page, scripts)


async def strict_flow(owner: Person) -> str:
    """The stages of the shipped flow, with a policy that finds every password too old."""
    found = (await owner.get("/api/v2/stages/all/", params={"limit": 1000})).json()["results"]
    named = {one["name"]: one["pk"] for one in found}
    stages = [{"pk": named[f"default-authentication-{part}"]} for part in ("identification", "password", "login")]
    slug = await flow_of(owner, *stages, designation="authentication")
    [flow] = (await owner.get("/api/v2/flows/instances/", params={"slug": slug})).json()["results"]
    bound = (await owner.get("/api/v2/flows/bindings/", params={"target": flow["pk"]})).json()["results"]
    [login] = [one for one in bound if one["stage"] == stages[-1]["pk"]]
    policy = await made(owner, "/policies/passwordexpiry/", name=word(), days=0)
    await made(owner, "/policies/bindings/", target=login["pbm_uuid"], policy=policy["pk"], order=0)
    return slug


async def test_an_old_password_must_be_changed_on_the_way_in(
    page: Page, place: Town, owner: Person, scripts: bool
) -> None:
    ada, slug = await place.sign_up(), await strict_flow(owner)
    await give_password(page, ada, slug)
    await see(page, "Your password has expired.")
    await look(page, scripts)
    await page.goto("/settings/security")
    await page.get_by_label("User name or e-mail address").wait_for()

    await page.goto(f"/flows/{slug}/")
    await send(page, {"Password": ada.password, "Repeat password": ada.password})
    await see(page, "Choose a password that is different from the old one.")
    await look(page, scripts)
    await send(page, {"Password": PASSWORD, "Repeat password": PASSWORD})
    await see(page, f"You are signed in as {ada.username}.")


async def test_the_work_of_a_captcha_is_done_beside_the_name(
    page: Page, place: Town, owner: Person, scripts: bool
) -> None:
    ada = await place.sign_up()
    work = await made(owner, "/stages/captcha/", name=word(), public_key="pow", private_key="-")
    password = await made(owner, "/stages/password/", name=word(), backends=["internal"])
    who = await made(
        owner,
        "/stages/identification/",
        name=word(),
        user_fields=["username"],
        template="login",
        captcha_stage=work["pk"],
        password_stage=password["pk"],
    )
    login = await made(owner, "/stages/user_login/", name=word())
    slug = await flow_of(owner, who, login, designation="authentication")

    await page.goto(f"/flows/{slug}/")
    await send(page, {"User name": ada.username, "Password": ada.password if not scripts else "wrong"}, "Log in")
    if not scripts:
        await see(page, "This field may not be blank.")
        await see(page, "the check needs JavaScript")
        return
    await see(page, "Failed to authenticate.")
    await look(page, scripts)
    await send(page, {"User name": ada.username, "Password": ada.password}, "Log in")
    await see(page, f"You are signed in as {ada.username}.")


# Pages that no journey passes

FIELDS = (
    "text", "text_area", "username", "email", "password", "number", "checkbox", "radio-button-group", "dropdown",
    "date", "date-time", "locale", "file", "text_read_only", "text_area_read_only", "separator", "hidden", "static",
    "alert_info", "alert_warning", "alert_danger",
)  # fmt: skip


async def every_field(owner: Person) -> dict[str, Any]:
    fields = []
    for order, type in enumerate(FIELDS):
        body: dict[str, Any] = {
            "field_key": f"attributes.{type}",
            "label": f"The {type}",
            "type": type,
            "name": word(),
            "order": order,
            "placeholder": f"A {type}",
            "sub_text": f"Hint of {type}",
        }
        if type in ("radio-button-group", "dropdown"):
            body |= {"initial_value": "return ['red', 'blue']", "initial_value_expression": True}
        if type.startswith(("alert", "static", "text_")):
            body["initial_value"] = f"These are the words of {type}."
        fields.append((await made(owner, "/stages/prompt/prompts/", **body))["pk"])
    return await made(owner, "/stages/prompt/stages/", name=word(), fields=fields)


async def who_and_source(owner: Person) -> dict[str, Any]:
    name = word()
    url = "https://elsewhere.example/"
    source = await made(
        owner,
        "/sources/oauth/",
        name="Elsewhere",
        slug=name,
        provider_type="openid-connect",
        authorization_url=url,
        access_token_url=url,
        profile_url=url,
        consumer_key="x",
        consumer_secret="y",
    )
    return await made(
        owner,
        "/stages/identification/",
        name=name,
        user_fields=["email"],
        template="login",
        sources=[source["pk"]],
        show_source_labels=True,
        enable_remember_me=True,
    )


@with_scripts
async def test_axe_finds_nothing_on_any_other_page_of_a_flow(page: Page, place: Town, owner: Person) -> None:
    totp = await made(owner, "/stages/otp_time/", name=word(), digits="6")
    static = await made(owner, "/stages/otp_static/", name=word())
    stages: tuple[dict[str, Any], ...] = (
        await every_field(owner),
        await who_and_source(owner),
        await made(owner, "/stages/consent/", name=word(), mode="always_require"),
        await made(owner, "/stages/dummy/", name=word()),
        await made(owner, "/stages/deny/", name=word(), deny_message="Not today."),
        await made(owner, "/stages/captcha/", name=word(), public_key="site", private_key="-"),
        await made(owner, "/stages/user_login/", name=word(), remember_me_offset="days=30"),
        await made(
            owner,
            "/stages/otp_validate/",
            name=word(),
            device_classes=["static"],
            not_configured_action="configure",
            configuration_stages=[totp["pk"], static["pk"]],
        ),
    )
    await sign_in(page, await place.sign_up())
    for stage in stages:
        await page.goto(f"/flows/{await flow_of(owner, stage)}/")
        await check_day_and_night(page)

    broken = await made(owner, "/stages/dummy/", name=word(), throw_error=True)
    await page.goto(f"/flows/{await flow_of(owner, broken)}/")
    await send(page, {})
    await see(page, "Something went wrong on our side.")
    await check_day_and_night(page)


@with_scripts
async def test_axe_finds_nothing_on_the_pages_around_the_flows(page: Page, place: Town, owner: Person) -> None:
    for number in range(2):
        body = {
            "name": f"Wiki {number}",
            "slug": word(),
            "group": "Work" if number else "",
            "meta_launch_url": "https://wiki.example/",
            "meta_publisher": "ACME",
            "meta_description": "All we know",
            "open_in_new_tab": bool(number),
        }
        await made(owner, "/core/applications/", **body)
    await page.goto("/flows/default-authentication-flow/")
    await page.context.clear_cookies()
    await send(page, {"User name or e-mail address": "x"})
    await see(page, "Not allowed")
    await check_day_and_night(page)
    await sign_in(page, owner)
    for path in (
        "/",
        "/settings/security?page=9",
        "/settings/language",
        "/flows/no-such-flow/",
    ):
        await page.goto(path)
        await check_day_and_night(page)


async def test_staff_decides_about_whoever_waits(
    chrome: Browser, scripts: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("approval")
    async with build_town("sqlite", folder, registrations="approval", confirm_email="off") as town:
        staff, names = await town.sign_up(role="moderator"), [f"w{uuid.uuid4().hex[:8]}" for _ in range(2)]
        async with opened(chrome, town, java_script_enabled=scripts) as page:
            for name in names:
                await page.goto(SIGN_UP)
                answers = {"User name": name, "E-mail address": f"{name}@example.org", "Password": PASSWORD}
                await send(page, {**answers, "Repeat password": PASSWORD, "Why do you want to join?": "Friends"})
                await see(page, "Your account is waiting for approval")
                await page.context.clear_cookies()
            await look(page, scripts)
            await sign_in(page, staff)
            await page.get_by_role("link", name="Console").click()
            await page.locator("#main").get_by_role("link", name="Sign-ups").click()
            await look(page, scripts)
            await page.get_by_role("button", name=f"Approve {names[0]}").click()
            await see(page, f"{names[0]} has been approved.")
            await page.get_by_role("button", name=f"Reject {names[1]}").click()
            await see(page, "Nobody is waiting.")
            await look(page, scripts)
            await leave(page)
            await sign_in(page, Person(town.http, names[0], PASSWORD))
