"""A real browser, and what every page that it shows is held to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal
from weakref import WeakSet

from axe_playwright_python.async_playwright import Axe, AxeResults  # type: ignore[import-untyped]
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    async_playwright,
    expect,
)

from tests.modes import is_all
from tests.town import Person, Town
from tests.town.debian import need

Scheme = Literal["light", "dark"]

# What Debian calls them, and where they are. The shell shows pages for far less, but has no notifications.
SHELL, WHOLE = "chromium-headless-shell", "chromium"
WORDS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = Axe()
expect.set_options(timeout=30_000)  # both cores may be busy with other tests; what comes at once is not waited for
_DESK = 1280
_LOOKS: tuple[tuple[int, Scheme, Scheme], ...] = ((_DESK, "light", "dark"), (320, "dark", "light"))
_PARTS = ("stylesheet", "script", "image", "font", "media", "manifest")
_CONTRAST = "{runOnly: ['color-contrast'], resultTypes: ['violations']}"
_WRONG = "axe.run(OPTIONS).then(({violations, testEngine}) => ({violations, testEngine}))"
_STICKING_OUT = """() => {
  const root = document.documentElement, was = root.dir, found = {};
  for (root.dir of ["rtl", "ltr"]) found[root.dir] = root.scrollWidth - root.clientWidth;
  root.dir = was;
  return was ? found : {unknown: 1};
}"""
_ALL_BUT_CONTRAST = "{rules: {'color-contrast': {enabled: false}}, resultTypes: ['violations']}"
# Where a text of each kind can be seen first. Its contrast comes of its colour, size, weight and shadow, and of the grounds
# beneath it: those that let everything through count for nothing.
_COLOURS = """() => {
  const grounds = new Map([[null, ""]]);
  const ground = one => {
    if (!grounds.has(one)) {
      const {backgroundColor, backgroundImage, opacity} = getComputedStyle(one);
      const own = [backgroundColor, backgroundImage, opacity].join();
      const below = ground(one.parentElement);
      grounds.set(one, own === "rgba(0, 0, 0, 0),none,1" ? below : own + " on " + below);
    }
    return grounds.get(one);
  };
  const found = {};
  [...document.body.querySelectorAll("*")].forEach((one, place) => {
    const isText = [...one.childNodes].some(part => part.nodeType === 3 && part.data.trim());
    if ((isText || one.matches("input, select, textarea")) && one.checkVisibility({visibilityProperty: true})) {
      const {color, fontSize, fontWeight, textShadow} = getComputedStyle(one);
      const stands = [one.tagName, getComputedStyle(one).position === "static"];
      found[[stands, color, fontSize, fontWeight, textShadow, ground(one)].join()] ??= place;
    }
  });
  return found;
}"""
_checked: WeakSet[BrowserContext] = WeakSet()
_measured: set[str] = set()  # kinds of texts of which axe has found that they can be read
_CONTRAST_OF = """([places]) => {
  const every = document.body.querySelectorAll("*");
  return axe.run(places.map(place => every[place]), OPTIONS).then(({violations, testEngine}) => ({violations, testEngine}));
}""".replace("OPTIONS", _CONTRAST)


@asynccontextmanager
async def launched(package: str = SHELL) -> AsyncIterator[Browser]:
    """Debian's own; the tests do not go without it. Where there is no shell, the whole one does as well."""
    try:
        path = await asyncio.to_thread(need, f"/usr/bin/{package}", package)
    except AssertionError:
        path = await asyncio.to_thread(need, f"/usr/bin/{WHOLE}", WHOLE)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=WORDS)
        yield browser
        await browser.close()


@asynccontextmanager
async def opened(chrome: Browser, town: Town, **options: Any) -> AsyncIterator[Page]:
    """A page that ends with an error where a script failed or the browser refused something, where a picture or a script
    did not come, or where anything was asked of another host."""
    context = await chrome.new_context(base_url=town.base_url, **options)
    page = await context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: _note_message(complaints, message))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: _note_request(complaints, request))
    page.on("response", lambda answer: _note_answer(complaints, answer))
    try:
        yield page
    finally:
        await context.close()
    assert complaints == [], complaints


def _note_message(complaints: list[str], message: ConsoleMessage) -> None:
    """That something could not be loaded is looked at where the answer is."""
    if message.type == "error" and not message.text.startswith("Failed to load resource"):
        complaints.append(message.text)


def _note_request(complaints: list[str], request: Request) -> None:
    """People may go elsewhere; a page brings nothing from another host than its own."""
    if request.resource_type == "document":
        return
    home = "/".join(request.frame.url.split("/")[:3])
    if not request.url.startswith((f"{home}/", "data:", "blob:")):
        complaints.append(f"{request.url} was asked for")


def _note_answer(complaints: list[str], answer: Response) -> None:
    if answer.status >= 400 and answer.request.resource_type in _PARTS:
        complaints.append(f"{answer.url} answered {answer.status}")


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


async def _barriers(page: Page, options: str) -> Any:
    """What axe has to say: brought to a page once, and asked for what is wrong only, which is far less to carry.

    A context that was checked once before is checked again, so its next pages get axe when they are opened.
    """
    if not await page.evaluate("'axe' in window"):
        if page.context in _checked:
            await bring_axe(page)
        _checked.add(page.context)
        await page.evaluate(AXE.axe_script)
    return AxeResults(await page.evaluate(_WRONG.replace("OPTIONS", options)))


def _refuse(page: Page, found: AxeResults) -> None:
    assert found.violations_count == 0, f"{page.url}\n{found.generate_report()}"


async def bring_axe(page: Page) -> None:
    """To each page that will be opened there, which costs less than to carry it to one after the other."""
    await page.context.add_init_script(AXE.axe_script)


async def check(page: Page) -> None:
    """Nothing that axe knows to be a barrier, and the plain rules of a page of ours."""
    _refuse(page, await _barriers(page, _ALL_BUT_CONTRAST))
    await check_contrast(page)
    await check_headings(page)
    await check_width(page)


async def check_contrast(page: Page) -> None:
    """By day or by night, as the page is shown now. A text of a kind that was measured is as easy to read."""
    if is_all():
        _refuse(page, await _barriers(page, _CONTRAST))
        return
    texts = await page.evaluate(_COLOURS)
    new = [place for text, place in texts.items() if text not in _measured]
    if new:
        _refuse(page, AxeResults(await page.evaluate(_CONTRAST_OF, [new])))
    _measured.update(texts)


async def check_headings(page: Page) -> None:
    found = await page.evaluate("['h1', 'main'].map(name => document.querySelectorAll(name).length)")
    assert found == [1, 1], page.url


async def check_width(page: Page) -> None:
    """Nothing sticks out of the window, nor would it if the lines ran the other way."""
    for direction, out in (await page.evaluate(_STICKING_OUT)).items():
        assert out <= 0, f"{page.url} is {out} wider than its window, {direction}"


async def check_everywhere(page: Page) -> None:
    """At both sizes in both colours: by day and by night differ only in whether everything can be told apart."""
    for width, first, second in _LOOKS:
        await page.set_viewport_size({"width": width, "height": 800})
        await page.emulate_media(color_scheme=first)
        await check(page)
        await page.emulate_media(color_scheme=second)
        await check_contrast(page)


async def check_once(page: Page) -> None:
    """Everything but contrast; contrast by day and by night of each kind of text that was not measured yet.

    A page is shown as wide as the last one was left, and at the other width after that: each turn of a window has
    everything laid out and drawn once more.
    """
    window = page.viewport_size
    assert window is not None
    shown = window["width"]
    for width in sorted((width for width, _, _ in _LOOKS), key=lambda width: width != shown):
        if width != shown:
            await page.set_viewport_size({"width": width, "height": 800})
        await check_width(page)
        if width == _DESK:
            await check_headings(page)
            _refuse(page, await _barriers(page, _ALL_BUT_CONTRAST))
            for scheme in ("dark", "light"):
                await page.emulate_media(color_scheme=scheme)
                await check_contrast(page)


async def check_day_and_night(page: Page) -> None:
    """By day at a desk, by night on a telephone."""
    await page.emulate_media(color_scheme="dark")
    await page.set_viewport_size({"width": 360, "height": 800})
    await check(page)
    await page.emulate_media(color_scheme="light")
    await page.set_viewport_size({"width": 1280, "height": 800})
    await check(page)
