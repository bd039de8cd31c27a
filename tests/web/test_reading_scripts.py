"""Reading on and coming back, in a real browser: timelines and columns without end, in the browser's time zone."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.social.members import Member, join
from tests.social.posts import post, settle
from tests.town import Town, build_town
from tests.web.chromium import opened, sign_in
from tests.web.test_client import person

MANY = 45


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One database is enough: what is tried here is the scripts."""
    async with build_town("sqlite", tmp_path_factory.mktemp("reading"), confirm_email="off") as town:
        yield town


async def test_one_reads_on_comes_back_and_is_not_disturbed(chrome: Browser, place: Town) -> None:
    ada, bob = await join(place, "ada"), await join(place, "bob")
    await ada.to(bob, "follow")
    await settle(place)
    said = [await post(bob, f"Number {number}") for number in range(MANY)]
    await settle(place)
    async with opened(chrome, place, timezone_id="Asia/Tokyo") as page:
        await sign_in(page, person(ada))
        await _back_to_the_same_post(page, said[2]["id"])
        exact = page.locator(".counts time")
        await page.goto(f"/@{bob.name}/{said[0]['id']}")
        there = await page.evaluate(
            "(at) => new Intl.DateTimeFormat('en', {dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Tokyo'}).format(new Date(at))",
            said[0]["created_at"],
        )
        await expect(exact).to_have_text(there)
        await _columns(page, bob, said[0]["id"])


async def test_days_are_counted_by_nights_where_the_reader_is(chrome: Browser, place: Town) -> None:
    """It is Wednesday, 9 o'clock in Tokyo, and midnight in universal time."""
    said = {
        "2026-11-17T23:10:00Z": "50 min. ago",
        "2026-11-17T13:00:00Z": "11 hr. ago",
        "2026-11-16T23:00:00Z": "yesterday",
        "2026-11-16T14:30:00Z": "2 days ago",  # half an hour before midnight there, 33 hours ago
        "2026-11-16T15:30:00Z": "yesterday",
        "2026-11-11T16:00:00Z": "6 days ago",
        "2026-11-10T14:00:00Z": "Nov 10",
        "2025-12-31T15:30:00Z": "Jan 1",  # already the new year there
        "2025-12-31T14:30:00Z": "Dec 31, 2025",
    }
    async with opened(chrome, place, timezone_id="Asia/Tokyo") as page:
        await page.clock.set_fixed_time("2026-11-18T00:00:00Z")
        await page.goto("/explore")
        told = await page.evaluate(
            """async (moments) => {
                const script = document.querySelector('script[src*="client/main"]').src;
                const found = performance.getEntriesByType("resource").find(one => one.name.includes("times"));
                const { tell } = await import(found ? found.name : script.replace("main", "times"));
                const root = document.createElement("div");
                for (const one of moments) root.append(Object.assign(document.createElement("time"), {dateTime: one}));
                tell(root);
                return [...root.children].map(one => one.firstElementChild.textContent);
            }""",
            list(said),
        )
    assert dict(zip(said, told, strict=True)) == said


async def _back_to_the_same_post(page: Page, id: str) -> None:
    await page.goto("/home")
    far = page.locator(f"#post-{id}")
    while not await far.count():
        await page.mouse.wheel(0, 4000)
        await page.evaluate("new Promise(requestAnimationFrame)")
    await far.scroll_into_view_if_needed()
    await far.locator(".when a").click()
    await page.wait_for_url(f"**/{id}")
    await page.go_back()
    await expect(far).to_be_in_viewport()


async def _columns(page: Page, bob: Member, oldest: str) -> None:
    """What comes above leaves the line where it is that somebody reads."""
    await page.goto("/deck")
    column = page.locator("[data-column=home]")
    last = column.locator(f'[data-row="{oldest}"]')
    while not await last.count() or await column.locator(".onward").count():
        await column.evaluate("(one) => { one.scrollTop = one.scrollHeight; }")
        await page.evaluate("new Promise(requestAnimationFrame)")
    read = column.locator(":scope > .post").nth(MANY // 2)
    await read.evaluate("(one) => one.scrollIntoView({ block: 'start', behavior: 'instant' })")
    before = await _top(read)

    new = await post(bob, "Brand new")
    await expect(column.locator(f'[data-row="{new["id"]}"]')).to_be_attached()
    read = column.locator(":scope > .post").nth(MANY // 2 + 1)
    assert abs(await _top(read) - before) < 1  # of a pixel: browsers scroll by whole ones
    assert await column.locator("[id^=post-]").count() == 0


async def _top(row: Locator) -> float:
    top: float = await row.evaluate("(one) => one.getBoundingClientRect().top")
    return top
