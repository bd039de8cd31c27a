"""Signing in with an account elsewhere, in a real browser: from the button to the end."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser as Chrome
from playwright.async_api import expect

from tests.identity.records import API, owner_of, results
from tests.identity.source_towns import Pair
from tests.town import build_town
from tests.web.chromium import check_day_and_night, give_password, opened, send


@pytest.fixture(scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    """Two hosts, as cookies do not tell ports apart; one database is enough for pages."""
    hosts = "127.0.0.1,localhost"
    async with (
        build_town("sqlite", tmp_path_factory.mktemp("here"), start=False, private_hosts=hosts) as here,
        build_town("sqlite", tmp_path_factory.mktemp("there"), private_hosts=hosts) as there,
    ):
        here.base_url = f"http://localhost:{here.port}"
        await here.start()
        yield Pair(here, there)


async def test_a_button_leads_through_the_source_and_back(pair: Pair, chrome: Chrome) -> None:
    source, _ = await pair.openid_source(name="The other place")
    owner = await owner_of(pair.here)
    [stage] = await results(owner, "/stages/identification/", name="default-authentication-identification")
    await owner.call("PATCH", f"{API}/stages/identification/{stage['pk']}/", json={"sources": [source["pk"]]})
    ada = await pair.there.sign_up("ada")

    async with opened(chrome, pair.here) as page:
        await page.goto("/flows/-/default/authentication/?next=/settings/security")
        await check_day_and_night(page)
        await page.get_by_role("link", name="Continue with The other place").click()
        await page.wait_for_url(f"{pair.there.base_url}/flows/**")
        await send(page, {"User name or e-mail address": ada.username})
        await send(page, {"Password": ada.password})
        await page.wait_for_url(f"{pair.here.base_url}/settings/security")

        await expect(page.get_by_text("You are signed in as ada.").first).to_be_visible()
        await expect(page.get_by_role("heading", name="Accounts elsewhere")).to_be_visible()
        await check_day_and_night(page)


async def test_an_account_is_linked_from_the_settings(pair: Pair, chrome: Chrome) -> None:
    source, _ = await pair.openid_source(name="A second place")
    bob, eve = await pair.here.sign_up("bob"), await pair.there.sign_up("eve")

    async with opened(chrome, pair.here) as page:
        await give_password(page, bob)
        await page.goto("/settings/security")
        await page.get_by_role("button", name="Link A second place").click()
        await page.wait_for_url(f"{pair.there.base_url}/flows/**")
        await send(page, {"User name or e-mail address": eve.username})
        await send(page, {"Password": eve.password})
        await page.wait_for_url(f"{pair.here.base_url}/settings/security**")

        await expect(page.get_by_text("A second place was linked to your account.")).to_be_visible()
        [user] = await results(await owner_of(pair.here), "/core/users/", username="bob")
        found = await results(await owner_of(pair.here), "/sources/user_connections/oauth/", user=user["pk"])
        assert [one["source"] for one in found] == [source["pk"]]


async def test_the_page_that_asks_for_a_handle(pair: Pair, chrome: Chrome) -> None:
    source = await pair.source(provider_type="mastodon", name="The fediverse")
    host = pair.there.base_url.removeprefix("http://")

    async with opened(chrome, pair.here) as page:
        await page.goto(f"/source/oauth/login/{source['slug']}/")
        await check_day_and_night(page)
        await send(page, {"Your handle or your server": host})
        await page.wait_for_url(f"{pair.there.base_url}/**")
