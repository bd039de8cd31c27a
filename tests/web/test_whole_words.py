"""On a telephone, a tablet and a desk, in the language with the longest words: ours stay whole, nothing lies over anything
else, and what counts can be seen."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from tests.identity.records import make, results
from tests.town import build_town
from tests.web.chromium import check_width, opened
from tests.web.scenery import Scenery, build_scenery, person_of

WIDTHS = (360, 768, 1280)
# Words of ours that run over the end of a line, though they could stand in one.
_BROKEN = """() => {
  const ours = "button, .button, .badge, label, legend, summary, dt, thead th, nav a, .unread", found = [];
  for (const one of document.querySelectorAll(ours)) {
    if (!one.checkVisibility({visibilityProperty: true}) || one.querySelector("select, textarea")) continue;
    const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      if (text.parentElement.closest(".away") || getComputedStyle(text.parentElement).position === "absolute") continue;
      for (const word of text.data.matchAll(/[\\p{L}\\d+]+/gu)) {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        const tops = new Set([...range.getClientRects()].filter(part => part.width > 1).map(part => Math.round(part.top)));
        if (tops.size > 1) found.push(word[0]);
      }
    }
  }
  return found;
}"""
# What is ticked and the words beside it, what stands in one line of a form, and numbers of lines that are cut off.
_OVERLAPPING = """() => {
  const found = [];
  for (const line of document.querySelectorAll("form.line")) {
    const parts = [...line.querySelectorAll("input, select, textarea, button, .tick span")].filter(one =>
      one.type !== "hidden" && one.checkVisibility({visibilityProperty: true}));
    parts.forEach((one, at) => {
      const [a, rest] = [one.getBoundingClientRect(), parts.slice(at + 1)];
      for (const other of rest) {
        const b = other.getBoundingClientRect();
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) found.push(`${one.name} ${other.name ?? other.textContent}`);
      }
    });
  }
  for (const tick of document.querySelectorAll(".tick")) {
    const [box, words] = [tick.querySelector("input"), tick.querySelector("span")];
    if (!box?.checkVisibility() || !words) continue;
    const [left, right] = [box.getBoundingClientRect(), words.getBoundingClientRect()];
    if (left.right > right.left + 1 || left.width > 40) found.push(words.textContent);
  }
  for (const number of document.querySelectorAll(".editor .numbers span")) {
    const [one, all] = [number.getBoundingClientRect(), number.parentElement.getBoundingClientRect()];
    if (one.height && (one.bottom > all.bottom || one.right > all.right)) found.push(number.textContent);
  }
  return found;
}"""


@pytest.fixture(scope="module")
async def scenery(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scenery]:
    """One database is enough: what is tried here is the pages."""
    async with build_town("sqlite", tmp_path_factory.mktemp("words")) as town:
        yield await build_scenery(town)


async def _enter(page: Page, name: str, password: str) -> None:
    await page.goto("/flows/-/default/authentication/")
    await page.fill("#f-uid_field", name)
    await page.press("#f-uid_field", "Enter")
    await page.fill("#f-password", password)
    await page.press("#f-password", "Enter")
    await page.wait_for_url("**/")


async def _look(page: Page, *addresses: str) -> None:
    wrong = []
    for address in addresses:
        await page.goto(address)
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 900})
            wrong += [(address, width, one) for one in await page.evaluate(_BROKEN)]
            wrong += [(address, width, one) for one in await page.evaluate(_OVERLAPPING)]
            await check_width(page)
    assert wrong == []


async def test_words_of_members_pages_stay_whole(chrome: Browser, scenery: Scenery) -> None:
    ada = person_of(scenery.ada)
    await scenery.town.kith("announcements", "create", "The water is off")
    [told] = await scenery.ada.get("/api/v1/announcements")
    for reaction in "👍🎉😄😢":  # what is offered beside them opens at the right edge
        await scenery.ada.does("PUT", f"/api/v1/announcements/{told['id']}/reactions/{reaction}")
    async with opened(chrome, scenery.town, locale="de-DE") as page:
        await _enter(page, ada.username, ada.password)
        await _look(
            page, "/home", "/deck", "/explore/suggestions", "/settings/security", "/settings/preferences", "/lists"
        )
        assert await page.goto("/home")
        await expect(page.locator(".announcement .offered")).to_have_count(1)


async def test_words_of_the_console_stay_whole(chrome: Browser, scenery: Scenery) -> None:
    owner = scenery.owner
    mapping = await make(
        owner, "/propertymappings/scope/", name="lines", scope_name="lines", expression="a = 1\nreturn {}"
    )
    [flow] = await results(owner, "/flows/instances/", slug="default-authentication-flow")
    async with opened(chrome, scenery.town, locale="de-DE") as page:
        await _enter(page, owner.username, owner.password)
        await _look(
            page,
            "/admin",
            "/admin/people",
            "/admin/reports",
            f"/admin/flows/{flow['slug']}",
            scenery.filled("/admin/applications/{application}"),
            "/admin/records/stages/otp_validate/new",
            f"/admin/records/propertymappings/scope/{mapping['pk']}",
        )
        await expect(page.locator(".editor .numbers span").nth(1)).to_be_attached()  # its script writes them


@pytest.mark.parametrize("width", WIDTHS)
async def test_how_much_is_unread_can_be_read(chrome: Browser, scenery: Scenery, width: int) -> None:
    ada = person_of(scenery.ada)
    async with opened(chrome, scenery.town, locale="de-DE", viewport={"width": width, "height": 800}) as page:
        await _enter(page, ada.username, ada.password)
        count = page.locator("#unread [data-count]")
        await count.evaluate("one => { one.textContent = '99+'; one.parentElement.hidden = false }")
        box, ring = await count.bounding_box(), await page.locator("#unread").bounding_box()
        assert box is not None
        assert ring is not None
        assert box["width"] > 10
        assert box["height"] < 30
        assert ring["x"] >= 0
        assert ring["x"] + ring["width"] <= width
        assert ring["y"] + ring["height"] <= 800
