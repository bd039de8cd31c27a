"""Sources in the console: whether the other side answers, and how copying goes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.identity.records import make, new_name, owner_of
from tests.identity.relying_party import make_party
from tests.identity.slapd import group, person, running
from tests.identity.test_source_ldap import make_directory
from tests.town import Town, build_town
from tests.town.town import Engine
from tests.web.browsing import Browser
from tests.web.conftest import NewBrowser


@pytest.fixture(scope="module")
async def town(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with build_town(engine, tmp_path_factory.mktemp("sources"), private_hosts="127.0.0.1") as built:
        yield built


@pytest.fixture
async def console(town: Town, new_browser: NewBrowser) -> Browser:
    browser, owner = new_browser(), await town.owner()
    await browser.sign_in(owner.username, owner.password)
    return browser


async def do(console: Browser, what: str) -> str:
    number = next(place for place, form in enumerate(console.forms()) if form.values.get("do") == what)
    return (await console.submit(number)).text


async def test_a_directory_is_tested_rehearsed_and_copied(town: Town, console: Browser, tmp_path: Path) -> None:
    async with running(tmp_path / "slapd", [person("mia", "first secret"), group("crew", ["mia"])]) as slapd:
        source = await make_directory(town, slapd, new_name("d"), enabled=False)
        assert source["name"] in (await console.open("/admin/sources")).text
        at = f"/admin/sources/ldap/{source['pk']}"
        await console.open(at)
        page = await do(console, "test")
        assert "The other side answers" in page
        assert "uid=mia" in page
        page = await do(console, "rehearse")
        assert "A copy now would change this:" in page
        assert '<th scope="row">People</th><td>1</td>' in page
        assert "This source is disabled." in await do(console, "sync")
        assert console.page.status_code == 409

        owner = await owner_of(town)
        change = {"enabled": True, "user_object_filter": "(objectClass=spaceship)"}
        assert (await owner.call("PATCH", f"/api/v2/sources/ldap/{source['pk']}/", json=change)).status_code == 200
        await console.open(at)
        page = await do(console, "test")
        assert "Something is wrong." in page
        assert "nothing fits the filter" in page
        await do(console, "sync")
        assert console.path == f"{at}?waits=true"
        assert "Copying" in console.page.text
    await console.open(at)
    assert "Sign in to the directory <span" in await do(console, "test")
    assert "Something is wrong." in console.page.text


async def test_services_are_tested(town: Town, console: Browser) -> None:
    owner = await owner_of(town)
    slug = new_name("self")
    party = await make_party(town, owner, _redirect_uris=f"{town.base_url}/source/oauth/callback/{slug}/")
    known = f"{party.issuer}.well-known/openid-configuration"
    given = {"provider_type": "openid-connect", "consumer_key": party.id, "consumer_secret": party.secret}
    source = await make(owner, "/sources/oauth/", name=slug, slug=slug, oidc_well_known_url=known, **given)
    await console.open(f"/admin/sources/oauth/{source['pk']}")
    assert f"/source/oauth/callback/{slug}/" in console.page.text
    page = await do(console, "test")
    assert "The other side answers" in page
    assert "Read the discovery document" in page
    await owner.call("DELETE", f"/api/v2/providers/openid/{party.provider['pk']}/")
    assert "Something is wrong." in await do(console, "test")


async def test_a_scim_source_gets_a_new_token(town: Town, console: Browser) -> None:
    slug = new_name("scim")
    source = await make(await owner_of(town), "/sources/scim/", name=slug, slug=slug)
    await console.open(f"/admin/sources/scim/{source['pk']}")
    page = await do(console, "new_token")
    assert "kith_scim_" in page
    assert source["token"] not in page
    form = {"csrf": console.cookie("kith_csrf") or "", "do": "test"}
    assert (await console.http.post(f"/admin/sources/scim/{source['pk']}", data=form)).status_code == 404
    assert (await console.open("/admin/sources/scim/nothing")).status_code == 404
    assert (await console.open(f"/admin/sources/magic/{source['pk']}")).status_code == 404
