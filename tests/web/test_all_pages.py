"""Every page of the table: nothing that axe knows to be a barrier, by day and by night, at a desk and on a telephone;
no error of a script, nothing that the policy forbids, and nothing asked of another host.

Most pages are made of the same pieces, and to measure contrast takes axe longer than all the rest. In the usual run it
measures each kind of text once, by day and by night; with `--all` every text of every page, in all four looks.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from fnmatch import fnmatchcase

import pytest
from playwright.async_api import Browser, Page

from kith.web.room import ROOM
from tests.modes import is_all
from tests.social.posts import post
from tests.social.samples import image_file
from tests.town import Person, build_town
from tests.web.chromium import AXE, bring_axe, check_everywhere, check_once, opened, sign_in
from tests.web.page_addresses import FOR_EVERYBODY, FOR_MEMBERS, FOR_OWNERS, NO_PAGES, NOT_FOR_MEMBERS, REFUSED
from tests.web.scenery import Scenery, build_scenery, person_of

LOOKED_AT_AT_ONCE = 10  # addresses in one test: signing in takes longer than most of them


@pytest.fixture(scope="module")
async def scenery(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scenery]:
    """One database is enough: what is tried here is the pages."""
    async with build_town("sqlite", tmp_path_factory.mktemp("all-pages")) as town:
        yield await build_scenery(town)


def portions(addresses: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [addresses[at : at + LOOKED_AT_AT_ONCE] for at in range(0, len(addresses), LOOKED_AT_AT_ONCE)]


async def look_at(
    chrome: Browser, scenery: Scenery, addresses: tuple[str, ...], who: Person | None, status: int = 200
) -> None:
    async with opened(chrome, scenery.town) as page:
        await bring_axe(page)
        if who is not None:
            await sign_in(page, who)
        for address in addresses:
            answer = await page.goto(scenery.filled(address))
            assert answer is not None
            assert answer.status == REFUSED.get(address, status), address
            if is_all():
                await check_everywhere(page)
            else:
                await check_once(page)


@pytest.mark.parametrize("addresses", portions(FOR_EVERYBODY), ids=lambda some: some[0])
async def test_pages_for_everybody_have_no_barriers(
    chrome: Browser, scenery: Scenery, addresses: tuple[str, ...]
) -> None:
    await look_at(chrome, scenery, addresses, None)


@pytest.mark.parametrize("addresses", portions(FOR_MEMBERS), ids=lambda some: some[0])
async def test_pages_for_members_have_no_barriers(
    chrome: Browser, scenery: Scenery, addresses: tuple[str, ...]
) -> None:
    await look_at(chrome, scenery, addresses, person_of(scenery.ada))


async def test_what_is_said_of_links_and_actions_is_what_can_be_read(chrome: Browser, scenery: Scenery) -> None:
    """Two rules that other pages do not show: a picture nobody has described, and actions that have been counted."""
    file = {"file": ("tea.png", image_file("PNG", (64, 64)), "image/png")}
    medium = await scenery.bob.post("/api/v2/media", files=file)
    pictured = await post(scenery.bob, "Look", media_ids=[medium["id"]])
    for does in ("favourite", "reblog"):
        await scenery.ada.post(f"/api/v1/statuses/{pictured['id']}/{does}")
    await post(scenery.ada, "Yes", in_reply_to_id=pictured["id"])
    said = "{rules: {'color-contrast': {enabled: false}, 'label-content-name-mismatch': {enabled: true}}}"
    at = f"/@{scenery.bob.name}/{pictured['id']}"
    async with opened(chrome, scenery.town) as page:
        await page.goto(at)
        await _refuse_by(page, said)
        await sign_in(page, person_of(scenery.ada))
        for address in (at, "/home", "/explore/links", "/explore/suggestions", "/deck", "/notifications"):
            await page.goto(address)
            await _refuse_by(page, said)


async def _refuse_by(page: Page, options: str) -> None:
    await page.evaluate(AXE.axe_script)
    found = (await page.evaluate(f"axe.run({options})"))["violations"]
    assert [(page.url, one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


async def test_members_find_no_page_of_the_console(chrome: Browser, scenery: Scenery) -> None:
    await look_at(chrome, scenery, NOT_FOR_MEMBERS, person_of(scenery.ada), status=404)


@pytest.mark.parametrize("addresses", portions(FOR_OWNERS), ids=lambda some: some[0])
async def test_pages_for_owners_have_no_barriers(chrome: Browser, scenery: Scenery, addresses: tuple[str, ...]) -> None:
    await look_at(chrome, scenery, addresses, scenery.owner)


def test_no_page_is_missing_from_the_table() -> None:
    tried = [address.partition("?")[0] for address in (*FOR_EVERYBODY, *FOR_MEMBERS, *FOR_OWNERS)]
    templates = {
        template for route in ROOM.routes if "GET" in route.methods for template in (route.template, *route.aliases)
    }
    missing = [
        template
        for template in sorted(templates)
        if not any(template == left or fnmatchcase(template, left) for left in NO_PAGES)
        and not any(_pattern(template).fullmatch(address) for address in tried)
    ]
    assert missing == [], "add an address of each to tests/web/page_addresses.py"


def _pattern(template: str) -> re.Pattern[str]:
    """`/@{name}/{id}`: a gap takes one word between slashes, or `{path:path}` all the rest."""
    parts = re.split(r"(\{[^}]+\})", template)
    gaps = [".+" if part.endswith(":path}") else "[^/]+" for part in parts[1::2]]
    plain = [re.escape(part) for part in parts[::2]]
    return re.compile("".join(one for pair in zip(plain, [*gaps, ""], strict=True) for one in pair))
