"""A real browser, and what every page that it shows is held to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from axe_playwright_python.async_playwright import Axe, AxeResults  # type: ignore[import-untyped]
from playwright.async_api import Browser, Page, async_playwright

from tests.town import Person, Town
from tests.town.debian import need

CHROMIUM = "/usr/bin/chromium"
WORDS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = Axe()
_WRONG = "axe.run({resultTypes: ['violations']}).then(({violations, testEngine}) => ({violations, testEngine}))"


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    """Debian's own; the tests do not go without it."""
    await asyncio.to_thread(need, CHROMIUM, "chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=WORDS)
        yield browser
        await browser.close()


@asynccontextmanager
async def opened(chrome: Browser, town: Town, **options: Any) -> AsyncIterator[Page]:
    """A page that ends with an error where the browser refused something or a script failed."""
    context = await chrome.new_context(base_url=town.base_url, **options)
    page = await context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if "Content Security" in message.text else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        yield page
    finally:
        await context.close()
    assert complaints == []


async def sign_in(page: Page, person: Person) -> None:
    await give_password(page, person)
    await page.wait_for_url("**/")


async def give_password(page: Page, person: Person, flow: str = "-/default/authentication") -> None:
    await page.goto(f"/flows/{flow}/")
    await send(page, {"User name or e-mail address": person.username})
    await send(page, {"Password": person.password})


async def send(page: Page, answers: dict[str, str], button: str = "Continue") -> None:
    """Fill in the fields of these labels, and press the button."""
    for label, value in answers.items():
        await page.get_by_label(label, exact=True).fill(value)
    await page.get_by_role("button", name=button, exact=True).click()


async def _barriers(page: Page) -> Any:
    """What axe has to say: brought to a page once, and asked for what is wrong only, which is far less to carry."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.axe_script)
    return AxeResults(await page.evaluate(_WRONG))


async def check(page: Page) -> None:
    """Nothing that axe knows to be a barrier, and the plain rules of a page of ours."""
    found = await _barriers(page)
    assert found.violations_count == 0, f"{page.url}\n{found.generate_report()}"
    assert await page.locator("h1").count() == 1, page.url
    assert await page.locator("main").count() == 1, page.url
    width = await page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert width[0] <= width[1], f"{page.url} is wider than its window"


async def check_day_and_night(page: Page) -> None:
    """By day at a desk, by night on a telephone."""
    await page.emulate_media(color_scheme="dark")
    await page.set_viewport_size({"width": 360, "height": 800})
    await check(page)
    await page.emulate_media(color_scheme="light")
    await page.set_viewport_size({"width": 1280, "height": 800})
    await check(page)
