"""Clients that registered themselves hold no longer than whoever registered them, and can be seen and ended."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kith.identity.providers.oauth2.registration import departures
from kith.identity.users.service import UserDeleted
from tests.identity.flow_browser import Browser
from tests.identity.records import API, grant, owner_of, person_who_may, results
from tests.identity.relying_party import RelyingParty, signed_in
from tests.identity.test_oauth_device import REGISTRAR, error
from tests.identity.test_oidc_registration import Registrar, managed, registrar_of
from tests.town import Person, Town

CLIENTS = "/providers/clients/"
SCOPES = "openid offline_access"
WAY = ["authorization_code", "refresh_token"]


class Registered(msgspec.Struct):
    """A client, who registered it, and somebody who uses it."""

    town: Town
    ada: Person
    registrar: Registrar
    told: dict[str, Any]
    browser: Browser
    tokens: dict[str, Any]
    pk: int  # of the registrar

    @property
    def client(self) -> RelyingParty:
        return RelyingParty(self.town, self.told, self.registrar.party.application)

    async def record(self) -> dict[str, Any]:
        [found] = await results(self.ada, CLIENTS, client_id=self.told["client_id"])
        return found

    async def staff(self, method: str, where: str = "", /, **sent: Any) -> None:
        answer = await self.ada.call(method, f"{API}/core/users/{self.pk}/{where}", json=sent)
        assert answer.is_success, answer.text

    async def lets_in(self) -> bool:
        """Whether people get in, and everything that they were given still works."""
        entered = "code=" in (await self.client.authorize(self.browser, scope=SCOPES)).headers.get("location", "")
        opens = (await self.client.userinfo(self.tokens["access_token"])).status_code == 200
        answer = await self.client.refresh(self.tokens["refresh_token"])
        if answer.status_code == 200:
            self.tokens = answer.json()
        assert entered is opens is (answer.status_code == 200)
        return entered

    async def manage(self, method: str = "GET", **sent: Any) -> int:
        where, bearer = managed(self.told)
        options: dict[str, Any] = {"json": sent} if sent else {}
        return (await self.town.http.request(method, where, headers=bearer, **options)).status_code


@pytest.fixture
async def one(town: Town) -> Registered:
    ada = await owner_of(town)
    registrar = await registrar_of(town, ada)
    told = await registrar.register(client_name="Notes", scope=SCOPES, grant_types=WAY)
    _, browser = await signed_in(town)
    client = RelyingParty(town, told, registrar.party.application)
    tokens = await client.tokens(browser, scope=SCOPES)
    [user] = await results(ada, "/core/users/", username=registrar.person.username)
    return Registered(town, ada, registrar, told, browser, tokens, user["pk"])


@pytest.mark.parametrize("what", ["the account", "the right"])
async def test_a_client_rests_while_its_registrar_may_not_register(one: Registered, what: str) -> None:
    before = (await one.ada.get(f"{API}/core/users/{one.pk}/")).json()
    lose: dict[str, Any] = {"is_active": False} if what == "the account" else {"roles": []}
    back = {name: before[name] for name in lose}
    assert await one.lets_in()

    await one.staff("PATCH", **lose)

    assert not await one.lets_in()
    assert (await one.record())["suspended"] is True
    await one.staff("PATCH", **back)
    assert await one.lets_in()
    assert (await one.record())["suspended"] is False


@pytest.mark.both_databases
async def test_a_lockdown_suspends_until_somebody_vouches(one: Registered) -> None:
    await one.staff("POST", "lockdown/", reason="a rogue", notify=False)
    assert not await one.lets_in()
    await one.staff("PATCH", is_active=True)
    assert not await one.lets_in()
    assert await one.manage() == 401
    record = await one.record()
    assert (record["suspended"], record["suspended_at"] is None) == (True, False)

    path = f"{API}{CLIENTS}{record['pk']}/take_over/"
    stranger, seer = (
        await one.town.sign_up(),
        await person_who_may(one.town, one.ada, "providers.view_registeredclient"),
    )
    assert (await stranger.call("POST", path, json={})).status_code == 404
    assert (await seer.call("POST", path, json={})).status_code == 403
    vouched = await one.ada.call("POST", path, json={})
    assert vouched.status_code == 200, vouched.text

    assert await one.lets_in()
    after = await one.record()
    assert (after["suspended"], after["registered_by_name"]) == (False, one.ada.username)
    assert await one.manage() == 401
    one.told |= vouched.json()
    assert await one.manage() == 200


async def test_a_client_ends_with_its_registrar(one: Registered) -> None:
    await one.staff("DELETE")
    assert not await one.lets_in()
    assert await one.manage() == 401
    async with one.town.house() as house, house.works.begin() as work:
        assert departures.REGISTRAR_DELETED.handler is not None
        await departures.REGISTRAR_DELETED.handler(work, UserDeleted(user_id=one.pk))
    assert await results(one.ada, CLIENTS, client_id=one.told["client_id"]) == []


async def test_the_registration_token_ends_with_the_password(one: Registered) -> None:
    assert await one.manage() == 200
    await one.staff("POST", "set_password/", password="an entirely new one")

    assert [await one.manage(method) for method in ("GET", "DELETE")] == [401, 401]
    assert await one.manage("PUT", client_id=one.told["client_id"], redirect_uris=["https://evil.example/"]) == 401
    assert await one.lets_in()


@pytest.mark.both_databases
async def test_who_sees_and_ends_clients(one: Registered) -> None:
    record, provider = await one.record(), one.registrar.party.provider["pk"]
    assert {name: record[name] for name in ("name", "client_id", "provider", "registered_by", "registered_by_name")} == {
        "name": "Notes", "client_id": one.told["client_id"], "provider": provider, "registered_by": one.pk,
        "registered_by_name": one.registrar.person.username,
    }  # fmt: skip
    assert record["last_used"] is not None
    assert one.told["registration_access_token"] not in str(record)
    for asked in ({"provider": provider}, {"registered_by": one.pk}):
        assert [found["pk"] for found in await results(one.ada, CLIENTS, **asked)] == [record["pk"]]
    path = f"{API}{CLIENTS}{record['pk']}/"
    stranger = await person_who_may(one.town, one.ada, REGISTRAR)
    assert await results(stranger, CLIENTS) == []
    assert [(await stranger.call(method, path)).status_code for method in ("GET", "DELETE")] == [404, 404]
    assert (await one.ada.call("PATCH", path, json={"name": "x"})).status_code == 405

    await grant(one.ada, stranger, "providers.view_registeredclient", "providers.delete_registeredclient")
    assert (await stranger.call("DELETE", path)).status_code == 204

    assert not await one.lets_in()
    assert await one.manage() == 401
    events = await results(one.ada, "/audit/events/", action="model_deleted")
    assert any("Notes" in str(event["context"]) for event in events)


async def test_registrars_see_and_end_their_own(one: Registered) -> None:
    own = one.registrar.person
    [record] = await results(own, CLIENTS)
    assert (await own.call("DELETE", f"{API}{CLIENTS}{record['pk']}/")).status_code == 204
    assert not await one.lets_in()


async def test_a_public_client_follows_what_public_clients_do(town: Town) -> None:
    """Whatever its provider is: a new refresh token every time, and reuse is noticed; nothing in its own name."""
    registrar = await registrar_of(town, await owner_of(town), refresh_token_threshold="hours=1")
    told = await registrar.register(scope=SCOPES, token_endpoint_auth_method="none", grant_types=WAY)
    client, (_, browser) = RelyingParty(town, told, registrar.party.application), await signed_in(town)
    first = await client.tokens(browser, secretly=False, scope=SCOPES)
    second = await client.refresh(first["refresh_token"], secretly=False)

    again = await client.refresh(first["refresh_token"], secretly=False)

    assert error(again) == (400, "invalid_grant")
    assert error(await client.refresh(second.json()["refresh_token"], secretly=False)) == (400, "invalid_grant")
    assert (
        error(await client.post("token", secretly=False, grant_type="client_credentials"))[1] == "unauthorized_client"
    )


async def test_what_is_not_allowed_any_more_is_not_renewed(town: Town) -> None:
    ada = await owner_of(town)
    registrar = await registrar_of(town, ada)
    told = await registrar.register(scope=f"{SCOPES} email", grant_types=WAY)
    client, (_, browser) = RelyingParty(town, told, registrar.party.application), await signed_in(town)
    tokens = await client.tokens(browser, scope=f"{SCOPES} email")
    assert "email" in (await client.userinfo(tokens["access_token"])).json()
    where, bearer = managed(told)
    body = {"client_id": told["client_id"], "redirect_uris": told["redirect_uris"], "client_name": told["client_name"]}

    async def narrow(scope: str) -> None:
        sent = body | {"scope": scope, "grant_types": WAY}
        assert (await town.http.put(where, headers=bearer, json=sent)).status_code == 200

    await narrow(SCOPES)
    assert "email" not in (await client.userinfo(tokens["access_token"])).json()
    renewed = (await client.refresh(tokens["refresh_token"])).json()
    assert sorted(renewed["scope"].split()) == sorted(SCOPES.split())
    await narrow("openid")
    assert error(await client.refresh(renewed["refresh_token"])) == (400, "invalid_grant")


async def test_a_client_gets_no_more_than_its_provider_may_still_give(town: Town) -> None:
    ada = await owner_of(town)
    registrar = await registrar_of(town, ada)
    told = await registrar.register(scope=f"{SCOPES} email", grant_types=WAY)
    client, (_, browser) = RelyingParty(town, told, registrar.party.application), await signed_in(town)
    tokens = await client.tokens(browser, scope=f"{SCOPES} email")

    provider = f"{API}/providers/openid/{registrar.party.provider['pk']}/"
    assert (await ada.call("PATCH", provider, json={"_scope": SCOPES})).status_code == 200

    assert "email" not in (await client.userinfo(tokens["access_token"])).json()
    renewed = (await client.refresh(tokens["refresh_token"])).json()
    assert sorted(renewed["scope"].split()) == sorted(SCOPES.split())
    assert "email" not in (await client.tokens(browser, scope=f"{SCOPES} email"))["scope"]
