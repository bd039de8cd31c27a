"""Web Push to a browser that is signed in: what it gets, and that it ends with the session in every way."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from sqlalchemy import select

from kith.base.db import query
from kith.identity.sessions import service as sessions
from kith.identity.sessions import store
from kith.social.push.tables import subscriptions
from kith.web.assets import VERSION
from tests.social.members import Member, join, set_state
from tests.social.posts import post
from tests.social.push_service import PATH, Device, Service, open_service
from tests.social.test_push import all_sent, kept
from tests.town import Town, build_town
from tests.town.town import Engine
from tests.web.browsing import Browser
from tests.web.conftest import NewBrowser
from tests.web.scenery import person_of

PAGE = "/settings/notifications"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture(scope="module")
async def town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One that may send to this machine."""
    async with build_town(engine, tmp_path_factory.mktemp("browsers"), private_hosts="127.0.0.1") as built:
        yield built


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    async with open_service() as opened:
        yield opened


async def enter(browser: Browser, member: Member) -> None:
    await browser.sign_in(member.name, person_of(member).password)
    assert await browser.is_signed_in()


async def subscribe(browser: Browser, device: Device) -> None:
    """As the script of the page does it."""
    headers = {"X-CSRF-Token": browser.cookie("kith_csrf") or ""}
    sent = {"subscription": device.subscription | {"standard": True}}
    answer = await browser.http.post(PATH, json=sent, headers=headers)
    assert answer.status_code == 200, answer.text


async def test_a_browser_is_told_without_any_key(town: Town, browser: Browser, service: Service) -> None:
    ada, bob = await join(town), await join(town)
    device = service.device()
    await enter(browser, ada)
    off = await browser.open(PAGE)
    assert "Turning them on needs JavaScript" in off.text
    assert re.search(r"<p data-state=\"on\" hidden>", off.text)
    assert "What this device tells you" not in off.text
    answer = await browser.http.post(PATH, json={"subscription": device.subscription})
    assert answer.status_code == 401, "a cookie alone is nobody's key"

    await subscribe(browser, device)
    shown = await browser.open(PAGE)
    assert "They are on in this browser." in shown.text
    assert "Turning them on needs JavaScript" not in shown.text
    number = next(place for place, form in enumerate(browser.forms()) if "policy" in form.values)
    await browser.submit(number, {"tell_mention": "true", "tell_favourite": "", "tell_follow": "", "policy": "all"})
    assert "Saved." in browser.page.text
    refused = await browser.submit(number, {"policy": "some"})
    assert refused.status_code == 422

    said = await post(bob, f"@{ada.name} hello")
    await post(ada, "mine")
    await bob.to(ada, "follow")
    await all_sent(town)
    [text] = device.texts()
    shown_id = next(one["id"] for one in await ada.get("/api/v1/notifications") if one["type"] == "mention")
    assert text == {
        "preferred_locale": "en",
        "notification_id": shown_id,
        "notification_type": "mention",
        "icon": text["icon"],
        "title": f"{bob.name} mentioned you",
        "body": f"@{ada.name} hello",
        "url": f"/@{bob.name}/{said['id']}",
    }
    async with town.house() as house, house.works.begin() as work:
        rows = repr(await work.db.all(query(select(subscriptions), tuple)))
    key = browser.cookie("kith_session")
    assert key
    assert key not in rows

    await browser.open(PAGE)
    await browser.submit(next(n for n, form in enumerate(browser.forms()) if form.values.get("does") == "off"))
    assert "Notifications on this device are off now." in browser.page.text
    assert await kept(ada) == 0


async def test_whoever_signs_in_again_is_still_told_there(town: Town, browser: Browser, service: Service) -> None:
    ada, bob = await join(town), await join(town)
    device = service.device()
    await enter(browser, ada)
    await subscribe(browser, device)
    async with town.house() as house, house.works.begin() as work:
        old = await store.find_live(work.db, sessions.hash_key(browser.cookie("kith_session") or ""), work.now)
        assert old is not None
        assert old.user_id is not None
        new = await sessions.sign_in(work, old, old.user_id, method="password", life=None, address="127.0.0.1")
    assert not await browser.is_signed_in()
    assert new.key is not None
    browser.http.cookies.delete("kith_session")
    browser.http.cookies.set("kith_session", new.key)
    assert "They are on in this browser." in (await browser.open(PAGE)).text
    await post(bob, f"@{ada.name} hello")
    await all_sent(town)
    assert len(device.texts()) == 1


async def sign_out(here: Browser, _there: Browser, _ada: Member) -> None:
    await here.open("/flows/-/default/invalidation/")
    await here.submit()


async def end_elsewhere(_here: Browser, there: Browser, _ada: Member) -> None:
    await there.open("/settings/security")
    end = re.search(r'Firefox on Linux.*?action="([^"]+/end)"', there.page.text, re.DOTALL)
    assert end is not None
    await there.press(end[1])


async def new_password(_here: Browser, there: Browser, ada: Member) -> None:
    await there.open("/flows/default-password-change/")
    await there.submit(password=person_of(ada).password)
    await there.submit(password="quite another 99", password_repeat="quite another 99")


async def disabled(_here: Browser, _there: Browser, ada: Member) -> None:
    owner = await ada.town.owner()
    [found] = (await owner.get("/api/v2/core/users/", params={"username": ada.name})).json()["results"]
    await owner.call("PATCH", f"/api/v2/core/users/{found['pk']}/", json={"is_active": False})


Ending = Callable[[Browser, Browser, Member], Awaitable[None]]


@pytest.mark.parametrize("ending", [sign_out, end_elsewhere, new_password, disabled])
async def test_it_ends_with_the_session(town: Town, new_browser: NewBrowser, service: Service, ending: Ending) -> None:
    ada, bob = await join(town), await join(town)
    here, there, device = new_browser(), new_browser(), service.device()
    here.http.headers["User-Agent"] = FIREFOX
    await enter(here, ada)
    await enter(there, ada)
    await subscribe(here, device)
    device.answers = [(503, {})]
    await post(bob, f"@{ada.name} first")
    await all_sent(town)
    assert (len(device.received), await kept(ada)) == (1, 1)
    await ending(here, there, ada)
    assert not await here.is_signed_in()
    assert await kept(ada) == 0
    await post(bob, f"@{ada.name} second")
    await all_sent(town)
    assert len(device.received) == 1


async def test_a_suspended_person_is_told_nothing(town: Town, browser: Browser, service: Service) -> None:
    ada, bob = await join(town), await join(town)
    device = service.device()
    await enter(browser, ada)
    await subscribe(browser, device)
    await set_state(town, ada.id, lambda work: {"suspended_at": work.now})
    await post(bob, f"@{ada.name} hello")
    await all_sent(town)
    assert device.received == []


async def test_whoever_looks_through_anothers_eyes_cannot_listen(
    town: Town, browser: Browser, service: Service
) -> None:
    ada, owner = await join(town), await town.owner()
    await browser.sign_in(owner.username, owner.password)
    await browser.open("/settings/impersonate")
    await browser.submit(username=ada.name, reason="to see")
    assert "They are off" in (await browser.open(PAGE)).text
    headers = {"X-CSRF-Token": browser.cookie("kith_csrf") or ""}
    sent = {"subscription": service.device().subscription}
    assert (await browser.http.post(PATH, json=sent, headers=headers)).status_code == 403
    assert await kept(ada) == 0


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_worker_is_asked_for_again_and_pages_are_not_kept(town: Town, browser: Browser) -> None:
    worker = await browser.http.get("/sw.js")
    assert worker.headers["content-type"].startswith("text/javascript")
    assert worker.headers["cache-control"] == "no-cache"
    assert "connect-src 'self'" in worker.headers["content-security-policy"]
    assert VERSION in worker.text.splitlines()[0], "a new version of our files must make a new worker"
    assert "Du hast eine neue Benachrichtigung" in worker.text.splitlines()[0]

    ada = await join(town)
    await enter(browser, ada)
    for path in ("/home", PAGE, f"/@{ada.name}", "/about"):
        assert (await browser.http.get(path)).headers["cache-control"] == "no-store", path
    for language, words in (("de", "Du bist offline"), ("en", "You are offline")):
        page = await browser.http.get("/offline", headers={"accept-language": language})
        assert f"<h1>{words}</h1>" in page.text
        assert "Du bist offline" in page.text
        assert "set-cookie" not in page.headers
        assert ada.name not in page.text


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_there_is_a_picture_wherever_browsers_look_for_one(town: Town, browser: Browser) -> None:
    for path in ("/favicon.ico", "/apple-touch-icon.png", "/apple-touch-icon-precomposed.png"):
        answer = await browser.http.get(path, follow_redirects=True)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png"), path
        assert answer.content.startswith(b"\x89PNG")
    for page in ("/auth/sign_in", "/about"):
        shown = await browser.open(page)
        [address] = re.findall(r'<link rel="icon" href="([^"]+)">', shown.text)
        assert (await browser.http.get(address)).status_code == 200
