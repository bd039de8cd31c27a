"""The pages for finding people, and what everybody sees, in a real browser: no barrier by day and by night."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from tests.social.members import join
from tests.social.posts import post
from tests.social.staff import employ
from tests.town import Person, Town, build_town
from tests.web.chromium import check_day_and_night, opened, sign_in


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One database is enough: what is tried here is the pages."""
    folder = tmp_path_factory.mktemp("finding")
    async with build_town("sqlite", folder, confirm_email="off", publish_domain_blocks="on") as town:
        yield town


async def test_the_page_that_names_blocked_servers_has_no_barriers(chrome: Browser, place: Town) -> None:
    owner = await employ(place, "owner")
    await owner.post("/api/v1/admin/domain_blocks", json={"domain": "bad.example", "public_comment": "Spam"})
    async with opened(chrome, place) as page:
        await page.goto("/about")
        await page.get_by_text("bad.example").wait_for()
        await check_day_and_night(page)


async def test_a_list_is_made_and_filled_with_the_keyboard_alone(chrome: Browser, place: Town) -> None:
    ada, bob = await join(place), await join(place)
    await ada.to(bob, "follow")
    async with opened(chrome, place) as page:
        await sign_in(page, Person(place.http, ada.name, f"correct horse {ada.name}"))
        await page.goto("/lists")
        await page.get_by_label("Name of the list").focus()
        await page.keyboard.type("Neighbours")
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Edit the list “Neighbours”").focus()
        await page.keyboard.press("Enter")
        await page.get_by_label("Name of somebody you follow").focus()
        await page.keyboard.type(bob.name)
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name=f"Add @{bob.name}").focus()
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name=f"Remove @{bob.name}").wait_for()
    [made] = await ada.get("/api/v1/lists")
    assert [one["id"] for one in await ada.get(f"/api/v1/lists/{made['id']}/accounts")] == [bob.id]


async def test_new_posts_with_a_hashtag_appear_while_one_looks(chrome: Browser, place: Town) -> None:
    ada, bob = await join(place), await join(place)
    await post(bob, "The first #plums")
    async with opened(chrome, place) as page:
        await sign_in(page, Person(place.http, ada.name, f"correct horse {ada.name}"))
        async with page.expect_response(lambda answer: "/streaming/hashtag?tag=plums" in answer.url):
            await page.goto("/tags/plums")
        await post(bob, "Without it")
        await post(bob, "The second #plums")
        await page.get_by_text("The second").wait_for()
        assert await page.get_by_text("Without it").count() == 0
