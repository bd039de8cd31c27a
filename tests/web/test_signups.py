"""How an account begins, on pages that need no script."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest

from tests.conftest import TownBuilder
from tests.identity.flow_browser import link_in_mail
from tests.town import Town
from tests.web.browsing import Browser

PASSWORD = "a fine one 77"
SIGN_UP = "/flows/default-enrollment-flow/"


Visits = Callable[[Town], Browser]


@pytest.fixture
async def visit() -> AsyncIterator[Visits]:
    """Browsers that are closed when the test is over."""
    async with AsyncExitStack() as stack:

        def open_browser(town: Town) -> Browser:
            browser = Browser(town)
            stack.push_async_callback(browser.close)
            return browser

        yield open_browser


def word() -> str:
    return f"w{uuid.uuid4().hex[:10]}"


async def is_signed_in(browser: Browser) -> bool:
    return (await browser.http.get("/settings/security")).status_code == 200


async def test_whoever_signs_up_comes_in_by_the_link_in_the_mail(town: Town, visit: Visits) -> None:
    name, browser, early = word(), visit(town), visit(town)
    await browser.open(f"{SIGN_UP}?next=/settings/security")
    values = {"username": name, "name": "Grace", "email": f"{name}@example.org", "password": PASSWORD}

    sent = await browser.submit(0, values, password_repeat=PASSWORD)
    refused = await early.sign_in(name, PASSWORD)
    key = await link_in_mail(town, f"{name}@example.org")
    opened = await browser.open(f"{SIGN_UP}?flow_token={key}")
    is_in_by_opening = await is_signed_in(browser)
    await browser.submit()

    assert "We have sent you an e-mail." in sent.text
    assert "You have opened the link from our e-mail." in opened.text
    assert not is_in_by_opening, "mail programs open links, too"
    assert "confirm your e-mail address first" in refused.text
    assert browser.path == "/settings/security"
    assert f"You are signed in as {name}." in browser.page.text


async def test_an_address_is_confirmed_by_the_mail_that_was_sent_again(town: Town, visit: Visits) -> None:
    name, browser = word(), visit(town)
    await town.kith("users", "create", name, "--email", f"{name}@example.org", "--password", PASSWORD)

    await browser.sign_in(name, PASSWORD)
    key = await link_in_mail(town, f"{name}@example.org", after="/confirm/")
    asked = await browser.open(f"/confirm/{key}")
    done = await browser.submit()
    again = await browser.open(f"/confirm/{key}")
    straight_in = await browser.open(f"/recovery/use-token/{key}")
    await browser.sign_in(name, PASSWORD)

    assert f"{name}@example.org" in asked.text
    assert f"is now confirmed as the e-mail address of {name}." in done.text
    assert again.status_code == straight_in.status_code == 404
    assert await is_signed_in(browser)


async def test_staff_says_yes_or_no_to_whoever_signs_up(new_town: TownBuilder, visit: Visits) -> None:
    town = await new_town(registrations="approval", confirm_email="off")
    moderator, member = await town.sign_up(role="moderator"), await town.sign_up()
    staff, other, guest = visit(town), visit(town), visit(town)
    yes, no = word(), word()
    for name in (yes, no):
        await guest.open(SIGN_UP)
        assert "Why do you want to join?" in guest.page.text
        values = {"username": name, "email": f"{name}@example.org", "signup_reason": f"I am <b>{name}</b>"}
        waits = await guest.submit(0, values, password=PASSWORD, password_repeat=PASSWORD)
        assert waits.status_code == 200
        assert "<h1>Your sign-up waits for approval</h1>" in waits.text
        assert "Your account is waiting for approval" in waits.text
        assert "error" not in waits.text.partition("<main")[2].lower()
    await other.sign_in(member.username, member.password)
    await staff.sign_in(moderator.username, moderator.password)

    page = await staff.open("/staff/signups/")
    approved = await staff.submit(0)
    rejected = await staff.submit(1)

    assert f"I am &lt;b&gt;{yes}&lt;/b&gt;" in page.text
    assert f"{yes} has been approved." in approved.text
    assert "Nobody is waiting." in rejected.text
    assert (await other.open("/staff/signups/")).status_code == 404
    assert (await guest.open("/staff/signups/")).url.path == "/flows/default-authentication-flow/"
    await guest.sign_in(yes, PASSWORD)
    assert await is_signed_in(guest)
    assert no not in await town.kith("users", "list")


async def test_an_expired_password_is_changed_on_the_way_in(new_town: TownBuilder, visit: Visits) -> None:
    town = await new_town()
    owner, ada, browser = await town.owner(), await town.sign_up(), visit(town)
    policy = await owner.call("POST", "/api/v2/policies/passwordexpiry/", json={"name": "old", "days": 0})
    bindings = (await owner.get("/api/v2/flows/bindings/", params={"limit": 1000})).json()["results"]
    stages = (await owner.get("/api/v2/stages/all/", params={"name": "default-authentication-login"})).json()["results"]
    flows = (await owner.get("/api/v2/flows/instances/", params={"slug": "default-authentication-flow"})).json()[
        "results"
    ]
    [login] = [one for one in bindings if one["stage"] == stages[0]["pk"] and one["target"] == flows[0]["pk"]]
    bound = {"policy": policy.json()["pk"], "target": login["pbm_uuid"], "order": 0}
    answer = await owner.call("POST", "/api/v2/policies/bindings/", json=bound)
    assert answer.status_code == 201, answer.text

    asked = await browser.sign_in(ada.username, ada.password)
    left = await browser.open("/flows/-/cancel/?flow=default-authentication-flow")
    assert not await is_signed_in(browser), left.text
    await browser.sign_in(ada.username, ada.password)
    same = await browser.submit(password=ada.password, password_repeat=ada.password)
    await browser.submit(password=PASSWORD, password_repeat=PASSWORD)

    assert "Your password has expired. Choose a new one to continue." in asked.text
    assert "Choose a password that is different from the old one." in same.text
    assert await is_signed_in(browser)
