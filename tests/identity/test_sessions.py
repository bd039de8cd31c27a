"""Sessions: where they end, what their cookie says, and that nobody can hand somebody one."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import pytest

from kith.identity.sessions.service import IDLE_LIFE, LONGEST_LIFE
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser as FlowBrowser
from tests.identity.records import owner_of
from tests.town import Town
from tests.town.plain import PLAIN
from tests.web.ageing import age, session_of
from tests.web.browsing import Browser

FLOW = "/flows/default-authentication-flow/"
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("used", "then", "is_in"),
    [
        ([], IDLE_LIFE - DAY, True),
        ([], IDLE_LIFE + DAY, False),
        ([IDLE_LIFE - DAY] * 2, IDLE_LIFE - DAY, True),
        ([IDLE_LIFE - DAY] * 2, IDLE_LIFE + DAY, False),
        ([IDLE_LIFE - DAY] * 6, LONGEST_LIFE - (IDLE_LIFE - DAY) * 6 - DAY, True),
        ([IDLE_LIFE - DAY] * 6, LONGEST_LIFE - (IDLE_LIFE - DAY) * 6 + DAY, False),
    ],
)
async def test_a_session_ends_unused_and_at_last_even_if_used(
    town: Town, used: list[timedelta], then: timedelta, is_in: bool
) -> None:
    ada, browser = await town.sign_up(), Browser(town)
    await browser.sign_in(ada.username, ada.password)

    for pause in used:
        await age(town, browser, pause)
        assert await browser.is_signed_in()
    await age(town, browser, then)

    assert await browser.is_signed_in() is is_in
    await browser.close()


async def test_the_last_use_is_noted_with_its_device_and_address(town: Town) -> None:
    ada, browser = await town.sign_up(), Browser(town)
    await browser.sign_in(ada.username, ada.password)
    await age(town, browser, timedelta(minutes=10), all_of_it=False)
    before = await session_of(town, browser)
    browser.http.headers["User-Agent"] = "Mozilla/5.0 (iPhone) Safari/600"

    await browser.open("/")
    after = await session_of(town, browser)
    await browser.close()

    assert before is not None
    assert after is not None
    assert after.last_used_at > before.last_used_at
    assert after.expires_at > before.expires_at
    assert after.last_user_agent == "Mozilla/5.0 (iPhone) Safari/600"
    assert after.last_ip == "127.0.0.1"


async def test_the_cookie_is_closed_to_scripts_other_sites_and_plain_wires(new_town: TownBuilder) -> None:
    town = await new_town(base_url="https://kith.example")
    ada, seen = await town.sign_up(), []
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{town.port}", verify=PLAIN) as http:
        page = await http.get(FLOW)
        token = re.search(r'name="csrf" value="([^"]+)"', page.text)
        assert token is not None
        carried = {"Cookie": "; ".join(f"{name}={value}" for name, value in page.cookies.items())}
        for form in (
            {"component": "identification", "uid_field": ada.username},
            {"component": "password", "password": ada.password},
        ):
            answer = await http.post(FLOW, data={"csrf": token[1], **form}, headers=carried)
            seen += answer.headers.get_list("set-cookie")
        [made] = [cookie for cookie in page.headers.get_list("set-cookie") if cookie.startswith("__Host-kith_session=")]
        [renewed] = [cookie for cookie in seen if cookie.startswith("__Host-kith_session=")]
        key = renewed.partition("=")[2].partition(";")[0]
        opened = [
            (await http.get("/api/v2/core/users/me/", headers={"Cookie": f"{cookie}={key}"})).status_code
            for cookie in ("__Host-kith_session", "kith_session", "__Secure-kith_session", "__host-kith_session")
        ]

    assert opened == [200, 401, 401, 401], "under any other name a neighbour could have set it"
    for cookie in (*page.headers.get_list("set-cookie"), *seen):
        assert "Domain" not in cookie
        assert "Secure" in cookie.split("; ")
    for cookie in (made, renewed):
        assert {"HttpOnly", "Secure", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
        assert "Domain" not in cookie
    assert made.split(";")[0] != renewed.split(";")[0]


@pytest.mark.parametrize("key", ["chosen-by-somebody-else", "", "x" * 4000, "%00", "ü"])
async def test_a_key_that_somebody_brings_is_never_made_good(town: Town, key: str) -> None:
    ada, browser = await town.sign_up(), Browser(town)
    cookie = f"kith_session={key}".encode()
    first = await browser.http.get(FLOW, headers={b"Cookie": cookie})
    assert first.status_code == 200
    given = first.cookies.get("kith_session")
    assert given
    assert given != key
    await browser.sign_in(ada.username, ada.password)

    for stale in (key, given):
        raw = {b"Cookie": f"kith_session={stale}".encode()}
        async with Browser(town).http as stranger:
            assert (await stranger.get("/api/v2/core/users/me/", headers=raw)).status_code == 401
    assert await browser.is_signed_in()
    await browser.close()


async def test_the_session_of_somebody_who_was_disabled_ends_for_good(town: Town) -> None:
    ada, owner, browser = await town.sign_up(), await owner_of(town), Browser(town)
    await browser.sign_in(ada.username, ada.password)
    pk = (await ada.get("/api/v2/core/users/me/")).json()["pk"]

    await owner.call("PATCH", f"/api/v2/core/users/{pk}/", json={"is_active": False})
    assert (await browser.http.get("/api/v2/core/users/me/")).status_code == 401
    assert "Sign in" in (await browser.open("/")).text
    await owner.call("PATCH", f"/api/v2/core/users/{pk}/", json={"is_active": True})

    assert not await browser.is_signed_in()
    found = await owner.get("/api/v2/audit/events/", params={"username": ada.username, "action": "logout"})
    assert [one["context"]["logout_reason"] for one in found.json()["results"]] == ["may not come in any more"]
    assert urlsplit(str((await browser.open("/settings/security")).url)).path == FLOW
    await browser.close()


async def test_each_browser_is_told_which_session_is_its_own(town: Town) -> None:
    person = await town.sign_up()
    browsers = [FlowBrowser(town), FlowBrowser(town)]
    for browser in browsers:
        await browser.sign_in(person)

    current = []
    for browser in (*browsers, *browsers):
        listed = (await browser.http.get("/api/v2/core/authenticated_sessions/")).json()["results"]
        current.append([one["pk"] for one in listed if one["current"]])

    assert [len(one) for one in current] == [1] * 4
    assert current[0] == current[2] != current[1] == current[3]
