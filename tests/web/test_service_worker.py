"""The service worker in a real browser: a page for lack of network, never a stale one, and notifications."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser as Chrome
from playwright.async_api import Page, Worker

from tests.social.members import join, until
from tests.social.posts import post
from tests.social.push_service import open_service
from tests.social.test_push import all_sent
from tests.town import Town, build_town
from tests.town.town import Engine
from tests.web.chromium import WHOLE, check, launched, opened, sign_in
from tests.web.test_client import person

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)

_CONTROLLED = "() => navigator.serviceWorker.controller !== null"
_KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys())
    for (const one of await (await caches.open(name)).keys()) found.push(new URL(one.url).pathname);
  return found.sort();
}"""
_SHOWN = """async () => (await self.registration.getNotifications()).map((one) =>
    ({title: one.title, body: one.body, icon: new URL(one.icon).pathname}))"""
# Chromium forgets a notification whose list is asked for while it is on its way to be shown, so that is waited for first.
_NOTE_SHOWN = """() => {
  const show = ServiceWorkerRegistration.prototype.showNotification;
  self.countShown = 0;
  ServiceWorkerRegistration.prototype.showNotification = async function (...given) {
    await show.apply(this, given);
    self.countShown += 1;
  };
}"""
_COUNT = "async () => (await (await navigator.serviceWorker.ready).getNotifications()).length"
_CLEAR = "async () => { for (const one of await self.registration.getNotifications()) one.close(); }"
# Where a click leads: a window cannot be opened without a person's hand, so what the browser is asked for is noted.
_CLICK = """async () => {
  const asked = [];
  self.clients.openWindow = async (url) => void asked.push(url);
  WindowClient.prototype.focus = async function () { asked.push(`focus ${this.url}`); };
  for (const notification of await self.registration.getNotifications()) {
    const event = new NotificationEvent("notificationclick", { notification });
    const waits = [];
    event.waitUntil = (one) => waits.push(one);
    self.dispatchEvent(event);
    await Promise.all(waits);
  }
  return asked;
}"""
# The browser says that its address is another now, or that it has none any more and may ask for one.
_ANOTHER = """async ([next, isGiven]) => {
  const made = { toJSON: () => next, unsubscribe: async () => (self.givenBack = true) };
  PushManager.prototype.subscribe = async () => made;
  const event = new Event("pushsubscriptionchange");
  const waits = [];
  event.waitUntil = (one) => waits.push(one);
  if (isGiven) event.newSubscription = made;
  self.dispatchEvent(event);
  await Promise.all(waits);
  return self.givenBack ?? false;
}"""
# Chromium cannot reach a push service here; its answer is that of the tests' own.
_PUSH_SERVICE = """(() => {
  const made = () => localStorage.pushed && {
    ...JSON.parse(localStorage.pushed),
    toJSON: () => JSON.parse(localStorage.pushed),
    unsubscribe: async () => delete localStorage.pushed,
  };
  PushManager.prototype.getSubscription = async () => made() || null;
  PushManager.prototype.subscribe = async (options) => {
    if (localStorage.unreachable || !options.userVisibleOnly) throw new DOMException("", "AbortError");
    localStorage.key = btoa(String.fromCharCode(...options.applicationServerKey));
    localStorage.pushed = SUBSCRIPTION;
    return made();
  };
})()"""


@pytest.fixture(scope="module")
async def town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One that may send to this machine."""
    async with build_town(engine, tmp_path_factory.mktemp("worker"), private_hosts="127.0.0.1") as built:
        yield built


async def worker_of(page: Page) -> Worker:
    """Once it answers for this page."""
    await page.wait_for_function(_CONTROLLED)
    [worker] = page.context.service_workers
    return worker


class PushDoor:
    """The browser's own end of Web Push: messages arrive in the worker as they would from a push service."""

    def __init__(self, page: Page, worker: Worker, town: Town) -> None:
        self._page = page
        self._worker = worker
        self._origin = town.base_url
        self._delivered = 0
        self._cdp: Any = None
        self._registration = ""

    async def open(self) -> None:
        found: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def note(event: dict[str, Any]) -> None:
            for one in event["registrations"]:
                if not found.done():
                    found.set_result(one["registrationId"])

        self._cdp = await self._page.context.new_cdp_session(self._page)
        self._cdp.on("ServiceWorker.workerRegistrationUpdated", note)
        await self._cdp.send("ServiceWorker.enable")
        self._registration = await found
        await self._worker.evaluate(_NOTE_SHOWN)

    async def deliver(self, text: str) -> None:
        """Until it is shown."""
        sent = {"origin": self._origin, "registrationId": self._registration, "data": text}
        await self._cdp.send("ServiceWorker.deliverPushMessage", sent)
        self._delivered += 1

        async def is_shown() -> bool:
            return bool(await self._worker.evaluate("self.countShown") == self._delivered)

        await until(is_shown)

    async def shows(self, count: int) -> None:
        async def so_many() -> bool:
            return bool(await self._page.evaluate(_COUNT) == count)

        await until(so_many)


@pytest.fixture
async def chrome() -> AsyncIterator[Chrome]:
    """The whole browser, which shows notifications."""
    async with launched(WHOLE) as browser:
        yield browser


async def test_without_network_a_page_says_so_and_nothing_is_stale(town: Town, chrome: Chrome) -> None:
    ada = await join(town)
    offline_words = "You are offline"
    async with opened(chrome, town) as page:
        await page.goto("/auth/sign_in")
        await page.evaluate("caches.open('offline-of-yesterday').then((one) => one.put('/home', new Response('old')))")
        await sign_in(page, person(ada))
        worker = await worker_of(page)
        assert worker.url == f"{town.base_url}/sw.js"
        await page.goto("/home")
        await page.goto("/offline")  # which calls nobody

        await page.context.set_offline(True)
        for address in ("/notifications", "/home"):
            await page.goto(address)
            await page.get_by_role("heading", name=offline_words).wait_for()
            await page.wait_for_url(town.base_url + address)
            assert ada.name not in await page.content()
        await page.locator("[lang=de]", has_text="Du bist offline").wait_for()
        await check(page)  # with its style

        said = await post(ada, "Said meanwhile")
        await page.context.set_offline(False)
        await page.locator(f"#post-{said['id']}").wait_for()  # it comes back by itself
        assert await page.get_by_role("heading", name=offline_words).count() == 0
        again = await post(ada, "Said a moment later")
        await page.reload()
        await page.locator(f"#post-{again['id']}").wait_for()

        kept = await worker.evaluate(_KEPT)
        assert [one for one in kept if not one.startswith("/static/")] == ["/offline"]
        assert [one.rpartition("/")[2] for one in kept if one.startswith("/static/")] == ["kith.css", "offline.js"]


async def test_notifications_are_turned_on_come_and_lead_to_their_page(town: Town, chrome: Chrome) -> None:
    ada, bob = await join(town), await join(town)
    await bob.patch("/api/v1/accounts/update_credentials", json={"display_name": "<b>Bob</b>"})
    async with open_service() as service, opened(chrome, town) as page:
        device = service.device()
        await page.context.grant_permissions(["notifications"], origin=town.base_url)
        fake = _PUSH_SERVICE.replace("SUBSCRIPTION", json.dumps(json.dumps(device.subscription)))
        await page.context.add_init_script(fake)
        await sign_in(page, person(ada))
        await page.goto("/settings/notifications")
        turn_on = page.get_by_role("button", name="Turn on", exact=True)
        await page.get_by_text("They are off in this browser.").wait_for()
        await page.evaluate("() => { localStorage.unreachable = 1; }")
        await turn_on.click()
        await page.get_by_text("could not reach the service").wait_for()
        await page.evaluate("() => { delete localStorage.unreachable; }")
        await turn_on.click()
        await page.get_by_text("They are on in this browser.").wait_for()
        assert await turn_on.count() == 0
        assert await page.get_by_label("Somebody mentions you").is_checked()
        await page.get_by_label("Somebody follows you").uncheck()
        await page.get_by_role("button", name="Save", exact=True).click()
        await page.get_by_text("Saved.").wait_for()
        await check(page)

        said = await post(bob, f"@{ada.name} hello <img src=x onerror=alert(1)>")
        await bob.to(ada, "follow")
        await all_sent(town)
        [text] = device.texts()
        [received] = device.received
        worker = await worker_of(page)
        door = PushDoor(page, worker, town)
        await door.open()
        for _ in range(2):  # a push service may bring it twice
            await door.deliver(device.read(received).decode())
            await door.shows(1)
        [shown] = await worker.evaluate(_SHOWN)
        assert shown["title"] == "<b>Bob</b> mentioned you"
        assert shown["body"] == text["body"] == f"@{ada.name} hello <img src=x onerror=alert(1)>"
        place = f"{town.base_url}/@{bob.name}/{said['id']}"
        assert await worker.evaluate(_CLICK) == [place]
        await door.shows(0)
        await page.goto(place)
        await page.get_by_text("hello <img src=x onerror=alert(1)>").first.wait_for()
        await door.deliver(device.read(received).decode())
        await door.shows(1)
        assert await worker.evaluate(_CLICK) == [f"focus {place}"]

        for is_given in (True, False):
            device = service.device()
            assert not await worker.evaluate(_ANOTHER, [device.subscription, is_given])
            await post(bob, f"@{ada.name} once more")
            await bob.to(ada, "unfollow")
            await bob.to(ada, "follow")
            await all_sent(town)
            assert [one["notification_type"] for one in device.texts()] == ["mention"], "as was wished before"
            await page.evaluate("one => { localStorage.pushed = JSON.stringify(one); }", device.subscription)

        await page.goto("/settings/notifications")
        await page.get_by_role("button", name="Turn off", exact=True).click()
        await page.get_by_text("Notifications on this device are off now.").wait_for()
        await turn_on.wait_for()
        await page.wait_for_function("() => localStorage.pushed === undefined")
        assert await worker.evaluate(_ANOTHER, [device.subscription, True]), "it is off"

        other = await page.context.new_page()
        await other.add_init_script("delete window.PushManager")
        await other.goto("/settings/notifications")
        await other.get_by_text("This browser cannot show notifications").wait_for()


BROKEN = ("", "not JSON", "null", "5", "[]", '{"title": 5, "url": ["x"], "icon": {}}', "{}")


async def test_what_cannot_be_read_is_shown_in_plain_words(town: Town, chrome: Chrome) -> None:
    async with opened(chrome, town) as page:
        await page.context.grant_permissions(["notifications"], origin=town.base_url)
        await page.goto("/about")
        worker = await worker_of(page)
        door = PushDoor(page, worker, town)
        await door.open()
        for text in BROKEN:
            await door.deliver(text)
            await door.shows(1)
            [shown] = await worker.evaluate(_SHOWN)
            assert (shown["title"], shown["body"]) == ("You have a new notification", "Open it to see what happened.")
            assert shown["icon"].endswith("/icon.png")
            await worker.evaluate(_CLEAR)
            await door.shows(0)
        for number, place in enumerate(
            ("https://elsewhere.example/", "javascript:alert(1)", "//elsewhere.example", "")
        ):
            await door.deliver(json.dumps({"title": "x", "notification_id": number, "url": place}))
        await door.deliver(json.dumps({"preferred_locale": "de-AT"}))
        await door.shows(5)
        assert "Du hast eine neue Benachrichtigung" in [one["title"] for one in await worker.evaluate(_SHOWN)]
        assert await worker.evaluate(_CLICK) == [f"{town.base_url}/notifications"] * 5
