"""Clients that register themselves say all that OpenID Connect lets them say, and manage it themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import jwt
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from kith.identity.providers.oauth2 import store
from kith.identity.providers.oauth2.registration.dynamic import MOST_CLIENTS
from tests.identity.client_site import ClientSite, client_site
from tests.identity.flow_browser import Browser
from tests.identity.logout_receiver import listening
from tests.identity.records import API, grant, new_name, owner_of, results
from tests.identity.relying_party import CALLBACK, RelyingParty, make_party, signed_in
from tests.identity.test_oauth_attacks import JWT_BEARER, claims_of, public_of
from tests.identity.test_oauth_device import REGISTRAR, dcr_token, error, register
from tests.town import Person, Town, build_town
from tests.town.town import Engine


@pytest.fixture(scope="module")
async def near(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    """A town that may call this very computer."""
    async with build_town(engine, tmp_path_factory.mktemp("near"), private_hosts="127.0.0.1") as built:
        yield built


@pytest.fixture
async def ada(near: Town) -> Person:
    return await owner_of(near)


@pytest.fixture
async def site() -> AsyncIterator[ClientSite]:
    async with client_site() as made:
        yield made


class Registrar:
    """Somebody who may register clients at a provider, and does."""

    def __init__(self, party: RelyingParty, person: Person, key: str) -> None:
        self.party = party
        self.person = person
        self.key = key

    async def register(self, **metadata: Any) -> dict[str, Any]:
        answer = await register(self.party, self.key, **metadata)
        assert answer.status_code == 201, answer.text
        told: dict[str, Any] = answer.json()
        return told

    async def client(self, **metadata: Any) -> RelyingParty:
        return RelyingParty(self.party.town, await self.register(**metadata), self.party.application)


async def registrar_of(town: Town, ada: Person, **fields: Any) -> Registrar:
    party, person = await make_party(town, ada, **fields), await town.sign_up()
    await grant(ada, person, REGISTRAR)
    return Registrar(party, person, await dcr_token(ada, person))


def managed(told: dict[str, Any]) -> tuple[str, dict[str, str]]:
    return told["registration_client_uri"], {"Authorization": f"Bearer {told['registration_access_token']}"}


async def prove(party: RelyingParty, key: rsa.RSAPrivateKey, kid: str) -> httpx.Response:
    """Proven by a signature, the client asks for something harmless."""
    proof = jwt.encode(claims_of(party), key, "RS256", {"kid": kid})
    form = {"client_assertion_type": JWT_BEARER, "client_assertion": proof, "token": "x"}
    return await party.http.post("/application/o/revoke/", data=form)


# What is registered


async def test_what_is_registered_is_told_and_what_is_not_understood_is_not(near: Town, ada: Person) -> None:
    registrar = await registrar_of(near, ada, response_types=[1, 5])
    said = {
        "client_name": "Everything",
        "redirect_uris": [CALLBACK],
        "response_types": ["code", "code id_token"],
        "grant_types": ["authorization_code", "implicit", "refresh_token"],
        "application_type": "web",
        "contacts": ["ops@rp.example"],
        "client_uri": "https://rp.example/",
        "logo_uri": "https://rp.example/logo.png",
        "policy_uri": "https://rp.example/policy",
        "tos_uri": "https://rp.example/tos",
        "initiate_login_uri": "https://rp.example/login",
        "jwks_uri": "https://rp.example/jwks",
        "token_endpoint_auth_method": "private_key_jwt",
        "token_endpoint_auth_signing_alg": "RS256",
        "id_token_signed_response_alg": "RS256",
        "userinfo_signed_response_alg": "RS256",
        "request_object_signing_alg": "RS256",
        "request_uris": ["https://rp.example/request#hash"],
        "subject_type": "pairwise",
        "default_max_age": 600,
        "require_auth_time": True,
        "post_logout_redirect_uris": ["https://rp.example/bye"],
        "backchannel_logout_uri": "https://logout.example/back",
        "backchannel_logout_session_required": True,
        "frontchannel_logout_uri": "https://rp.example/front",
        "frontchannel_logout_session_required": True,
        "scope": "openid email",
    }
    unknown = {"software_version": "7", "userinfo_encrypted_response_alg": "RSA-OAEP", "sector": "evil", "x": None}

    told = await registrar.register(**said, **unknown)

    assert {name: told.get(name) for name in said} == said
    assert set(told) - set(said) == {
        "client_id",
        "client_id_issued_at",
        "registration_client_uri",
        "registration_access_token",
    }
    where, bearer = managed(told)
    assert where.startswith(f"{near.base_url}/application/o/{registrar.party.slug}/register/")
    read = await near.http.get(where, headers=bearer)
    assert (read.status_code, read.json()) == (200, told)
    assert read.headers["cache-control"] == "no-store"
    async with near.house() as house, house.works.begin() as work:
        app = await store.find_app(work.db, told["client_id"])
    assert app is not None
    assert told["registration_access_token"] not in repr(app)


async def test_a_client_uses_no_response_type_that_it_did_not_register(near: Town, ada: Person) -> None:
    registrar = await registrar_of(near, ada, response_types=[1, 2])
    _, browser = await signed_in(near)
    client = await registrar.client(response_types=["code"])

    answer = await client.authorize(browser, response_type="id_token", nonce="n")

    assert "error=unauthorized_client" in answer.headers["location"]


async def test_an_age_that_was_registered_counts_where_none_is_asked_for(near: Town, ada: Person) -> None:
    registrar = await registrar_of(near, ada)
    _, browser = await signed_in(near)
    strict = await registrar.client(default_max_age=0, scope="openid")
    await strict.authorize(browser)

    asked = {"prompt": "none", "scope": "openid"}
    assert "error=login_required" in (await strict.authorize(browser, **asked)).headers["location"]
    assert "login_required" not in (await strict.authorize(browser, max_age="600", **asked)).headers["location"]


async def test_nobody_registers_clients_without_end(near: Town, ada: Person) -> None:
    registrar = await registrar_of(near, ada)
    told = await registrar.register()
    async with near.house() as house, house.works.begin() as work:
        app = await store.find_app(work.db, told["client_id"])
        assert app is not None
        for n in range(MOST_CLIENTS - 1):
            other = f"{app.client_id}-{n}"
            one = msgspec.structs.replace(app, id=work.new_id(), client_id=other, registration_uuid=None)
            await store.insert_app(work.db, one)

    refused = await register(registrar.party, registrar.key)

    assert error(refused) == (403, "access_denied")


# RFC 7592


async def test_a_client_changes_and_deletes_its_registration(near: Town, ada: Person) -> None:
    registrar = await registrar_of(near, ada)
    _, browser = await signed_in(near)
    about = {"client_name": "Before", "tos_uri": "https://rp.example/tos"}
    told = await registrar.register(**about, contacts=["ops@rp.example"], scope="openid email")
    where, bearer = managed(told)
    base = {"client_id": told["client_id"], "redirect_uris": [CALLBACK], **about}

    async def change(**more: Any) -> httpx.Response:
        return await near.http.put(where, json=base | more, headers=bearer)

    client = RelyingParty(near, told, registrar.party.application)
    await client.tokens(browser, scope="openid email")
    asked = {"prompt": "none", "scope": "openid email", "code_challenge": "", "code_challenge_method": ""}
    asked = {name: value for name, value in asked.items() if value}

    for wrong, expected in (
        ({"client_id": "another"}, (400, "invalid_client_metadata")),
        ({"client_id": None}, (400, "invalid_client_metadata")),
        ({"client_secret": "chosen"}, (400, "invalid_client_metadata")),
        ({"redirect_uris": ["javascript:1"]}, (400, "invalid_redirect_uri")),
        ({"registration_access_token": "x"}, (400, "invalid_request")),
        ({"client_id_issued_at": 1}, (400, "invalid_request")),
        ({"scope": "admin:write"}, (400, "invalid_client_metadata")),
    ):
        assert error(await change(**wrong)) == expected, wrong
    assert (await near.http.get(where, headers=bearer)).json()["tos_uri"] == "https://rp.example/tos"

    same = await change(client_uri="https://rp.example/", client_secret=told["client_secret"])
    assert same.status_code == 200, same.text
    assert "contacts" not in same.json()
    assert "client_secret" not in same.json()
    assert "code=" in (await client.authorize(browser, **asked)).headers["location"]
    other = await change(client_name="After", redirect_uris=[CALLBACK, "https://rp.example/second"])
    assert other.json()["client_name"] == "After"
    assert "error=consent_required" in (await client.authorize(browser, **asked)).headers["location"]
    public = await change(token_endpoint_auth_method="none")
    assert public.json()["token_endpoint_auth_method"] == "none"
    secret = (await change()).json()["client_secret"]
    assert secret != told["client_secret"]

    client.secret = secret
    tokens = await client.tokens(browser, scope="openid email")
    assert (await near.http.delete(where, headers=bearer)).status_code == 204
    assert (await near.http.get(where, headers=bearer)).status_code == 401
    assert (await client.userinfo(tokens["access_token"])).status_code == 401
    assert "Client ID Error" in (await client.authorize(browser)).text


async def test_only_the_token_of_a_client_manages_it(near: Town, ada: Person) -> None:
    registrar, elsewhere = await registrar_of(near, ada), await make_party(near, ada)
    told, other = await registrar.register(), await registrar.register()
    where, bearer = managed(told)
    attempts = (
        (where, managed(other)[1]),
        (where, {"Authorization": "Bearer wrong"}),
        (where, {"Authorization": f"Bearer {registrar.key}"}),
        (where.replace(registrar.party.slug, elsewhere.slug), bearer),
        (where.replace(told["client_id"], "nobody"), bearer),
        (where.replace(told["client_id"], registrar.party.id), bearer),
    )
    for method in ("GET", "PUT", "DELETE"):
        for place, headers in attempts:
            answer = await near.http.request(method, place, headers=headers)
            assert error(answer) == (401, "invalid_token"), (method, place)
        assert (await near.http.request(method, where)).status_code == 401
    assert (await near.http.get(where, headers=bearer)).status_code == 200


@pytest.mark.parametrize("how", ["the right", "the account"])
async def test_whoever_lost_the_right_changes_nothing_by_a_client(near: Town, ada: Person, how: str) -> None:
    registrar = await registrar_of(near, ada)
    told = await registrar.register()
    where, bearer = managed(told)
    body = {"client_id": told["client_id"], "redirect_uris": [CALLBACK, "https://evil.example/"]}
    [user] = await results(ada, "/core/users/", username=registrar.person.username)
    body_of_user: dict[str, Any] = {"roles": []} if how == "the right" else {"is_active": False}
    changed = await ada.call("PATCH", f"{API}/core/users/{user['pk']}/", json=body_of_user)
    assert changed.status_code == 200

    refused = await near.http.put(where, json=body, headers=bearer)

    expected = (403, "access_denied") if how == "the right" else (401, "invalid_token")
    assert error(refused) == expected
    assert (await near.http.get(where, headers=bearer)).json()["redirect_uris"] == [CALLBACK]
    assert (await near.http.delete(where, headers=bearer)).status_code == 204


# Keys at an address


async def test_keys_are_fetched_kept_and_looked_at_again_for_a_new_one(
    near: Town, ada: Person, site: ClientSite
) -> None:
    old, new = rsa.generate_private_key(65537, 2048), rsa.generate_private_key(65537, 2048)
    noise = [{"kty": "oct", "k": "AAAA", "kid": "new"}, {"kty": "odd"}, "text"]
    url = site.put("/jwks", {"keys": [*noise, public_of(old, "old")]})
    registrar = await registrar_of(near, ada)
    client = await registrar.client(
        jwks_uri=url, token_endpoint_auth_method="private_key_jwt", grant_types=["authorization_code"]
    )

    async def is_proven(key: rsa.RSAPrivateKey, kid: str) -> bool:
        return (await prove(client, key, kid)).status_code == 200

    assert site.asked["/jwks"] == 0
    assert [await is_proven(old, "old") for _ in range(3)] == [True] * 3
    assert site.asked["/jwks"] == 1
    assert not await is_proven(new, "new")
    site.put("/jwks", {"keys": [public_of(new, "new")]})
    assert await is_proven(new, "new")
    assert not await is_proven(old, "old")
    before = site.asked["/jwks"]
    for n in range(12):
        assert not await is_proven(old, f"made up {n}")
    assert site.asked["/jwks"] <= before + 6
    assert await is_proven(new, "new")


@pytest.mark.parametrize("what", ["a redirect", "too much", "no JSON", "nothing"])
async def test_what_is_no_set_of_keys_proves_nobody(near: Town, ada: Person, site: ClientSite, what: str) -> None:
    key = rsa.generate_private_key(65537, 2048)
    site.put("/real", {"keys": [public_of(key, "one")]})
    documents: dict[str, object] = {
        "a redirect": f"{site.url}/real",
        "too much": {"keys": [public_of(key, "one")], "more": "x" * 70_000},
        "no JSON": "[" * 5000,
    }
    url = site.put("/jwks", documents[what]) if what in documents else f"{site.url}/jwks"
    registrar = await registrar_of(near, ada)
    client = await registrar.client(jwks_uri=url, token_endpoint_auth_method="private_key_jwt")

    answer = await prove(client, key, "one")

    assert error(answer) == (401, "invalid_client")
    assert site.asked["/real"] == 0


async def test_no_keys_are_fetched_from_our_own_network(town: Town, site: ClientSite) -> None:
    ada, key = await owner_of(town), rsa.generate_private_key(65537, 2048)
    url = site.put("/jwks", {"keys": [public_of(key, "one")]})
    registrar = await registrar_of(town, ada)
    client = await registrar.client(
        jwks_uri=url, request_uris=[site.put("/r", "x")], token_endpoint_auth_method="private_key_jwt"
    )

    assert error(await prove(client, key, "one")) == (401, "invalid_client")
    answer = await client.authorize(Browser(town), request_uri=f"{site.url}/r")
    assert "error=invalid_request_uri" in answer.headers["location"]
    refused = await register(registrar.party, registrar.key, sector_identifier_uri=f"{site.url}/r")
    assert error(refused) == (400, "invalid_client_metadata")
    assert not site.asked


# What is told


async def test_userinfo_is_signed_for_whom_it_was_registered(near: Town, ada: Person) -> None:
    registrar = await registrar_of(near, ada, jwt_alg="ES256")
    person, browser = await signed_in(near)
    client = await registrar.client(userinfo_signed_response_alg="RS256", scope="openid profile")

    tokens = await client.tokens(browser, scope="openid profile")
    answer = await client.userinfo(tokens["access_token"])

    assert answer.headers["content-type"] == "application/jwt"
    assert jwt.get_unverified_header(answer.text)["alg"] == "RS256"
    told = await client.read(answer.text)
    assert (told["preferred_username"], told["sub"]) == (
        person.username,
        (await client.read(tokens["id_token"]))["sub"],
    )
    assert jwt.get_unverified_header(tokens["id_token"])["alg"] == "ES256"
    described = (await near.http.get(f"/application/o/{client.slug}/.well-known/openid-configuration")).json()
    assert {"ES256", "RS256"} == set(described["userinfo_signing_alg_values_supported"])
    plain = await registrar.client(id_token_signed_response_alg="RS256", scope="openid")
    token = (await plain.tokens(browser, scope="openid"))["id_token"]
    assert jwt.get_unverified_header(token)["alg"] == "RS256"
    assert (await plain.read(token))["aud"] == plain.id


@pytest.mark.parametrize(("kind", "alg"), [("openid", "ES256"), ("oauth", "ES256"), ("oauth", "RS256")])
async def test_a_client_is_told_with_the_key_of_its_provider_unless_it_wants_another(
    near: Town, ada: Person, kind: str, alg: str
) -> None:
    order = {"common_name": new_name("key"), "validity_days": 30, "alg": {"ES256": "ecdsa", "RS256": "rsa"}[alg]}
    pair = (await ada.call("POST", f"{API}/crypto/certificatekeypairs/generate/", json=order)).json()["pk"]
    party, person = await make_party(near, ada, kind, signing_key=pair), await near.sign_up()
    await grant(ada, person, f"providers.change_{kind}{'2' if kind == 'oauth' else ''}provider")
    registrar = Registrar(party, person, await dcr_token(ada, person))
    _, browser = await signed_in(near)
    own = jwt.get_unverified_header((await party.tokens(browser, scope="openid"))["id_token"])["kid"]

    for wanted in ("", alg, "RS256"):
        client = await registrar.client(scope="openid", **({"id_token_signed_response_alg": wanted} if wanted else {}))
        assert client.provider["id_token_signed_response_alg"] == (wanted or alg)
        token = (await client.tokens(browser, scope="openid"))["id_token"]
        header = jwt.get_unverified_header(token)
        assert header["alg"] == (wanted or alg)
        assert (header["kid"] == own) is ((wanted or alg) == alg)
        assert (await client.read(token))["aud"] == client.id


async def test_people_see_what_a_client_says_of_itself(near: Town, ada: Person) -> None:
    registrar = await registrar_of(near, ada)
    _, browser = await signed_in(near)
    pages = {"policy_uri": "https://anywhere.example/policy", "tos_uri": "https://anywhere.example/tos?a=1&b=2"}
    own = await registrar.client(logo_uri="https://rp.example/logo.png", **pages)
    foreign = await registrar.client(logo_uri="https://bank.example/logo.png")

    shown = {}
    for client in (own, foreign):
        answer = await client.authorize(browser)
        shown[client.id] = await browser.http.get(answer.headers["location"])

    page, policy = shown[own.id].text, shown[own.id].headers["content-security-policy"]
    assert '<img src="https://rp.example/logo.png"' in page
    assert "img-src 'self' data: https://rp.example;" in policy
    assert 'href="https://anywhere.example/policy"' in page
    assert 'href="https://anywhere.example/tos?a=1&amp;b=2"' in page
    assert "bank.example" not in shown[foreign.id].text
    assert "bank.example" not in shown[foreign.id].headers["content-security-policy"]


async def test_a_sign_in_can_begin_with_us(near: Town, ada: Person) -> None:
    registrar = await registrar_of(near, ada)
    _, browser = await signed_in(near)
    client = await registrar.client(initiate_login_uri="https://rp.example/login?a=1", scope="openid")
    without = await registrar.client()
    await client.tokens(browser, scope="openid")
    here = f"/application/o/initiate/?client_id={client.id}"

    listed = await browser.http.get("/oauth/authorized_applications")
    answer = await browser.http.get(here)

    assert f'href="{here}"' in listed.text
    issuer = client.issuer.replace(":", "%3A").replace("/", "%2F")
    assert (answer.status_code, answer.headers["location"]) == (302, f"https://rp.example/login?a=1&iss={issuer}")
    for other in (without.id, registrar.party.id, "nobody", ""):
        assert (await browser.http.get(f"/application/o/initiate/?client_id={other}")).status_code == 404


async def test_what_a_client_was_allowed_is_taken_back_for_it_alone(near: Town, ada: Person) -> None:
    registrar = await registrar_of(near, ada)
    person, browser = await signed_in(near)
    scope = "openid offline_access"
    clients = [await registrar.client(scope=scope, grant_types=["authorization_code", "refresh_token"]) for _ in "abc"]
    tokens = [await client.tokens(browser, scope=scope) for client in clients]
    names = {one["application_name"] for one in await results(person, "/core/user_consent/")}
    assert names == {"Unnamed client"}
    page = await browser.http.get("/oauth/authorized_applications")
    csrf = {"csrf": browser.http.cookies["kith_csrf"], "_method": "delete"}
    async with near.house() as house, house.works.begin() as work:
        apps = [await store.find_app(work.db, client.id) for client in clients]

    withdrawn = (await results(person, "/core/user_consent/"))[0]["pk"]
    assert (await person.call("DELETE", f"{API}/core/user_consent/{withdrawn}/")).status_code == 204
    revoked = [app for app in apps if app is not None and f"/authorized_applications/{app.id}" in page.text][-1]
    assert (await browser.http.post(f"/oauth/authorized_applications/{revoked.id}", data=csrf)).status_code == 303

    lasting = [(await one.refresh(got["refresh_token"])).status_code for one, got in zip(clients, tokens, strict=True)]
    silent = [await one.authorize(browser, prompt="none", scope=scope) for one in clients]
    assert lasting == [400, 200, 400]
    assert ["code=" in answer.headers["location"] for answer in silent] == [False, True, False]


@pytest.mark.parametrize("end", ["take over", "lockdown", "password"])
async def test_a_change_that_is_under_way_ends_with_its_token(
    near: Town, ada: Person, site: ClientSite, end: str
) -> None:
    registrar = await registrar_of(near, ada)
    told = await registrar.register(client_name="Payroll")
    where, bearer = managed(told)
    evil = "https://evil.example/back"
    sector, site.held["/slow"] = site.put("/slow", [evil]), asyncio.Event()
    body = {"client_id": told["client_id"], "redirect_uris": [evil], "sector_identifier_uri": sector}
    changing = asyncio.create_task(near.http.put(where, headers=bearer, json=body))
    async with asyncio.timeout(10):
        while not site.asked["/slow"]:
            await asyncio.sleep(0.02)

    [client] = await results(ada, "/providers/clients/", client_id=told["client_id"])
    [user] = await results(ada, "/core/users/", username=registrar.person.username)
    path, sent = {
        "take over": (f"/providers/clients/{client['pk']}/take_over/", {}),
        "lockdown": (f"/core/users/{user['pk']}/lockdown/", {"reason": "rogue", "notify": False}),
        "password": (f"/core/users/{user['pk']}/set_password/", {"password": "an entirely new one"}),
    }[end]
    assert (await ada.call("POST", API + path, json=sent)).is_success
    site.held["/slow"].set()

    assert (await changing).status_code == 401
    [client] = await results(ada, "/providers/clients/", client_id=told["client_id"])
    assert evil not in str(client["redirect_uris"])


async def test_introspection_tells_what_the_client_may_still_have(near: Town, ada: Person) -> None:
    registrar = await registrar_of(near, ada)
    said = {"client_name": "Narrow", "grant_types": ["authorization_code", "refresh_token"]}
    told = await registrar.register(scope="openid profile email", **said)
    client = RelyingParty(near, told, registrar.party.application)
    person, browser = await signed_in(near)
    token = (await client.tokens(browser, scope="openid profile email"))["access_token"]
    assert (await client.post("introspect", token=token)).json()["username"] == person.username

    where, bearer = managed(told)
    narrow = said | {"client_id": told["client_id"], "redirect_uris": told["redirect_uris"], "scope": "openid"}
    assert (await near.http.put(where, headers=bearer, json=narrow)).status_code == 200

    seen = (await client.post("introspect", token=token)).json()
    assert (seen["scope"], seen.get("username")) == ("openid", None)


# Signing out


async def test_a_client_that_registered_itself_hears_of_the_end(near: Town, ada: Person) -> None:
    registrar = await registrar_of(near, ada)
    async with listening() as listener:
        bye = "https://rp.example/bye"
        client = await registrar.client(
            backchannel_logout_uri=listener.url,
            frontchannel_logout_uri="https://rp.example/front",
            post_logout_redirect_uris=[bye],
            scope="openid",
        )
        _, browser = await signed_in(near)
        tokens = await client.tokens(browser, scope="openid")
        claims = await client.read(tokens["id_token"])

        asked = {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": bye}
        answer = await browser.http.get(f"/application/o/{client.slug}/end-session/", params=asked)
        page = await browser.http.get(answer.headers["location"])

        assert '<iframe src="https://rp.example/front?iss=http' in page.text
        assert claims["sid"] in page.text
        assert bye in page.text
        await listener.hears(client, claims)


# Pairwise subjects


async def test_subjects_are_one_for_each_sector_and_belong_together_nowhere(
    near: Town, ada: Person, site: ClientSite
) -> None:
    registrar = await registrar_of(near, ada)
    _, browser = await signed_in(near)
    more = "https://other.example/callback"
    sector = site.put("/sector", [CALLBACK, more])

    async def seen(client: RelyingParty, *, named: bool = False) -> tuple[str, str]:
        tokens = await client.tokens(browser, scope="openid profile")
        claims = await client.read(tokens["id_token"])
        told = (await client.userinfo(tokens["access_token"])).json()
        asked = (await client.post("introspect", token=tokens["access_token"])).json()
        assert claims["sub"] == told["sub"] == asked["sub"]
        assert ("username" in asked) is named
        return claims["sub"], claims["sid"]

    public = await seen(await registrar.client(scope="openid profile"), named=True)
    first = await seen(await registrar.client(scope="openid profile", subject_type="pairwise"))
    again = await seen(await registrar.client(scope="openid profile", subject_type="pairwise"))
    kept = await registrar.client(
        scope="openid profile", subject_type="pairwise", sector_identifier_uri=sector, redirect_uris=[CALLBACK, more]
    )
    second = await seen(kept)

    assert first == again
    assert len({public[0], first[0], second[0]}) == 3
    assert len({public[1], first[1], second[1]}) == 3
    hint = (await kept.tokens(browser, scope="openid"))["id_token"]
    silent = await kept.authorize(browser, scope="openid", prompt="none", id_token_hint=hint)
    assert "code=" in silent.headers["location"]
    out = await browser.http.get(f"/application/o/{kept.slug}/end-session/", params={"id_token_hint": hint})
    assert "then=" in out.headers["location"]
    assert await browser.who() is None
    described = (await near.http.get(f"/application/o/{kept.slug}/.well-known/openid-configuration")).json()
    assert set(described["subject_types_supported"]) == {"public", "pairwise"}


async def test_a_sector_names_the_redirect_uris_of_its_clients(near: Town, ada: Person, site: ClientSite) -> None:
    registrar = await registrar_of(near, ada)
    others = ["https://a.example/", "https://b.example/"]
    for metadata in (
        {"subject_type": "pairwise", "redirect_uris": others},
        {"subject_type": "pairwise", "redirect_uris": ["app.example:/back"]},
        {"subject_type": "pairwise", "sector_identifier_uri": site.put("/short", [others[0]]), "redirect_uris": others},
        {"sector_identifier_uri": site.put("/empty", [])},
        {"sector_identifier_uri": site.put("/object", {"uris": [CALLBACK]})},
        {"sector_identifier_uri": f"{site.url}/missing"},
    ):
        refused = await register(registrar.party, registrar.key, **metadata)
        assert error(refused) == (400, "invalid_client_metadata"), metadata
    right = site.put("/right", others)
    await registrar.register(subject_type="pairwise", sector_identifier_uri=right, redirect_uris=others)
