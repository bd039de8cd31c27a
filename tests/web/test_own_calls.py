"""The session of a browser opens the social API to our own pages alone, and every verb of it has a form."""

from __future__ import annotations

import pytest

from tests.town import Person, Town
from tests.web.browsing import Browser

ME = "/api/v1/accounts/verify_credentials"


async def signed_in(town: Town, browser: Browser) -> Person:
    person = await town.sign_up()
    await browser.sign_in(person.username, person.password)
    return person


def token(browser: Browser) -> str:
    return browser.cookie("kith_csrf") or ""


async def test_the_cookie_alone_opens_nothing(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    assert (await browser.http.get(ME)).status_code == 401
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert (await browser.http.get(ME, headers=elsewhere)).status_code == 401


@pytest.mark.parametrize("kind", ["token", "same origin"])
async def test_our_own_page_reads_as_its_person(town: Town, browser: Browser, kind: str) -> None:
    person = await signed_in(town, browser)
    headers = {"X-CSRF-Token": token(browser)} if kind == "token" else {"Sec-Fetch-Site": "same-origin"}
    answer = await browser.http.get(ME, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.json()["username"] == person.username


async def test_to_write_a_page_must_bring_its_token(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    path, post = "/api/v1/statuses", {"status": "From the page itself"}
    same = {"Sec-Fetch-Site": "same-origin"}
    assert (await browser.http.post(path, data=post, headers=same)).status_code == 401
    assert (await browser.http.post(path, data=post, headers={"X-CSRF-Token": "made.up"})).status_code == 403
    answer = await browser.http.post(path, data=post, headers={"X-CSRF-Token": token(browser)})
    assert answer.status_code == 200, answer.text


async def test_signing_out_closes_it(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    headers = {"X-CSRF-Token": token(browser)}
    assert (await browser.http.get(ME, headers=headers)).status_code == 200
    await browser.open("/flows/-/default/invalidation/")
    await browser.submit()
    assert (await browser.http.get(ME, headers={"X-CSRF-Token": token(browser)})).status_code == 401


async def test_a_form_does_what_the_api_does(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    form = {"csrf": token(browser), "status": "Written with a form", "visibility": "unlisted", "next": "/about"}
    answer = await browser.http.post("/web/api/v1/statuses", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/about")
    me = (await browser.http.get(ME, headers={"X-CSRF-Token": token(browser)})).json()
    mine = (await browser.http.get(f"/api/v1/accounts/{me['id']}/statuses")).json()
    assert [(one["content"], one["visibility"]) for one in mine] == [("<p>Written with a form</p>", "unlisted")]
    gone = {"csrf": token(browser), "_method": "delete"}
    answer = await browser.http.post(f"/web/api/v1/statuses/{mine[0]['id']}", data=gone)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert (await browser.http.get(f"/api/v1/accounts/{me['id']}/statuses")).json() == []


async def test_a_refusal_is_a_page_and_changes_nothing(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    answer = await browser.http.post("/web/api/v1/statuses", data={"csrf": token(browser), "status": ""})
    assert answer.status_code == 422
    assert "Write something, or attach a file." in answer.text
    assert (await browser.http.post("/web/api/v1/statuses", data={"status": "x"})).status_code == 403
    wrong = {"csrf": token(browser), "_method": "TRACE"}
    assert (await browser.http.post("/web/api/v1/statuses", data=wrong)).status_code == 404
    assert (await browser.http.post("/web/api/nowhere", data={"csrf": token(browser)})).status_code == 404


async def test_a_form_leads_nowhere_else(town: Town, browser: Browser) -> None:
    await signed_in(town, browser)
    form = {"csrf": token(browser), "status": "Back home", "next": "//evil.example/"}
    assert (await browser.http.post("/web/api/v1/statuses", data=form)).headers["location"] == "/"


async def test_whoever_is_signed_out_is_told(town: Town, browser: Browser) -> None:
    await browser.open("/about")
    form = {"csrf": token(browser), "status": "Nobody's"}
    assert (await browser.http.post("/web/api/v1/statuses", data=form)).status_code == 401


async def test_the_key_of_a_session_is_no_token(town: Town, browser: Browser) -> None:
    """However it is written, and wherever it is sent."""
    await signed_in(town, browser)
    key = browser.cookie("kith_session") or ""
    await browser.http.get(ME, headers={"X-CSRF-Token": token(browser)})  # as a page it is let in, and remembered
    stranger = town.http

    for said in (f"\0session:{key}", f"session:{key}", key, f"\x01{key}", f"{key}\0"):
        sent = {"access_token": said, "status": "By a cookie"}
        answers = [
            await stranger.get(ME, params={"access_token": said}),
            await stranger.post("/api/v1/statuses", params={"access_token": said}, json={"status": "By a cookie"}),
            await stranger.post("/api/v1/statuses", json=sent),
            await stranger.post("/api/v1/statuses", data=sent),
            await stranger.get("/api/v1/streaming/user", params={"access_token": said}),
        ]
        refused = [one.status_code for one in answers]
        assert refused == [401, 401, 401, 400 if "\0" in said else 401, 401], said
