"""Consent is for the client that people saw: whoever becomes another meanwhile, or later, has none."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.identity.flow_browser import Browser
from tests.identity.records import API, owner_of, results
from tests.identity.relying_party import CALLBACK, RelyingParty, make_party, signed_in
from tests.identity.test_oauth_device import error, start
from tests.identity.test_oidc_registration import Registrar, managed, registrar_of
from tests.town import Person, Town

SCOPES = "openid offline_access"
WAY = ["authorization_code", "refresh_token"]
EVIL = "https://evil.example/cb"
PLAIN = {"code_challenge": "", "code_challenge_method": "", "scope": SCOPES}


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def change(town: Town, told: dict[str, Any], **changed: Any) -> None:
    where, bearer = managed(told)
    body = {name: told[name] for name in ("client_id", "redirect_uris", "client_name", "scope", "grant_types")}
    for name in ("subject_type", "policy_uri"):
        body |= {name: told[name]} if name in told else {}
    answer = await town.http.put(where, headers=bearer, json=body | changed)
    assert answer.status_code == 200, answer.text


async def is_asked(client: RelyingParty, browser: Browser, **asked: str) -> bool:
    """Whether the client gets nothing without the person being asked."""
    given = {name: value for name, value in {**PLAIN, "prompt": "none", **asked}.items() if value}
    where = (await client.authorize(browser, **given)).headers["location"]
    assert "code=" in where or "error=consent_required" in where, where
    return "error=" in where


async def page_of(client: RelyingParty, browser: Browser) -> tuple[str, dict[str, Any]]:
    answer = await client.authorize(browser, **{name: value for name, value in PLAIN.items() if value})
    slug = answer.headers["location"].split("/")[2]
    return slug, await browser.see(slug)


async def register(registrar: Registrar, **said: Any) -> tuple[dict[str, Any], RelyingParty]:
    said = {"client_name": "Harmless notes", "scope": SCOPES, "grant_types": WAY} | said
    told = await registrar.register(**said)
    return told, RelyingParty(registrar.party.town, told, registrar.party.application)


@pytest.mark.both_databases
async def test_a_client_that_changes_while_its_page_is_open_is_asked_about_anew(town: Town, ada: Person) -> None:
    told, client = await register(await registrar_of(town, ada, require_consent=True))
    _, browser = await signed_in(town)
    slug, shown = await page_of(client, browser)
    await change(town, told, client_name="Somebody Else", redirect_uris=[CALLBACK, EVIL])

    done = await browser.answer(slug, component="consent", token=shown["token"])

    assert await is_asked(client, browser, redirect_uri=EVIL)
    back = await browser.http.get(done["to"])
    assert back.headers["location"].startswith("/flows/")
    again = await browser.see(slug)
    assert (again["component"], again["application"]) == ("consent", "Somebody Else")
    done = await browser.answer(slug, component="consent", token=again["token"])
    assert "code=" in (await browser.http.get(done["to"])).headers["location"]
    assert not await is_asked(client, browser)


async def test_an_application_that_staff_change_while_its_page_is_open_is_too(town: Town, ada: Person) -> None:
    [flow] = await results(ada, "/flows/instances/", slug="default-provider-authorization-explicit-consent")
    client = await make_party(town, ada, require_consent=True, authorization_flow=flow["pk"])
    _, browser = await signed_in(town)
    slug, shown = await page_of(client, browser)
    path = f"{API}/core/applications/{client.application['pk']}/"
    assert (await ada.call("PATCH", path, json={"name": f"{client.slug} renamed"})).status_code == 200

    done = await browser.answer(slug, component="consent", token=shown["token"])

    assert await is_asked(client, browser)
    await browser.http.get(done["to"])
    assert (await browser.see(slug))["application"] == f"{client.slug} renamed"


async def to_public(town: Town, told: dict[str, Any]) -> None:
    await change(town, told, subject_type="public")


async def to_another_policy(town: Town, told: dict[str, Any]) -> None:
    await change(town, told, policy_uri="https://rp.example/we-sell-everything")


async def to_another_place(town: Town, told: dict[str, Any]) -> None:
    await change(town, told, redirect_uris=[CALLBACK, "https://rp.example/second"])


@pytest.mark.parametrize("becomes", [to_public, to_another_policy, to_another_place])
async def test_whoever_is_another_client_has_nothing_of_the_first(
    town: Town, ada: Person, becomes: Callable[[Town, dict[str, Any]], Awaitable[None]]
) -> None:
    registrar = await registrar_of(town, ada, require_consent=True)
    told, client = await register(registrar, subject_type="pairwise", policy_uri="https://rp.example/strict")
    _, browser = await signed_in(town)
    tokens = await client.tokens(browser, scope=SCOPES)
    assert not await is_asked(client, browser)

    await becomes(town, told)

    assert await is_asked(client, browser)
    assert error(await client.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    assert (await client.userinfo(tokens["access_token"])).status_code == 401


async def test_what_says_nothing_of_who_it_is_keeps_what_was_allowed(town: Town, ada: Person) -> None:
    told, client = await register(await registrar_of(town, ada, require_consent=True))
    _, browser = await signed_in(town)
    tokens = await client.tokens(browser, scope=SCOPES)

    await change(town, told, contacts=["ops@rp.example"], post_logout_redirect_uris=["https://rp.example/bye"])

    assert not await is_asked(client, browser)
    assert (await client.refresh(tokens["refresh_token"])).status_code == 200


async def test_a_device_gets_in_for_whom_the_page_named(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    _, browser = await signed_in(town)
    started = await start(party)
    page = await browser.http.get("/device", params={"code": started["user_code"]})
    [csrf] = re.findall(r'name="csrf" value="([^"]+)"', page.text)[:1]
    form = {"csrf": csrf, "code": started["user_code"]}
    shown = (await browser.http.post("/device", data=form)).text
    seen = re.search(r'name="client" value="([^"]+)"', shown)
    assert seen is not None
    [provider] = await results(ada, "/providers/openid/", client_id=party.id)
    moved = {"_redirect_uris": f"{CALLBACK}\n{EVIL}"}
    answer = await ada.call("PATCH", f"{API}/providers/openid/{provider['pk']}/", json=moved)
    assert answer.status_code == 200, answer.text

    again = await browser.http.post("/device", data={**form, "answer": "allow", "client": seen[1]})

    assert 'value="allow"' in again.text
    device = "urn:ietf:params:oauth:grant-type:device_code"
    waits = await party.post("token", grant_type=device, device_code=started["device_code"])
    assert error(waits) == (400, "authorization_pending")


BY_NAME = json.dumps({"userinfo": {"email": None, "preferred_username": None}})


async def test_claims_that_a_client_could_not_have_are_not_told_once_it_can(town: Town, ada: Person) -> None:
    told, client = await register(await registrar_of(town, ada), scope="openid")
    _, browser = await signed_in(town)
    before = await client.tokens(browser, scope="openid", claims=BY_NAME)

    await change(town, told, scope="openid email profile")

    assert list((await client.userinfo(before["access_token"])).json()) == ["sub"]
    after = await client.tokens(browser, scope="openid", claims=BY_NAME)
    assert set((await client.userinfo(after["access_token"])).json()) >= {"sub", "email", "preferred_username"}


async def test_claims_that_come_up_while_the_page_is_open_are_asked_about(town: Town, ada: Person) -> None:
    told, client = await register(await registrar_of(town, ada, require_consent=True), scope="openid")
    _, browser = await signed_in(town)
    asked = {name: value for name, value in PLAIN.items() if value} | {"scope": "openid", "claims": BY_NAME}
    slug = (await client.authorize(browser, **asked)).headers["location"].split("/")[2]
    shown = await browser.see(slug)
    assert [one["id"] for one in shown["permissions"]] == ["openid"]

    await change(town, told, scope="openid email profile")
    done = await browser.answer(slug, component="consent", token=shown["token"])

    assert (await browser.http.get(done["to"])).headers["location"].startswith("/flows/")
    again = await browser.see(slug)
    assert {one["id"] for one in again["additional_permissions"]} == {"email", "profile"}
