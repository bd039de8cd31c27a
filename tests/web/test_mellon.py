"""Apache with mod_auth_mellon, walked with a browser: signing in, signing out from either side."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page

from tests.identity.records import make, new_name, owner_of, results
from tests.town import Person, Town, build_town
from tests.town.town import Engine
from tests.web.chromium import opened, send
from tests.web.mellon import Mellon, mellon

API = "/api/v2"


@pytest.fixture(scope="module")
async def town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with build_town(engine, tmp_path_factory.mktemp("mellon"), private_hosts="127.0.0.1,localhost") as built:
        yield built


@pytest.fixture
async def service() -> AsyncIterator[Mellon]:
    with tempfile.TemporaryDirectory() as folder:
        async with mellon(Path(folder)) as made:
            yield made
            print(made.log())


async def introduce(town: Town, service: Mellon, **more: str) -> dict[str, Any]:
    """Each gets the other's metadata: ours makes a provider of it, as an administrator would."""
    owner, name = await owner_of(town), new_name("mellon")
    await service.start_with()
    [flow] = await results(owner, "/flows/instances/", slug="default-provider-authorization-implicit-consent")
    metadata = await service.metadata()
    await service.stop()
    answer = await owner.call(
        "POST",
        f"{API}/providers/saml/import_metadata/",
        data={"name": name, "authorization_flow": flow["pk"]},
        files={"file": ("sp.xml", metadata.encode(), "application/xml")},
    )
    assert answer.status_code == 201, answer.text
    provider = answer.json()
    mappings = [one["pk"] for one in await results(owner, "/propertymappings/saml/") if one["managed"]]
    changed = await owner.call(
        "PATCH", f"{API}/providers/saml/{provider['pk']}/", json={"property_mappings": mappings} | more
    )
    assert changed.status_code == 200, changed.text
    await make(owner, "/core/applications/", name=name, slug=name, provider=provider["pk"])
    ours = (await owner.get(f"{API}/providers/saml/{provider['pk']}/metadata/")).json()["metadata"]
    await service.start_with(ours)
    return {"slug": name, **changed.json()}


async def sign_in_by(page: Page, service: Mellon, person: Person) -> None:
    await page.goto(f"{service.url}/secret/")
    await send(page, {"User name or e-mail address": person.username})
    await send(page, {"Password": person.password})
    await page.wait_for_url(f"{service.url}/secret/")


async def test_somebody_signs_in_and_out_at_an_application_behind_apache(
    chrome: Browser, town: Town, service: Mellon
) -> None:
    provider = await introduce(town, service)
    assert provider["verification_kp"], "its requests are signed, and checked"
    assert provider["encryption_kp"], "our assertions are encrypted for it"
    person = await town.sign_up()
    async with opened(chrome, town) as page:
        await sign_in_by(page, service, person)
        assert len(await page.locator("#name").inner_text()) == 64, "it asks for a transient name"
        assert await page.locator("#mail").inner_text() == f"{person.username}@example.org"

        await page.goto(f"{service.url}/mellon/logout?ReturnTo={service.url}/")
        await page.wait_for_url(f"{service.url}/")
        await page.goto("/settings/security")
        assert "/flows/" in page.url, "signed out of the server too"
        await page.goto(f"{service.url}/secret/")
        assert page.url.startswith(town.base_url), "and of the application"


async def test_signing_out_here_signs_out_there(chrome: Browser, town: Town, service: Mellon) -> None:
    await introduce(town, service, logout_method="frontchannel_native")
    person = await town.sign_up()
    async with opened(chrome, town) as page:
        await sign_in_by(page, service, person)
        await page.goto(f"{town.base_url}/flows/-/default/invalidation/")
        await page.get_by_role("button", name="Sign out", exact=True).click()
        await page.wait_for_url(f"{town.base_url}/")
        await page.goto(f"{service.url}/secret/")
        assert page.url.startswith(town.base_url), service.log()


async def test_who_is_disabled_is_signed_out_there_without_a_browser(
    chrome: Browser, town: Town, service: Mellon
) -> None:
    await introduce(town, service, logout_method="frontchannel_iframe")
    person, owner = await town.sign_up(), await owner_of(town)
    async with opened(chrome, town) as page:
        await sign_in_by(page, service, person)
        [user] = await results(owner, "/core/users/", username=person.username)
        await owner.call("PATCH", f"{API}/core/users/{user['pk']}/", json={"is_active": False})
        async with asyncio.timeout(30):
            while (await page.request.get(f"{service.url}/secret/", max_redirects=0)).status == 200:
                await asyncio.sleep(0.1)
