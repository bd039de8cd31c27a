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
from playwright.async_api import Browser

from kith.web.room import ROOM
from tests.modes import is_all
from tests.town import Person, build_town
from tests.web.chromium import bring_axe, check_everywhere, check_once, opened, sign_in
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
