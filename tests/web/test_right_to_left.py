"""Lines that run from right to left: posts within a page of the other direction, and whole pages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser

import kith.web
from tests.social.members import stranger
from tests.social.posts import post, said_elsewhere
from tests.town import build_town
from tests.web.chromium import check_width, opened, sign_in
from tests.web.scenery import Scenery, build_scenery, person_of

STYLES = sorted((Path(kith.web.__file__).parent / "static").glob("*.css"))
HEBREW, ARABIC = "שלום לכולם, איך היה השבוע?", "صباح الخير، كيف كان الأسبوع؟"
# Words of one side of the screen; `top` and `bottom` are the same for everybody.
_SIDED = re.compile(
    r"(?<![\w-])(?:(?:margin|padding|border)-(?:left|right)|left\s*:|right\s*:|text-align\s*:\s*(?:left|right)|float)"
)
_FOUR = re.compile(r"(?:margin|padding|inset)\s*:\s*([^\s;]+) ([^\s;]+) ([^\s;]+) ([^\s;]+);")


@pytest.mark.parametrize("style", STYLES, ids=lambda path: path.name)
def test_styles_know_no_left_and_right(style: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", style.read_text(), flags=re.DOTALL)
    assert _SIDED.findall(text) == []
    assert [four.group() for four in _FOUR.finditer(text) if four.group(2) != four.group(4)] == []


@pytest.fixture(scope="module")
async def scenery(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scenery]:
    """One database is enough: what is tried here is the pages."""
    async with build_town("sqlite", tmp_path_factory.mktemp("rtl")) as town:
        made = await build_scenery(town)
        away = await stranger(town, display_name=ARABIC)
        await said_elsewhere(town, away, ARABIC, language="ar", spoiler_text=HEBREW)
        await post(made.bob, HEBREW, language="he", poll={"options": [HEBREW[:40], "Both"], "expires_in": 3600})
        await post(made.bob, f"{ARABIC} https://example.org/{'long' * 40}", language="ar")
        yield made


async def test_a_post_runs_in_its_own_direction(chrome: Browser, scenery: Scenery) -> None:
    async with opened(chrome, scenery.town) as page:
        await sign_in(page, person_of(scenery.ada))
        await page.goto(scenery.filled("/@{bob}"))
        hebrew = page.locator(".post").filter(has_text=HEBREW).first
        written = hebrew.locator(".written").first
        assert await written.get_attribute("lang") == "he"
        assert await written.evaluate("one => getComputedStyle(one).direction") == "rtl"
        assert await hebrew.evaluate("one => getComputedStyle(one).direction") == "ltr"
        option = hebrew.locator(".poll .tick span").first
        assert await option.evaluate("one => getComputedStyle(one).unicodeBidi") == "plaintext"
        for width in (320, 1280):
            await page.set_viewport_size({"width": width, "height": 800})
            await check_width(page)
        await page.goto("/public")
        name = page.locator(".post .who").filter(has_text=ARABIC).first
        assert await name.evaluate("one => getComputedStyle(one).unicodeBidi") == "plaintext"
        for width in (320, 1280):
            await page.set_viewport_size({"width": width, "height": 800})
            await check_width(page)


async def test_a_whole_page_runs_from_right_to_left(chrome: Browser, scenery: Scenery) -> None:
    async with opened(chrome, scenery.town) as page:
        await sign_in(page, person_of(scenery.ada))
        await page.goto("/home")
        symbol, site = page.locator(".act.reply .i").first, page.locator(".mast .site")
        assert await symbol.evaluate("one => getComputedStyle(one).transform") == "none"
        await page.evaluate("document.documentElement.dir = 'rtl'")
        assert await symbol.evaluate("one => getComputedStyle(one).transform") == "matrix(-1, 0, 0, 1, 0, 0)"
        box = await site.bounding_box()
        assert box is not None
        assert box["x"] > 640
        skip = await page.evaluate("document.querySelector('.skip').getBoundingClientRect().left")
        assert skip >= 1280, "the way past the menu is seen before it has the focus"
