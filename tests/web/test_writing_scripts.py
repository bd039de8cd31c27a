"""Writing in a real browser: counted as the server counts, kept, completed, with files, without leaving the page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, FilePayload, Page, expect

from kith.social.text.counting import length
from kith.web.assets import address
from tests.social.members import Member, join
from tests.social.posts import post
from tests.social.samples import image_file
from tests.social.test_translation import service
from tests.town import Town, build_town
from tests.web.chromium import check, check_day_and_night, opened, sign_in
from tests.web.test_client import person

TEXTS = [
    "",
    "Hello",
    "https://example.org/a/very/long/path?x=1 and so on",
    "(https://example.org/a_(b)).",
    "http://localhost:3000",
    "xhttp://no.example/abc https:// https://a..b/cc https://-a.example/x https://exa_mple.org/",
    "xmpp:me@example.org magnet:?xt=urn http://[::1]/aaaaaaaaaaaaaaaaaaaaaaaa",
    "@ada@elsewhere.example hi @bob@elsewhere.example:3000, =@c@d.example a@b.example @@ada",
    "#tag #https://b.example/xyz x#no (#in) ＃全角 #123",
    "日本語 https://例え.jp/パス。",
    "👩‍👩‍👧‍👦🇩🇪🇫🇷🇩 e\u0301\u0301 क्षि हिन्दी กำ 한국어",
    "HTTPS://A.EXAMPLE/ABCDEFGHIJKLMNOPQRSTUVWXYZ\n\nand a break",
]


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """One database is enough: what is tried here is the scripts."""
    async with build_town("sqlite", tmp_path_factory.mktemp("writing"), confirm_email="off") as town:
        yield town


@pytest.fixture(scope="module")
async def ada(place: Town) -> Member:
    return await join(place, "ada")


async def newest(member: Member) -> dict[str, Any]:
    [said, *_] = await member.get(f"/api/v1/accounts/{member.id}/statuses")
    return dict(said)


async def test_a_post_is_written_with_all_that_helps(chrome: Browser, place: Town, ada: Member) -> None:
    await join(place, "grace")
    async with opened(chrome, place) as page:
        await sign_in(page, person(ada))
        await page.goto("/home")
        counted = await page.evaluate(
            "([module, texts]) => import(module).then(({length}) => texts.map(length))",
            [address("client/counting.js"), TEXTS],
        )
        assert counted == [length(text) for text in TEXTS]
        await _in_place(page)
        await _kept(page)
        await _completed(page)
        await _with_picture(page)
    said = await newest(ada)
    assert said["content"].startswith("<p>Look, ")
    assert "grace" in said["content"]
    assert "🎈" in said["content"]
    [medium] = said["media_attachments"]
    assert medium["description"] == "Red and blue"
    assert medium["meta"]["focus"] == {"x": 0.2, "y": 0.1}


async def _in_place(page: Page) -> None:
    """The post appears above the others, and the form is empty again."""
    field = page.get_by_label("What is on your mind?")
    await field.fill("Written at home")
    await expect(page.locator("[data-left]")).to_have_text("485 characters left")
    await page.reload()
    await expect(page.get_by_text("What you had begun to write is back.")).to_be_visible()
    await page.evaluate("window.stayed = true")
    await field.press("Control+Enter")
    await expect(page.locator("#feed .post").first).to_contain_text("Written at home")
    await expect(field).to_have_value("")
    await expect(page.get_by_text("What you had begun to write is back.")).to_have_count(0)
    assert await page.evaluate("window.stayed")


async def _kept(page: Page) -> None:
    """What was begun is there again, in the form with everything."""
    await page.get_by_label("What is on your mind?").fill("Look, ")
    await page.goto("/publish")
    field = page.get_by_label("Text", exact=True)
    await expect(field).to_have_value("Look, ")
    await expect(page.get_by_text("What you had begun to write is back.")).to_be_visible()
    await field.fill("x" * 501)
    await page.get_by_role("button", name="Post", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("character limit of 500 exceeded")
    await field.fill("Look, ")
    await page.get_by_label("Content warning").press("Enter")
    await expect(field).to_be_focused()


async def _completed(page: Page) -> None:
    """By the keyboard alone: a person, and an emoji by its name."""
    field = page.get_by_label("Text", exact=True)
    await field.press("End")
    await field.press_sequentially("@gra")
    await expect(page.get_by_role("option").first).to_contain_text("@grace")
    await field.press("Enter")
    await expect(field).to_have_value("Look, @grace ")
    await field.press_sequentially(":ballo")
    await expect(page.get_by_role("option").first).to_contain_text("balloon")
    await field.press("Tab")
    await expect(field).to_have_value("Look, @grace 🎈 ")
    await page.get_by_role("button", name="Emoji").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Search emoji").fill("octopus")
    await expect(dialog.locator(".emoji-choices button")).to_have_count(1)
    await check(page)
    await page.keyboard.press("Enter")
    await expect(field).to_have_value("Look, @grace 🎈 🐙 ")


async def _with_picture(page: Page) -> None:
    picture: FilePayload = {"name": "a.png", "mimeType": "image/png", "buffer": image_file("PNG")}
    field = page.locator("form[data-compose] input[type=file]")
    await page.route("**/api/v2/media", lambda _: asyncio.sleep(60))
    await field.set_input_files([picture])
    await page.get_by_role("button", name="Cancel").click()
    await expect(page.locator(".attached-file")).to_have_count(0)
    await page.unroute("**/api/v2/media")
    await page.route("**/api/v2/media", lambda route: route.abort())
    await field.set_input_files([picture])
    await expect(page.get_by_role("alert")).to_contain_text(
        "a.png could not be uploaded. The server cannot be reached."
    )
    await page.unroute("**/api/v2/media")
    await page.get_by_label("Text", exact=True).focus()
    await field.set_input_files([picture])
    await expect(page.get_by_label("Description for people who cannot see it")).to_be_visible()
    await expect(page.get_by_label("Text", exact=True)).to_be_focused()
    await page.get_by_label("Description for people who cannot see it").fill("Red and blue")
    await page.get_by_role("button", name="Choose the point").click()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        await page.keyboard.press(key)
    await check_day_and_night(page)
    await page.get_by_role("button", name="Done").click()
    await page.get_by_role("button", name="Post", exact=True).click()
    await page.wait_for_url("**/home#post-*")
    await expect(page.locator("#feed .post").first).to_contain_text("Look, ")


async def test_an_answer_is_written_below_and_pictures_are_viewed(chrome: Browser, place: Town, ada: Member) -> None:
    bob = await join(place, "bob")
    ids = [
        (
            await bob.post(
                "/api/v1/media", files={"file": (f"{name}.png", image_file("PNG"))}, data={"description": name}
            )
        )["id"]
        for name in ("First", "Second")
    ]
    said = await post(bob, "Two pictures", media_ids=ids)
    async with opened(chrome, place) as page:
        await sign_in(page, person(ada))
        await page.goto(f"/@bob/{said['id']}")
        await page.get_by_role("img", name="First").click()
        await expect(page.get_by_role("dialog")).to_contain_text("1/2 First")
        await page.keyboard.press("ArrowRight")
        await expect(page.get_by_role("dialog")).to_contain_text("2/2 Second")
        await check_day_and_night(page)
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)

        await page.locator(f"#post-{said['id']}").get_by_role("link", name="Reply").click()
        field = page.locator(".answering").get_by_label("Text", exact=True)
        await expect(field).to_have_value("@bob ")
        await expect(field).to_be_focused()
        await page.keyboard.type("Fine ones")
        await check_day_and_night(page)
        await page.keyboard.press("Control+Enter")
        await expect(page.locator(".post", has_text="Fine ones")).to_be_visible()
        await expect(page.locator(".answering")).to_have_count(0)
    [answer] = (await bob.get(f"/api/v1/statuses/{said['id']}/context"))["descendants"]
    assert "Fine ones" in answer["content"]


async def test_axe_finds_nothing_on_pages_about_posts(chrome: Browser, place: Town, ada: Member) -> None:
    cleo = await join(place, "cleo")
    said = await post(ada, "First", spoiler_text="Careful")
    await ada.does("PUT", f"/api/v1/statuses/{said['id']}", json={"status": "Second", "spoiler_text": "Careful"})
    theirs = await post(cleo, "As she said", quoted_status_id=said["id"])
    later = {"status": "Later", "scheduled_at": "2099-01-01T10:00:00Z"}
    await ada.post("/api/v1/statuses", json=later)
    mine = f"/@ada/{said['id']}"
    async with opened(chrome, place) as page:
        await sign_in(page, person(ada))
        for path in (f"{mine}/history", f"{mine}/quotes", "/scheduled"):  # with something on them, unlike in the table
            await page.goto(path)
            await check_day_and_night(page)
        await page.goto(f"/report?account={cleo.id}&status={theirs['id']}")
        await page.get_by_label("Something else").check()
        await page.get_by_role("button", name="Send report").click()
        await page.get_by_role("heading", name="Thank you for your report").wait_for()
        await check_day_and_night(page)


async def test_columns_are_live_and_do_not_move_what_one_reads(chrome: Browser, place: Town, ada: Member) -> None:
    dan = await join(place, "dan")
    for number in range(8):
        await post(dan, f"Number {number}")
    async with opened(chrome, place) as page:
        await sign_in(page, person(ada))
        async with page.expect_response("**/api/v1/streaming/public/local"):
            await page.goto("/deck")
        local = page.locator("[data-column=local]")
        read = local.locator(".post", has_text="Number 2")
        await read.scroll_into_view_if_needed()
        before = await read.evaluate("post => post.getBoundingClientRect().top")
        new = local.locator(".post", has_text="Something new")
        said = await post(dan, "Something new")
        await expect(new).to_have_count(1)
        assert await read.evaluate("post => post.getBoundingClientRect().top") == pytest.approx(before, abs=1)
        await dan.delete(f"/api/v1/statuses/{said['id']}")
        await expect(new).to_have_count(0)


async def test_a_post_is_translated_below_itself_or_on_a_page(chrome: Browser, tmp_path: Path) -> None:
    async with (
        service() as there,
        build_town(
            "sqlite", tmp_path, translator="libretranslate", translator_url=there.url, private_hosts="127.0.0.1"
        ) as town,
    ):
        reader, author = await join(town, "reader"), await join(town, "author")
        said = await post(author, "Die Katze", language="de")
        for scripts in (True, False):
            async with opened(chrome, town, java_script_enabled=scripts) as page:
                await sign_in(page, person(reader))
                await page.goto(f"/@author/{said['id']}")
                await page.locator(f"#post-{said['id']}").get_by_label("More").click()
                await page.get_by_role("button", name="Translate").click()
                told = page.locator(".translation")
                await expect(told).to_contain_text("Die cat")
                await expect(told).to_contain_text("LibreTranslate")
                assert await page.locator("h1").inner_text() == ("Post by author" if scripts else "Translation")
                if scripts:
                    await check_day_and_night(page)
