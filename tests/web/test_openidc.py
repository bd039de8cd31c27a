"""Apache with mod_auth_openidc, walked with a browser: signing in, and signing out from either side."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from tests.identity.records import API, owner_of, results
from tests.identity.relying_party import make_party
from tests.town import Person, Town, build_town
from tests.town.town import Engine
from tests.web.chromium import opened, send
from tests.web.openidc import OpenIDClient, openid_client


@pytest.fixture(scope="module")
async def town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with build_town(engine, tmp_path_factory.mktemp("openidc"), private_hosts="127.0.0.1") as built:
        yield built


@pytest.fixture
async def client() -> AsyncIterator[OpenIDClient]:
    with tempfile.TemporaryDirectory() as folder:
        async with openid_client(Path(folder)) as made:
            yield made
            print(made.log())


async def introduce(town: Town, client: OpenIDClient, **more: Any) -> None:
    given = {
        "_redirect_uris": client.callback,
        "post_logout_redirect_uris": f"{client.url}/",
        "logout_uri": f"{client.told_at}?logout=backchannel",
        "logout_method": "backchannel",
    }
    await client.start_for(await make_party(town, await owner_of(town), **given | more))


async def sign_in_by(page: Page, client: OpenIDClient, person: Person) -> None:
    await page.goto(f"{client.url}/secret/")
    await send(page, {"User name or e-mail address": person.username})
    await send(page, {"Password": person.password})
    await page.wait_for_url(f"{client.url}/secret/")


async def is_inside(page: Page, client: OpenIDClient) -> bool:
    """Asked without following anything, so that nobody is signed in again on the way."""
    answer = await page.request.get(f"{client.url}/secret/", max_redirects=0)
    # Which of the two is what is asked.
    assert answer.status in (200, 302), await answer.text()
    return answer.status == 200


async def until_outside(page: Page, client: OpenIDClient) -> None:
    async with asyncio.timeout(30):
        while await is_inside(page, client):
            await asyncio.sleep(0.1)


async def test_somebody_signs_in_and_out_at_an_application_behind_apache(
    chrome: Browser, town: Town, client: OpenIDClient
) -> None:
    await introduce(town, client)
    person = await town.sign_up()
    async with opened(chrome, town) as page:
        await sign_in_by(page, client, person)
        assert await page.locator("#name").inner_text() == person.username
        assert await page.locator("#mail").inner_text() == f"{person.username}@example.org"
        assert (await page.locator("#issuer").inner_text()).startswith(f"{town.base_url}/application/o/")

        await page.goto(f"{client.callback}?logout={client.url}/")
        await page.wait_for_url(f"{client.url}/")
        assert not await is_inside(page, client)
        await page.goto("/settings/security")
        assert "/flows/" in page.url, "signed out of the server too"


async def test_signing_out_here_signs_out_there(chrome: Browser, town: Town, client: OpenIDClient) -> None:
    await introduce(town, client)
    person = await town.sign_up()
    async with opened(chrome, town) as page:
        await sign_in_by(page, client, person)
        await page.goto(f"{town.base_url}/flows/-/default/invalidation/")
        assert await is_inside(page, client)
        await page.get_by_role("button", name="Sign out", exact=True).click()
        await page.wait_for_url(f"{town.base_url}/")
        await until_outside(page, client)


@pytest.mark.parametrize("method", ["backchannel", "frontchannel"])
async def test_who_is_disabled_is_signed_out_there(
    chrome: Browser, town: Town, client: OpenIDClient, method: str
) -> None:
    """The front channel has no browser then: the address is loaded by the server."""
    way = "backchannel" if method == "backchannel" else "get"
    await introduce(town, client, logout_method=method, logout_uri=f"{client.told_at}?logout={way}")
    person, owner = await town.sign_up(), await owner_of(town)
    async with opened(chrome, town) as page:
        await sign_in_by(page, client, person)
        [user] = await results(owner, "/core/users/", username=person.username)
        await owner.call("PATCH", f"{API}/core/users/{user['pk']}/", json={"is_active": False})
        await until_outside(page, client)
