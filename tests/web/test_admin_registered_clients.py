"""The page of an application lists the clients that registered themselves with it, ends them, and lets one vouch."""

from __future__ import annotations

import re

from tests.identity.records import API, results
from tests.identity.test_oauth_device import error
from tests.identity.test_oidc_registration import managed, registrar_of
from tests.town import Town
from tests.web.browsing import Browser


async def test_an_owner_vouches_for_a_client_and_ends_it(town: Town, browser: Browser) -> None:
    owner = await town.owner()
    registrar = await registrar_of(town, owner)
    told = await registrar.register(client_name="Left behind")
    [user] = await results(owner, "/core/users/", username=registrar.person.username)
    await browser.sign_in(owner.username, owner.password)
    page = f"/admin/applications/{registrar.party.slug}"
    locked = await owner.call("POST", f"{API}/core/users/{user['pk']}/lockdown/", json={"reason": "x", "notify": False})
    assert locked.status_code == 200

    await browser.open(page)
    assert "Left behind" in browser.page.text
    assert f"@{registrar.person.username}" in browser.page.text
    assert "suspended" in browser.page.text
    shown = await browser.press("/take-over")
    [token] = re.findall(r'<code class="key">([^<]+)</code>', shown.text)
    where, _ = managed(told)
    assert (await town.http.get(where, headers={"Authorization": f"Bearer {token}"})).status_code == 200

    await browser.open(page)
    assert f"@{owner.username}" in browser.page.text
    await browser.press("/end")
    await browser.open(page)
    assert "Left behind" not in browser.page.text
    gone = await town.http.get(where, headers={"Authorization": f"Bearer {token}"})
    assert error(gone) == (401, "invalid_token")
