"""Devices without a browser, and clients that register themselves."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from kith.base.db import command
from kith.identity.providers.oauth2.tables import devices
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.identity.records import (
    grant,
    make,
    make_binding,
    make_flow,
    make_stage,
    new_name,
    owner_of,
    person_who_may,
    results,
)
from tests.identity.relying_party import CALLBACK, RelyingParty, make_party, signed_in
from tests.town import Person, Town

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
_forget_polls = command(update(devices).values(polled_at=None))


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def start(party: RelyingParty, **form: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"scope": "openid email offline_access"} | form
    answer = await party.post("device", **given)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def poll(party: RelyingParty, started: dict[str, Any]) -> httpx.Response:
    return await party.post("token", grant_type=DEVICE, device_code=started["device_code"])


async def answer_page(browser: Browser, code: str, answer: str) -> httpx.Response:
    shown = await browser.http.get("/device", params={"code": code})
    found = re.search(r'name="csrf" value="([^"]+)"', shown.text)
    assert found, shown.text
    return await browser.http.post("/device", data={"csrf": found[1], "code": code, "answer": answer})


def error(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("error", "")


async def test_a_device_waits_until_somebody_says_yes(town: Town, ada: Person) -> None:
    party, other = await make_party(town, ada), await make_party(town, ada)
    person, browser = await signed_in(town)
    started = await start(party)
    assert re.fullmatch("[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}", started["user_code"])
    assert started["verification_uri"] == f"{town.base_url}/device"
    assert (started["expires_in"], started["interval"]) == (600, 5)

    assert error(await poll(party, started)) == (400, "authorization_pending")
    assert error(await poll(party, started)) == (400, "slow_down")
    assert error(await poll(other, started)) == (400, "invalid_grant")
    assert error(await party.post("token", grant_type=DEVICE, device_code="x")) == (400, "invalid_grant")

    again = await start(party)
    assert (await answer_page(browser, again["user_code"].lower().replace("-", " "), "allow")).status_code == 200
    answers = await asyncio.gather(*(poll(party, again) for _ in range(10)))
    assert Counter(answer.status_code for answer in answers)[200] == 1
    [tokens] = [answer.json() for answer in answers if answer.status_code == 200]
    assert (await party.userinfo(tokens["access_token"])).json()["email"] == f"{person.username}@example.org"
    assert (await party.read(tokens["id_token"]))["aud"] == party.id
    assert (await party.refresh(tokens["refresh_token"])).status_code == 200
    assert error(await poll(party, again)) == (400, "invalid_grant")

    refused = await start(party)
    await answer_page(browser, refused["user_code"], "deny")
    assert error(await poll(party, refused)) == (403, "access_denied")
    assert (await answer_page(browser, refused["user_code"], "allow")).status_code == 400
    [user] = await results(ada, "/core/users/", username=person.username)
    events = await results(ada, "/audit/events/", action="authorize_application", user=user["pk"])
    assert [event["context"]["client"] for event in events] == [party.id]


async def test_who_may_start_a_device(town: Town, ada: Person) -> None:
    secret = await make_party(town, ada)
    machine = await make_party(town, ada, "oauth", authorization_grant_type="client-credentials")
    public = await make_party(town, ada, client_type="public")
    assert error(await secret.post("device", secretly=False)) == (401, "invalid_client")
    assert error(await machine.post("device", scope="x")) == (400, "unauthorized_client")
    answer = await public.post("device", secretly=False, scope="openid")
    assert answer.status_code == 200, answer.text


async def test_devices_and_guesses_have_an_end(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    party = await make_party(town, await town.owner())
    codes = [(await party.post("device", scope="openid")).status_code for _ in range(21)]
    assert codes == [200] * 20 + [429]
    assert error(await party.post("device", scope="openid")) == (429, "slow_down")
    _, browser = await signed_in(town)
    guesses = [(await answer_page(browser, "BBBB-BBBB", "allow")).status_code for _ in range(11)]
    assert guesses == [400] * 10 + [429]


# What the application's authorization flow asks of everybody, it asks of whoever lets a device in


async def hidden_proof(browser: Browser, to: str) -> dict[str, str]:
    """The fields of the page to which the end of a flow leads."""
    shown = await browser.http.get(to)
    found = dict(re.findall(r'name="(csrf|proof|code)"[^>]* value="([^"]*)"', shown.text))
    assert set(found) == {"csrf", "proof", "code"}, shown.text
    return found


@pytest.mark.parametrize("answer", ["", "allow"])
async def test_a_device_comes_in_by_the_flow_of_the_application(town: Town, ada: Person, answer: str) -> None:
    flow = await make_flow(ada, "authorization")
    await make_binding(ada, flow, await make_stage(ada))
    party = await make_party(town, ada, authorization_flow=flow["pk"])
    (_, browser), (_, other) = await signed_in(town), await signed_in(town)
    started, second = await start(party), await start(party)

    led = await answer_page(browser, started["user_code"], answer)
    assert (led.status_code, led.headers.get("location")) == (303, f"/flows/{flow['slug']}/")
    assert error(await poll(party, started)) == (400, "authorization_pending")
    done = await browser.answer(flow["slug"], component="dummy")
    fields = await hidden_proof(browser, done["to"])

    # The proof is for one device and one person.
    await answer_page(other, started["user_code"], "")
    forged = {**fields, "csrf": other.http.cookies["kith_csrf"], "answer": "allow"}
    assert (await other.http.post("/device", data=forged)).status_code == 303
    elsewhere = {**fields, "code": second["user_code"], "answer": "allow"}
    assert (await browser.http.post("/device", data=elsewhere)).status_code == 303
    for one in (started, second):
        assert error(await poll(party, one))[1] in ("authorization_pending", "slow_down")

    asked = await browser.http.post("/device", data=fields)
    assert (asked.status_code, 'value="allow"' in asked.text) == (200, True)
    assert (await browser.http.post("/device", data={**fields, "answer": "allow"})).status_code == 200
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(_forget_polls)
    assert (await poll(party, started)).status_code == 200


@pytest.mark.parametrize("refuses", ["stage", "policy"])
async def test_a_flow_that_refuses_lets_no_device_in(town: Town, ada: Person, refuses: str) -> None:
    flow = await make_flow(ada, "authorization")
    if refuses == "stage":
        await make_binding(ada, flow, await make_stage(ada, "deny", deny_message="Not by this door."))
    else:
        policy = await make(ada, "/policies/expression/", name=new_name("no"), expression="return False")
        await make(ada, "/policies/bindings/", policy=policy["pk"], target=flow["pbm_uuid"], order=0)
    party = await make_party(town, ada, authorization_flow=flow["pk"])
    _, browser = await signed_in(town)
    for answer in ("", "allow"):
        started = await start(party)
        assert (await answer_page(browser, started["user_code"], answer)).status_code == 403
        assert error(await poll(party, started)) == (400, "authorization_pending")
    assert (await answer_page(browser, started["user_code"], "deny")).status_code == 200
    assert error(await poll(party, started)) == (403, "access_denied")


# Registration


REGISTRAR = "providers.change_openidprovider"
RSA = {"kty": "RSA", "n": "_" * 342, "e": "AQAB"}


async def dcr_token(ada: Person, person: Person, scopes: str = "dcr") -> str:
    [user] = await results(ada, "/core/users/", username=person.username)
    return str((await make(ada, "/core/tokens/", user=user["pk"], scopes=scopes))["key"])


async def register(party: RelyingParty, key: str, **metadata: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    body = {"redirect_uris": [CALLBACK]} | metadata
    body = {name: value for name, value in body.items() if value is not None}
    return await party.http.post(f"/application/o/{party.slug}/register/", json=body, headers=headers)


async def test_a_client_that_registered_itself_works(town: Town, ada: Person) -> None:
    base = await make_party(town, ada)
    person, browser = await signed_in(town)
    await grant(ada, person, REGISTRAR)
    key = await dcr_token(ada, person)

    made = await register(
        base,
        key,
        client_name="My <b>app</b>",
        grant_types=["authorization_code", "refresh_token", "password"],
        scope="openid email offline_access",
        client_uri="https://rp.example/",
    )
    assert made.status_code == 201, made.text
    told = made.json()
    assert told["grant_types"] == ["authorization_code", "refresh_token"]
    assert (told["client_secret_expires_at"], told["redirect_uris"]) == (0, [CALLBACK])
    party = RelyingParty(town, told, base.application)
    tokens = await party.tokens(browser, scope="openid email profile offline_access")
    assert tokens["scope"] == "openid email offline_access"
    assert (await party.read(tokens["id_token"]))["email"] == f"{person.username}@example.org"
    assert (await base.refresh(tokens["refresh_token"])).status_code == 400
    assert (await party.refresh(tokens["refresh_token"])).status_code == 200

    public = (await register(base, key, token_endpoint_auth_method="none")).json()
    assert "client_secret" not in public
    without_proof = RelyingParty(town, public, base.application)
    assert (await without_proof.tokens(browser, secretly=False))["token_type"] == "Bearer"


async def test_what_is_wrong_with_a_registration_is_said(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    person = await person_who_may(town, ada, REGISTRAR)
    key = await dcr_token(ada, person)
    huge = ["https://rp.example/" + "a" * 1900 for _ in range(9)]
    for metadata, expected in (
        ({"redirect_uris": None}, (400, "invalid_redirect_uri")),
        ({"redirect_uris": []}, (400, "invalid_redirect_uri")),
        ({"redirect_uris": "https://rp.example"}, (400, "invalid_redirect_uri")),
        ({"redirect_uris": ["javascript:alert(1)"]}, (400, "invalid_redirect_uri")),
        ({"redirect_uris": ["data:text/html,x"]}, (400, "invalid_redirect_uri")),
        ({"redirect_uris": ["http://rp.example/"]}, (400, "invalid_redirect_uri")),
        ({"redirect_uris": ["https://rp.example/#x"]}, (400, "invalid_redirect_uri")),
        ({"redirect_uris": [f"https://rp.example/{n}" for n in range(11)]}, (400, "invalid_redirect_uri")),
        ({"redirect_uris": huge}, (413, "invalid_request")),
        ({"token_endpoint_auth_method": "magic"}, (400, "invalid_client_metadata")),
        ({"token_endpoint_auth_method": "private_key_jwt"}, (400, "invalid_client_metadata")),
        ({"jwks": {"keys": [{"kty": "RSA", "n": "_" * 512, "e": "_" * 512}]}}, (400, "invalid_client_metadata")),
        ({"jwks": {"keys": [{"kty": "RSA", "n": "_" * 342, "e": "AQAB"}] * 11}}, (400, "invalid_client_metadata")),
        ({"jwks": {"keys": "no"}}, (400, "invalid_client_metadata")),
        ({"jwks": {"keys": [{"kty": "oct", "k": "AAAA"}]}}, (400, "invalid_client_metadata")),
        ({"jwks_uri": "ftp://rp.example/jwks"}, (400, "invalid_client_metadata")),
        ({"jwks_uri": "https://rp.example/jwks", "jwks": {"keys": [RSA]}}, (400, "invalid_client_metadata")),
        ({"jwks": {"keys": [RSA | {"kid": "a\0b"}]}}, (400, "invalid_client_metadata")),
        ({"logo_uri": "javascript:alert(1)"}, (400, "invalid_client_metadata")),
        ({"policy_uri": "http://rp.example/"}, (400, "invalid_client_metadata")),
        ({"tos_uri": 7}, (400, "invalid_client_metadata")),
        ({"initiate_login_uri": "https://rp.example/#x"}, (400, "invalid_client_metadata")),
        ({"contacts": ["a\nb"]}, (400, "invalid_client_metadata")),
        ({"contacts": ["a"] * 11}, (400, "invalid_client_metadata")),
        ({"application_type": "toaster"}, (400, "invalid_client_metadata")),
        ({"subject_type": "triple"}, (400, "invalid_client_metadata")),
        ({"request_uris": ["http://rp.example/r"]}, (400, "invalid_client_metadata")),
        ({"request_uris": [f"https://rp.example/{n}" for n in range(11)]}, (400, "invalid_client_metadata")),
        ({"post_logout_redirect_uris": ["javascript:alert(1)"]}, (400, "invalid_client_metadata")),
        ({"frontchannel_logout_uri": "https://elsewhere.example/out"}, (400, "invalid_client_metadata")),
        ({"id_token_signed_response_alg": "HS256"}, (400, "invalid_client_metadata")),
        ({"userinfo_signed_response_alg": "none"}, (400, "invalid_client_metadata")),
        ({"request_object_signing_alg": "HS256"}, (400, "invalid_client_metadata")),
        ({"request_object_signing_alg": "RS256"}, (400, "invalid_client_metadata")),
        ({"default_max_age": -1}, (400, "invalid_client_metadata")),
        ({"grant_types": ["refresh_token"], "response_types": ["code"]}, (400, "invalid_client_metadata")),
        ({"grant_types": ["implicit"]}, (400, "invalid_client_metadata")),
        ({"response_types": ["id_token token"]}, (400, "invalid_client_metadata")),
        ({"scope": "openid admin:write"}, (400, "invalid_client_metadata")),
        ({"client_name": "x" * 101}, (400, "invalid_client_metadata")),
        ({"client_name": "a\u202eb"}, (400, "invalid_client_metadata")),
        ({"client_name": "KITH"}, (400, "invalid_client_metadata")),
        ({"client_name": party.application["name"].upper()}, (400, "invalid_client_metadata")),
        ({"client_name": 7}, (400, "invalid_client_metadata")),
    ):
        assert error(await register(party, key, **metadata)) == expected, metadata
    assert error(await register(party, "")) == (401, "invalid_request")
    assert error(await register(party, "kith_wrong")) == (401, "invalid_token")
    assert error(await register(party, await dcr_token(ada, person, "read"))) == (403, "insufficient_scope")
    no = await make(ada, "/policies/dummy/", name=new_name("no"), result=False, wait_min=0, wait_max=0)
    await make(ada, "/policies/bindings/", policy=no["pk"], target=party.application["pk"], order=0)
    assert error(await register(party, key)) == (403, "access_denied")
    missing = await town.http.post(
        "/application/o/nothing/register/", json={}, headers={"Authorization": f"Bearer {key}"}
    )
    assert missing.status_code == 404


async def test_no_application_registers_clients_in_the_name_of_its_visitors(town: Town, ada: Person) -> None:
    """Whoever adds an application could have superusers who follow a link register clients at others."""
    bank, evil = await make_party(town, ada), await make_party(town, ada, _scope="openid dcr", require_consent=False)
    person, browser = await signed_in(town)
    await grant(ada, person, REGISTRAR)
    tokens = await evil.tokens(browser, scope="openid dcr")
    assert tokens["scope"] == "openid dcr"

    for party in (bank, evil):
        assert error(await register(party, tokens["access_token"])) == (403, "insufficient_scope")
    assert (await register(bank, await dcr_token(ada, person))).status_code == 201


async def test_registering_a_client_takes_the_right_to_change_the_provider(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    rights = {
        (): 403,
        ("providers.view_openidprovider", "core.view_application", "core.change_application"): 403,
        ("providers.change_oauth2provider", "providers.change_applicationgatewayprovider"): 403,
        (REGISTRAR,): 201,
    }
    for permissions, expected in rights.items():
        person = await person_who_may(town, ada, *permissions)
        answer = await register(party, await dcr_token(ada, person))
        assert answer.status_code == expected, (permissions, answer.text)
        if expected == 403:
            assert answer.json()["error"] == "access_denied"
            assert REGISTRAR in answer.json()["error_description"]
            [event] = await results(ada, "/audit/events/", action="permission_denied", username=person.username)
            assert event["context"]["permission"] == REGISTRAR
