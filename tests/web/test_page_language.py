"""The language that a page is read in: the browser's, or the one a person has chosen."""

from __future__ import annotations

import pytest

from kith.base.languages import preferred_language
from tests.town import Town
from tests.web.browsing import Browser


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("", "en"),
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr, de;q=0.5, en;q=0.7", "en"),
        ("en;q=0, de;q=0.1", "de"),
        ("*", "en"),
        ("de;q=rubbish", "en"),
        ("DE-de", "de"),
        (";;;,,,q=", "en"),
    ],
)
def test_the_browsers_best_language_is_taken(accepted: str, expected: str) -> None:
    assert preferred_language(accepted) == expected


async def test_a_visitor_reads_their_browsers_language_and_may_choose_another(town: Town) -> None:
    browser = Browser(town)
    browser.http.headers["Accept-Language"] = "de-DE,de;q=0.9"
    try:
        page = await browser.open("/")
        assert '<html lang="de" dir="ltr">' in page.text
        assert "Anmelden" in page.text
        assert '<html lang="de" dir="ltr">' in (await browser.http.get("/nothing/here")).text
        form = {"csrf": browser.cookie("kith_csrf") or "", "language": "en", "next": "/flows/default-enrollment-flow/"}

        assert (await browser.http.post("/settings/language", data=form | {"csrf": "x"})).status_code == 403
        assert (await browser.http.post("/settings/language", data=form | {"language": "tlh"})).status_code == 400
        away = await browser.http.post("/settings/language", data=form | {"next": "https://evil.example/"})
        assert away.headers["location"] == "/"
        page = await browser.http.post("/settings/language", data=form, follow_redirects=True)

        assert page.url.path == "/flows/default-enrollment-flow/"
        assert '<html lang="en" dir="ltr">' in page.text
        assert "Sign up" in page.text
    finally:
        await browser.close()


async def test_a_members_language_goes_with_them_to_other_browsers(town: Town) -> None:
    ada = await town.sign_up()
    here, there = Browser(town), Browser(town)
    try:
        await here.sign_in(ada.username, ada.password)
        form = {"csrf": here.cookie("kith_csrf") or "", "language": "de", "next": "/settings/security"}
        page = await here.http.post("/settings/language", data=form, follow_redirects=True)
        assert "Sicherheit" in page.text

        there.http.headers["Accept-Language"] = "en"
        page = await there.sign_in(ada.username, ada.password)
        assert f"Du bist angemeldet als {ada.username}." in page.text
        assert '<html lang="de" dir="ltr">' in (await there.open("/flows/default-password-change/")).text
        me = (await ada.get("/api/v2/core/users/me/")).json()
        assert me["attributes"]["settings"]["locale"] == "de"
    finally:
        await here.close()
        await there.close()
