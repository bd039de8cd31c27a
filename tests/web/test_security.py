"""/settings/security, as somebody whose browser runs no script sees it."""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pyotp
import pytest

from kith.identity.consents import store as consents
from kith.identity.consents.tables import Consent
from kith.identity.factors import service as factors
from kith.identity.users import store as users
from tests.conftest import TownBuilder
from tests.town import Person, Town
from tests.web.ageing import age
from tests.web.browsing import Browser
from tests.web.conftest import NewBrowser

HERE = "/settings/security"
LATER = timedelta(minutes=20)


async def signed_in(town: Town, browser: Browser) -> Person:
    person = await town.sign_up()
    await browser.sign_in(person.username, person.password)
    await browser.open(HERE)
    return person


async def add_factor(town: Town, person: Person, kind: str, name: str) -> None:
    """As the flows would; they are tried elsewhere."""
    async with town.house() as house, house.works.begin() as work:
        user = await users.find(work.db, person.username)
        assert user is not None
        if kind == "static":
            await factors.add_codes(work, user, ["one", "two", "three"], name)
        else:
            await factors.add(work, user, kind, name)


async def mail_to(town: Town, person: Person, words: str) -> str:
    """The text of a mail in which these words stand, once it has come."""
    async with asyncio.timeout(120):
        while True:
            for mail in town.mails():
                body = mail.get_body(("plain",))
                if body is not None and mail["To"] == f"{person.username}@example.org" and words in body.get_content():
                    return str(body.get_content())
            await asyncio.sleep(0.05)


async def events(town: Town, person: Person, **query: str) -> list[dict[str, Any]]:
    owner = await town.owner()
    found = await owner.get("/api/v2/audit/events/", params={"username": person.username} | query)
    results: list[dict[str, Any]] = found.json()["results"]
    return results


def section(page: httpx.Response, name: str) -> str:
    found = re.search(rf'<section aria-labelledby="{name}">(.*?)</section>', page.text, re.DOTALL)
    assert found is not None, name
    return found[1]


async def test_the_settings_are_for_those_who_are_signed_in(town: Town, browser: Browser) -> None:
    ada = await town.sign_up()

    answer = await town.http.get(HERE)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/flows/-/default/authentication/?next={HERE}"

    await browser.open(HERE)
    await browser.submit(uid_field=ada.username)
    await browser.submit(password=ada.password)
    assert browser.path == HERE


# The password


async def test_a_new_password_needs_the_old_one_and_ends_the_other_sessions(
    town: Town, new_browser: NewBrowser
) -> None:
    here, there = new_browser(), new_browser()
    ada = await signed_in(town, here)
    await there.sign_in(ada.username, ada.password)

    link = re.search(r'href="([^"]+)">Change password', here.page.text)
    assert link is not None
    await here.open(link[1])
    assert (await here.submit(password="not this one")).status_code == 400
    await here.submit(password=ada.password)
    await here.submit(password="quite another 99", password_repeat="quite another 99")

    assert here.path == HERE
    assert await here.is_signed_in()
    assert not await there.is_signed_in()
    assert (await there.sign_in(ada.username, ada.password)).status_code == 400
    assert (await there.open("/flows/default-authentication-flow/")).status_code == 200
    assert (await there.submit(password="quite another 99")).url.path == "/"
    assert HERE in await mail_to(town, ada, "The password of your account was changed.")


@pytest.mark.parametrize("way", ["recovery", "none"])
async def test_who_has_no_password_to_give_is_not_asked_for_one(town: Town, browser: Browser, way: str) -> None:
    ada = await town.sign_up()
    link = re.search(r"/recovery/use-token/[^/\s]+/", await town.kith("recovery", ada.username))
    assert link is not None
    await browser.open(link[0])
    await browser.submit()
    if way == "none":
        async with town.house() as house, house.works.begin() as work:
            user = await users.find(work.db, ada.username)
            assert user is not None
            assert user.password is not None
            await users.retire_password(work.db, user.id, user.password, work.now)

    await browser.open("/flows/default-password-change/")
    await browser.submit(password="quite another 99", password_repeat="quite another 99")
    assert (await browser.open("/flows/default-password-change/")).status_code == 200

    assert "current-password" in browser.page.text, "by now there is one"
    other = Browser(town)
    assert (await other.sign_in(ada.username, "quite another 99")).url.path == "/"
    await other.close()


async def test_a_password_set_by_the_api_ends_the_sessions_too(town: Town, new_browser: NewBrowser) -> None:
    here, there = new_browser(), new_browser()
    ada = await signed_in(town, here)
    await there.sign_in(ada.username, ada.password)
    owner = await town.owner()
    pk = (await ada.get("/api/v2/core/users/me/")).json()["pk"]
    headers = {"X-CSRF-Token": here.cookie("kith_csrf") or ""}
    body = {"password": "quite another 99"}

    own = await here.http.post(f"/api/v2/core/users/{pk}/set_password/", json=body, headers=headers)
    assert own.status_code == 204, own.text
    assert await here.is_signed_in()
    assert not await there.is_signed_in()

    await owner.call("PATCH", f"/api/v2/core/users/{pk}/", json=body)
    assert not await here.is_signed_in()


# Factors


async def test_factors_are_set_up_listed_renamed_and_removed(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    assert "You have not set up two-factor sign-in yet." in section(browser.page, "factors")
    for words, slug in (
        ("Add an authenticator app", "totp"),
        ("Add a passkey", "webauthn"),
        ("Create recovery codes", "static"),
    ):
        assert f'href="/flows/default-authenticator-{slug}-setup/?next={HERE}">{words}' in browser.page.text

    await browser.open(f"/flows/default-authenticator-totp-setup/?next={HERE}")
    assert "data:image/svg+xml" in browser.page.text
    secret = re.search(r'<code class="key">(\w+)</code>', browser.page.text)
    assert secret is not None
    await browser.submit(code=pyotp.TOTP(secret[1]).at(int(time.time())), name="My <phone>")
    assert browser.path == HERE
    await add_factor(town, ada, "static", "Paper")
    shown = section(await browser.open(HERE), "factors")

    assert "My &lt;phone&gt;" in shown
    assert shown.index("authenticator app") < shown.index("recovery codes")
    assert "3 codes left" in shown
    assert "Create new recovery codes" in shown
    assert "A sign-in method was added to your account: My <phone>." in await mail_to(town, ada, "<phone>")

    assert (await browser.press("/rename", name=" ")).status_code == 400
    assert "Please enter a name." in section(browser.page, "factors")
    await browser.open(HERE)
    await browser.press("/rename", name="Telephone")
    assert "Telephone" in section(browser.page, "factors")
    assert "phone&gt;" not in section(browser.page, "factors")

    await browser.press("/remove")
    assert "The sign-in method was removed." in browser.page.text
    assert "Telephone" not in section(browser.page, "factors")
    assert "Paper" in section(browser.page, "factors")
    await mail_to(town, ada, "A sign-in method was removed from your account: Telephone.")
    told = await events(town, ada)
    assert [one["action"] for one in told if one["app"] == "core.factors"] == [
        "model_deleted",
        "model_updated",
        "model_created",
        "model_created",
    ]


async def test_a_factor_goes_only_after_a_fresh_proof(town: Town, new_browser: NewBrowser) -> None:
    browser, eves = new_browser(), new_browser()
    ada = await signed_in(town, browser)
    await add_factor(town, ada, "static", "Paper")
    await age(town, browser, LATER)
    await browser.open(HERE)

    asked = await browser.press("/remove")
    assert "Please enter your password" in asked.text
    wrong = await browser.press("/remove", password="not this one")
    assert wrong.status_code == 400
    assert "Invalid password" in wrong.text
    address = next(form.action for form in browser.forms() if form.action.endswith("/remove"))
    assert "Paper" in section(await browser.open(HERE), "factors")

    await signed_in(town, eves)
    csrf = {"csrf": eves.cookie("kith_csrf") or ""}
    for path in (address, address.replace("/remove", "/rename"), f"{HERE}/factors/nonsense/remove"):
        assert (await eves.http.post(path, data=csrf | {"name": "x"})).status_code == 404
    assert (await browser.http.post(address, data={"csrf": "x.y"})).status_code == 403

    await browser.press("/remove")
    await browser.press("/remove", password=ada.password)
    assert "You have not set up two-factor sign-in yet." in section(browser.page, "factors")


async def test_guides_for_bots_lead_to_a_token_of_ones_own(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    page = await browser.open("/settings/applications/new")
    assert 'value="read write follow push"' in section(page, "keys")

    made = await browser.press("/tokens", description="my bot")

    assert made.status_code == 201
    [key] = re.findall(r'<code class="key">(.+?)</code>', made.text)
    bearer = {"Authorization": f"Bearer {key}"}
    assert (await town.http.get("/api/v1/accounts/verify_credentials", headers=bearer)).status_code == 200
    said = await town.http.post("/api/v1/statuses", json={"status": "beep"}, headers=bearer)
    assert said.status_code == 200
    assert said.json()["content"] == "<p>beep</p>"


@pytest.mark.parametrize(
    ("action", "fields"),
    [("/app-passwords", {"description": "my mail"}), ("/tokens", {"description": "my script", "scopes": "read"})],
)
async def test_a_key_is_made_only_after_a_fresh_proof(
    town: Town, browser: Browser, action: str, fields: dict[str, str]
) -> None:
    ada = await signed_in(town, browser)
    await age(town, browser, LATER)
    await browser.open(HERE)

    asked = await browser.press(action, **fields)
    assert asked.status_code == 200
    assert "Please enter your password" in asked.text
    wrong = await browser.press(action, password="not this one")
    assert wrong.status_code == 400
    assert "Invalid password" in wrong.text
    assert fields["description"] not in section(await browser.open(HERE), "keys")
    await browser.press(action, **fields)
    made = await browser.press(action, password=ada.password)
    assert made.status_code == 201
    assert fields["description"] in section(made, "keys")


async def test_an_address_is_changed_once_it_is_confirmed(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    other = Person(browser.http, f"new-{ada.username}", "")
    assert f"{ada.username}@example.org" in section(browser.page, "email")
    wrong = await browser.press("/email", email="nowhere")
    assert wrong.status_code == 400
    assert "Enter a valid email address." in section(wrong, "email")
    await age(town, browser, LATER)
    await browser.open(HERE)

    asked = await browser.press("/email", email=f"{other.username}@example.org")
    assert "Please enter your password" in asked.text
    assert (await browser.press("/email", password="not this one")).status_code == 400
    told = await browser.press("/email", password=ada.password)
    assert "open the link in the e-mail we sent there" in told.text
    assert f"{ada.username}@example.org" in section(told, "email")
    link = re.search(r"/confirm/\S+", await mail_to(town, other, "Confirm e-mail address"))
    assert link is not None
    await browser.open(link[0])
    await browser.submit()

    assert f"{other.username}@example.org" in section(await browser.open(HERE), "email")
    await mail_to(town, ada, "The e-mail address of your account was changed.")


async def test_guesses_at_the_password_are_written_down_and_limited(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    browser = Browser(town)
    ada = await signed_in(town, browser)
    await add_factor(town, ada, "static", "Paper")
    await age(town, browser, LATER)
    await browser.open(HERE)
    await browser.press("/remove")

    answers = [(await browser.press("/remove", password="wrong")).status_code for _ in range(10)]
    address = next(form.action for form in browser.forms() if form.action.endswith("/remove"))
    form = {"csrf": browser.cookie("kith_csrf") or "", "password": ada.password}
    late = await browser.http.post(address, data=form)

    assert answers == [400] * 10
    assert late.status_code == 429
    assert f"You can try again in {late.headers['retry-after']} second" in late.text
    [on] = re.findall('<a href="([^"]+)">Try again</a>', late.text)
    assert (await browser.open(on)).status_code == 200
    told = await events(town, ada, action="login_failed")
    assert [one["app"] for one in told] == ["core.confirmation"] * 10
    await browser.close()


async def test_the_only_way_in_cannot_be_removed(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    await add_factor(town, ada, "webauthn", "Key")
    async with town.house() as house, house.works.begin() as work:
        user = await users.find(work.db, ada.username)
        assert user is not None
        assert user.password is not None
        await users.retire_password(work.db, user.id, user.password, work.now)
    page = await browser.open(HERE)
    assert "You have no password." in page.text

    assert (await browser.press("/remove")).status_code == 409
    assert "This is your only way to sign in." in section(browser.page, "factors")
    await add_factor(town, ada, "webauthn", "Other")
    await browser.open(HERE)
    await browser.press("/remove")
    assert "Key" not in section(browser.page, "factors")
    await age(town, browser, LATER)
    await browser.open(HERE)
    assert "please sign out and sign in again" in (await browser.press("/remove")).text


# Sessions


async def test_sessions_are_listed_and_ended(town: Town, new_browser: NewBrowser) -> None:
    here, there, elsewhere = new_browser(), new_browser(), new_browser()
    ada = await town.sign_up()
    there.http.headers["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    for browser in (elsewhere, there, here):
        await browser.sign_in(ada.username, ada.password)

    shown = section(await here.open(HERE), "sessions")
    assert shown.count('<span class="badge">this browser</span>') == 1
    assert shown.count("127.0.0.1") == 3
    end = re.search(r'Firefox on Linux.*?action="([^"]+/end)"', shown, re.DOTALL)
    assert end is not None

    refused = await here.http.post(end[1], data={"csrf": "x.y"})
    assert refused.status_code == 403
    assert await there.is_signed_in()
    await here.press(end[1])
    assert "The session was ended." in here.page.text
    assert not await there.is_signed_in()
    assert await elsewhere.is_signed_in()

    await here.press("/sessions/end-others")
    assert "All other sessions were ended." in here.page.text
    assert not await elsewhere.is_signed_in()
    assert await here.is_signed_in()


async def test_all_sessions_are_ended_at_once_and_this_one_alone(town: Town, new_browser: NewBrowser) -> None:
    here, there = new_browser(), new_browser()
    ada = await signed_in(town, here)
    await there.sign_in(ada.username, ada.password)

    await here.press("/sessions/end-all")
    assert here.path == "/"
    assert here.cookie("kith_session") is None
    assert not await here.is_signed_in()
    assert not await there.is_signed_in()

    await here.sign_in(ada.username, ada.password)
    await here.open(HERE)
    await here.press("/end")
    assert here.path == "/"
    assert not await here.is_signed_in()


async def test_nobody_ends_or_takes_what_is_somebody_elses(town: Town, new_browser: NewBrowser) -> None:
    hers, another, eves = new_browser(), new_browser(), new_browser()
    ada = await signed_in(town, hers)
    await another.sign_in(ada.username, ada.password)
    await signed_in(town, eves)
    await hers.open(HERE)
    await hers.press("/app-passwords", description="mail")
    await hers.open(HERE)
    addresses = [form.action for form in hers.forms() if form.action.endswith(("/end", "/revoke"))]
    assert len(addresses) == 3
    csrf = {"csrf": eves.cookie("kith_csrf") or ""}

    for address in (
        *addresses,
        f"{HERE}/sessions/nonsense/end",
        f"{HERE}/tokens/x/revoke",
        f"{HERE}/consents/{uuid.uuid4()}/withdraw",
        f"{HERE}/consents/x/withdraw",
    ):
        assert (await eves.http.post(address, data=csrf)).status_code == 404, address
    assert await another.is_signed_in()


# Keys for programs


async def test_an_app_password_is_shown_once_works_and_is_revoked(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)

    nothing = await browser.press("/app-passwords", description=" ")
    assert nothing.status_code == 400
    assert "Please enter what it is for." in nothing.text
    past = await browser.press("/app-passwords", description="Mail", expires="2020-01-01")
    assert past.status_code == 400
    assert "Please choose a date in the future." in past.text
    assert 'value="Mail"' in past.text
    day = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
    page = await browser.press("/app-passwords", description="Mail on <my> phone", expires=day)
    assert page.status_code == 201
    found = re.search(r"<code class=\"key\">(kith_[^<]+)</code>", page.text)
    assert found is not None
    key = found[1]
    assert (await town.http.get("/api/v2/core/users/me/", auth=(ada.username, key))).status_code == 200

    page = await browser.open(HERE)
    assert key not in page.text
    assert "Mail on &lt;my&gt; phone" in section(page, "keys")
    assert "expires" in section(page, "keys")
    await browser.press("/revoke")
    assert "The app password or token was revoked." in browser.page.text
    assert (await town.http.get("/api/v2/core/users/me/", auth=(ada.username, key))).status_code == 401


async def test_a_token_may_do_what_its_scopes_say(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)

    for scopes, words in (("", "Please enter at least one scope."), ("<b>", "is not a scope")):
        wrong = await browser.press("/tokens", description="Robot", scopes=scopes)
        assert wrong.status_code == 400
        assert words in wrong.text
    keys = {}
    for scopes in ("api", "read"):
        page = await browser.press("/tokens", description=f"Robot {scopes}", scopes=scopes)
        found = re.search(r"<code class=\"key\">(kith_[^<]+)</code>", page.text)
        assert found is not None
        keys[scopes] = found[1]

    assert "<code>read</code>" in section(browser.page, "keys")
    for scopes, status in (("api", 200), ("read", 403)):
        headers = {"Authorization": f"Bearer {keys[scopes]}"}
        assert (await town.http.get("/api/v2/core/users/me/", headers=headers)).status_code == status


# Consent and the trail


async def test_consent_is_listed_and_withdrawn(town: Town, browser: Browser) -> None:
    owner, ada = await town.owner(), await signed_in(town, browser)
    assert "You have not shared any information" in section(browser.page, "consents")
    name = f"Wiki {uuid.uuid4().hex[:6]}"
    made = await owner.call("POST", "/api/v2/core/applications/", json={"name": name, "slug": uuid.uuid4().hex})
    async with town.house() as house, house.works.begin() as work:
        user = await users.find(work.db, ada.username)
        assert user is not None
        given = Consent(str(uuid.uuid4()), user.id, made.json()["pk"], ["email", "profile"], work.now, None)
        await consents.save(work.db, given)

    shown = section(await browser.open(HERE), "consents")
    assert name in shown
    assert "<code>email</code> <code>profile</code>" in shown
    await browser.press("/withdraw")

    assert "Your consent was withdrawn." in browser.page.text
    assert name not in section(browser.page, "consents")
    [told] = [one for one in await events(town, ada, action="model_deleted") if one["app"] == "core.consents"]
    assert told["context"]["model"]["name"] == name
    assert told["context"]["permissions"] == ["email", "profile"]


async def test_the_trail_tells_what_happened_to_me_and_nobody_else_page_by_page(town: Town, browser: Browser) -> None:
    ada, eve = await town.sign_up(), await town.sign_up()
    await town.http.get("/api/v2/core/users/me/", auth=(eve.username, "wrong"))
    await browser.sign_in(ada.username, "wrong")
    await browser.submit(password=ada.password)

    first = section(await browser.open(HERE), "trail")
    assert first.count("A sign-in attempt failed") == 1
    assert first.count("<p>You signed in</p>") == 1
    assert "Older" not in first

    for number in range(30):
        await browser.press("/app-passwords", description=f"Key {number}")
    newest = section(await browser.open(HERE), "trail")
    assert newest.count("You created the app password") == 25
    oldest = section(await browser.open(f"{HERE}?page=2"), "trail")
    assert "<p>You signed in</p>" in oldest
    assert "Newer" in oldest
    for strange in ("0", "-1", "x", "99999999999999999999", "%F0%9F%98%80"):
        assert (await browser.open(f"{HERE}?page={strange}")).status_code == 200


async def test_the_account_goes_after_the_password_was_asked(town: Town, browser: Browser) -> None:
    ada = await signed_in(town, browser)
    await browser.open("/flows/-/default/unenrollment/")

    assert "permanently" not in browser.page.text
    await browser.submit(password=ada.password)
    await browser.submit()

    assert browser.path == "/"
    assert (await browser.sign_in(ada.username, ada.password)).status_code == 400
