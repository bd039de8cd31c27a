"""What becomes of clients when people are refused, sign in once more, or change their minds."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

import httpx
import pytest

from kith.identity.providers.oauth2.logout.propagation import LOOK, SessionSweep
from tests.identity.flow_browser import SIGN_IN, Browser
from tests.identity.oauth_clients import enter, make_app, make_client, told_to
from tests.identity.records import make, new_name, owner_of, results
from tests.identity.relying_party import RelyingParty, make_party, signed_in
from tests.identity.test_oauth_device import start
from tests.identity.test_refusals import CODE, kept
from tests.town import Person, Town


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


def csrf_of(page: httpx.Response) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found is not None, page.text
    return found[1]


def code_on(page: httpx.Response) -> str:
    found = CODE.search(page.text)
    assert found is not None, page.text
    return found[0]


async def until(happens: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await happens():
            await asyncio.sleep(0.05)


async def test_whoever_is_refused_has_a_code_that_tells_why(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    person, browser = await signed_in(town)
    tokens, device = await party.tokens(browser), await start(party)
    words = 'ak_message("Not on Sundays.")\nreturn False'
    policy = await make(ada, "/policies/expression/", name=new_name("no"), expression=words)
    await make(ada, "/policies/bindings/", policy=policy["pk"], target=party.application["pk"], order=0)

    page = await party.authorize(browser)
    shown = await browser.http.get("/device")
    on_device = await browser.http.post("/device", data={"csrf": csrf_of(shown), "code": device["user_code"]})
    refreshed = await party.refresh(tokens["refresh_token"])

    assert [one.status_code for one in (page, on_device, refreshed)] == [403, 403, 403]
    codes = [code_on(page), code_on(on_device), refreshed.json()["refusal"]]
    for code in codes:
        refusal = await kept(town, code)
        assert (refusal.username, refusal.message) == (person.username, "Not on Sundays.")
        assert refusal.area == f"application {party.application['name']}"
        assert [one["name"] for one in refusal.details["policies"]] == [policy["name"]]
        assert refusal.details["inputs"]["oauth_grant_type"]
    told = await town.kith("why", codes[0])
    assert policy["name"] in told
    [user] = await results(ada, "/core/users/", username=person.username)
    events = await results(ada, "/audit/events/", action="authorization_refused", user=user["pk"])
    assert {event["context"]["refusal"] for event in events} == set(codes)


async def test_nobody_lets_anything_in_as_somebody_else(town: Town) -> None:
    owner, person = await town.owner(), await town.sign_up()
    client, app = await make_client(town, require_consent=False), await make_app(town)
    _, browser = await signed_in(town, owner)
    form = await browser.http.get("/settings/impersonate")
    sent = {"csrf": csrf_of(form), "username": person.username, "reason": "They asked for help"}
    await browser.http.post("/settings/impersonate", data=sent)
    assert await browser.who() == person.username

    for page in (
        await enter(browser, client),
        await enter(browser, app),
        await enter(browser, client, prompt="login"),
        await browser.http.get("/device"),
    ):
        assert page.status_code == 403
        assert "This is not available while you are viewing as another person" in page.text
    assert told_to(await enter(browser, client, prompt="none"))["error"] == "access_denied"
    refusal = await kept(town, code_on(await enter(browser, client)))
    assert (refusal.username, refusal.reason) == (
        person.username,
        "This is not available while you are viewing as another person",
    )


async def sign_in_again(browser: Browser, person: Person) -> None:
    query = {"again": "true"}
    await browser.see(SIGN_IN, **query)
    await browser.answer(SIGN_IN, query, component="identification", uid_field=person.username)
    told = await browser.answer(SIGN_IN, query, component="password", password=person.password)
    assert told["component"] == "redirect", told


async def works(party: RelyingParty, key: str) -> bool:
    return (await party.userinfo(key)).status_code == 200


async def test_signing_in_once_more_logs_no_client_out_and_somebody_else_does(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    person, browser = await signed_in(town)
    other = await town.sign_up()
    first = await party.tokens(browser, scope="openid")
    sid = (await party.read(first["id_token"]))["sid"]

    await sign_in_again(browser, person)
    async with town.house() as house, house.works.begin() as work:
        work.enqueue(LOOK, SessionSweep())
    second = await party.tokens(browser, scope="openid")
    assert (await party.read(second["id_token"]))["sid"] != sid
    assert await works(party, first["access_token"])
    await sign_in_again(browser, other)
    await until(lambda: _ended(party, first["access_token"]))
    await until(lambda: _ended(party, second["access_token"]))
    assert await browser.who() == other.username


async def _ended(party: RelyingParty, key: str) -> bool:
    return not await works(party, key)


async def test_what_an_application_was_given_ends_with_the_consent_whoever_withdraws_it(
    town: Town, ada: Person
) -> None:
    """With the answer, not some time after it."""
    [flow] = await results(ada, "/flows/instances/", slug="default-provider-authorization-explicit-consent")
    party = await make_party(town, ada, authorization_flow=flow["pk"], require_consent=True, reuse_consent=True)
    for is_admin in (False, True):
        person, browser = await signed_in(town)
        tokens = await party.tokens(browser)
        [given] = await results(person, "/core/user_consent/")
        path = f"/api/v2/core/user_consent/{given['pk']}/"

        assert (await (ada if is_admin else person).call("DELETE", path)).status_code == 204

        refused = await party.refresh(tokens["refresh_token"])
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
        assert not await works(party, tokens["access_token"])


async def test_what_an_application_was_given_ends_with_the_consent(town: Town, ada: Person) -> None:
    [flow] = await results(ada, "/flows/instances/", slug="default-provider-authorization-explicit-consent")
    party = await make_party(town, ada, authorization_flow=flow["pk"], require_consent=True, reuse_consent=True)
    kept_by = await make_party(town, ada)
    _, browser = await signed_in(town)
    tokens, others = await party.tokens(browser), await kept_by.tokens(browser)
    page = await browser.http.get("/settings/security")
    [withdraw] = re.findall(r'action="([^"]+/withdraw)"', page.text)

    done = await browser.http.post(withdraw, data={"csrf": csrf_of(page)})

    assert done.status_code == 303
    refused = await party.refresh(tokens["refresh_token"])
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    assert await works(kept_by, others["access_token"])


async def test_an_applications_token_has_no_say_in_the_social_half(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    _, browser = await signed_in(town)
    key = (await party.tokens(browser, scope="openid profile"))["access_token"]

    for path in ("/oauth/userinfo", "/api/v1/apps/verify_credentials"):
        answer = await town.http.get(path, headers={"Authorization": f"Bearer {key}"})
        assert (answer.status_code, answer.json()) == (401, {"error": "The access token is invalid"})
    assert (await party.userinfo(key)).status_code == 200
