"""What clients are told, and how they can be sure that we said it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from datetime import timedelta
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from kith.identity.providers.oauth2.keys.server_keys import KNOWN_AFTER, KNOWN_BEFORE, SIGNS, Rotate, rotate
from kith.identity.providers.oauth2.keys.signing import public_keys
from kith.identity.users import store
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.relying_party import RelyingParty, make_party, signed_in
from tests.town import Person, Town


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def _user(owner: Person, person: Person) -> dict[str, Any]:
    [found] = await results(owner, "/core/users/", username=person.username)
    return found


async def test_whom_a_subject_names(town: Town, ada: Person) -> None:
    person, browser = await signed_in(town)
    user = await _user(ada, person)
    expected = {
        "user_id": str(user["pk"]),
        "user_uuid": user["uuid"],
        "user_username": person.username,
        "user_email": f"{person.username}@example.org",
    }
    told = {}
    for mode in (*expected, "hashed_user_id", "user_upn"):
        party = await make_party(town, ada, sub_mode=mode)
        claims = await party.read((await party.tokens(browser))["id_token"])
        told[mode] = claims["sub"]
    assert {mode: told[mode] for mode in expected} == expected
    assert told["hashed_user_id"] == told["user_upn"]
    assert len(told["hashed_user_id"]) == 64
    await ada.call("PATCH", f"{API}/core/users/{user['pk']}/", json={"attributes": {"upn": "ada@corp.example"}})
    party = await make_party(town, ada, sub_mode="user_upn")
    assert (await party.read((await party.tokens(browser))["id_token"]))["sub"] == "ada@corp.example"

    # Whoever gets the name of somebody who left is not taken for them.
    party = await make_party(town, ada)
    assert (await ada.call("DELETE", f"{API}/core/users/{user['pk']}/")).status_code == 204
    _, anew = await signed_in(town, await town.sign_up(person.username))
    claims = await party.read((await party.tokens(anew))["id_token"])
    assert claims["preferred_username"] == person.username
    assert claims["sub"] not in told.values()


async def test_scopes_bring_what_their_mappings_say(town: Town, ada: Person) -> None:
    person, browser = await signed_in(town)
    user = await _user(ada, person)
    group = await make(ada, "/core/groups/", name=new_name("crew"), parent=None, user_set=[user["pk"]])

    async def mapping(scope: str, expression: str) -> str:
        made = await make(ada, "/propertymappings/scope/", name=new_name("m"), scope_name=scope, expression=expression)
        return str(made["pk"])

    mappings = [
        await mapping("deep", 'return {"tree": {"a": 1, "b": 1}, "sub": "forged", "aud": "forged", "none": None}'),
        await mapping("deeper", 'return {"tree": {"b": 2}, "who": user.username, "for": provider["client_id"]}'),
        await mapping("empty", "return None"),
        await mapping("broken", "return 1 / 0"),
        await mapping("odd", "return 7"),
        await mapping("other", 'return {"never": True}'),
    ]
    scope = "openid profile deep deeper empty broken odd"
    party = await make_party(town, ada, property_mappings=mappings, _scope=f"{scope} other")
    tokens = await party.tokens(browser, scope=scope)

    claims = await party.read(tokens["id_token"])
    about = (await party.userinfo(tokens["access_token"])).json()
    for told in (claims, about):
        assert told["tree"] == {"a": 1, "b": 2}
        assert (told["who"], told["for"]) == (person.username, party.id)
        assert told["groups"] == [group["name"]]
        assert not {"never", "none"} & set(told)
        assert told["sub"] != "forged"
    assert claims["aud"] == party.id
    events = await results(ada, "/audit/events/", action="property_mapping_exception", user=user["pk"])
    assert {event["context"]["mapping"]["pk"] for event in events} >= {mappings[3], mappings[4]}


async def test_a_short_id_token_has_only_what_was_named(town: Town, ada: Person) -> None:
    person, browser = await signed_in(town)
    party = await make_party(town, ada, include_claims_in_id_token=False)
    named = json.dumps({"id_token": {"email": {"essential": True}, "phone_number": None}})
    plain = await party.read((await party.tokens(browser))["id_token"])
    asked = await party.tokens(browser, claims=named)
    claims = await party.read(asked["id_token"])

    assert not {"email", "name"} & set(plain)
    assert claims["email"] == f"{person.username}@example.org"
    assert not {"name", "phone_number"} & set(claims)
    assert (await party.userinfo(asked["access_token"])).json()["preferred_username"] == person.username


async def test_of_somebody_without_a_confirmed_address_nothing_is_told(town: Town, ada: Person) -> None:
    person, browser = await signed_in(town)
    party = await make_party(town, ada)
    tokens = await party.tokens(browser)
    async with town.house() as house, house.works.begin() as work:
        user = await _user(ada, person)
        await store.change(work.db, user["pk"], "confirmed_at", None, work.now)
    assert (await party.userinfo(tokens["access_token"])).status_code == 401


async def test_who_may_ask_about_people(town: Town, ada: Person) -> None:
    _, browser = await signed_in(town)
    party = await make_party(town, ada)
    tokens = await party.tokens(browser)
    key, url = tokens["access_token"], "/application/o/userinfo/"

    assert (await town.http.post(url, data={"access_token": key})).status_code == 200
    both = await town.http.post(url, data={"access_token": key}, headers={"Authorization": f"Bearer {key}"})
    assert both.status_code == 400
    assert (await town.http.get(url, params={"access_token": key})).status_code == 400
    nothing = await town.http.get(url)
    assert (nothing.status_code, nothing.headers["www-authenticate"]) == (401, 'Bearer realm="Kith"')
    wrong = await party.userinfo(f"{key}x")
    assert wrong.status_code == 401
    assert 'error="invalid_token"' in wrong.headers["www-authenticate"]
    plain = await party.tokens(browser, scope="email")
    refused = await party.userinfo(plain["access_token"])
    assert refused.status_code == 403
    assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]


# Keys


async def test_every_kind_of_key_signs_as_it_should(town: Town, ada: Person) -> None:
    _, browser = await signed_in(town)
    for alg, expected, kind in (
        ("rsa", "RS256", "RS256"),
        ("ecdsa", "ES256", "ES256"),
        ("ed25519", "EdDSA", "EdDSA"),
        ("ed448", "EdDSA", "EdDSA"),
    ):
        body = {"common_name": new_name("key"), "validity_days": 30, "alg": alg}
        made = await ada.call("POST", f"{API}/crypto/certificatekeypairs/generate/", json=body)
        assert made.status_code == 201, made.text
        party = await make_party(town, ada, signing_key=made.json()["pk"], jwt_alg=kind)
        token = (await party.tokens(browser))["id_token"]
        assert jwt.get_unverified_header(token)["alg"] == expected
        assert (await party.read(token))["aud"] == party.id
        [key] = (await town.http.get(f"/application/o/{party.slug}/jwks/")).json()["keys"]
        assert {"x5c", "x5t", "x5t#S256", "kid", "use"} <= set(key)
        assert "d" not in key
        described = (await town.http.get(f"/application/o/{party.slug}/.well-known/openid-configuration")).json()
        assert described["id_token_signing_alg_values_supported"] == list(dict.fromkeys((expected, "RS256")))
    for own in ("RS256", "ES256", "EdDSA"):
        party = await make_party(town, ada, jwt_alg=own)
        token = (await party.tokens(browser))["id_token"]
        assert jwt.get_unverified_header(token)["alg"] == own
        assert (await party.read(token))["aud"] == party.id

    party = await make_party(town, ada, jwt_alg="HS256")
    token = (await party.tokens(browser))["id_token"]
    options: Any = {"algorithms": ["HS256"], "audience": party.id}
    assert jwt.decode(token, party.secret, **options)["iss"] == party.issuer
    assert (await town.http.get(f"/application/o/{party.slug}/jwks/")).json() == {"keys": []}


async def test_keys_are_known_before_they_sign_and_after(new_town: TownBuilder) -> None:
    town = await new_town(start=False)
    await town.kith("migrate")
    async with town.house() as house:

        async def later(days: timedelta) -> set[str]:
            work = house.works.open()
            work.now += days
            try:
                await rotate(work, Rotate())
                await work.commit()
            finally:
                await work.rollback()
            return await known(days)

        async def known(days: timedelta) -> set[str]:
            work = house.works.open()
            work.now += days
            found = {key["kid"] for key in (await public_keys(work, None))["keys"]}
            await work.rollback()
            return found

        start = timedelta()
        [first] = await later(start)
        assert await later(start + SIGNS - KNOWN_BEFORE - timedelta(hours=1)) == {first}
        both = await later(start + SIGNS - KNOWN_BEFORE)
        assert len(both) == 2
        assert await later(start + SIGNS - timedelta(hours=1)) == both
        assert await later(start + SIGNS + timedelta(days=1)) == both
        [second] = await later(start + SIGNS + KNOWN_AFTER)
        assert {second} == both - {first}


def _b64(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


async def test_no_hint_is_believed_that_we_did_not_sign(town: Town, ada: Person) -> None:
    _, browser = await signed_in(town)
    party = await make_party(town, ada, post_logout_redirect_uris="https://rp.example/bye")
    other = await make_party(town, ada, post_logout_redirect_uris="https://rp.example/bye")
    good = (await party.tokens(browser))["id_token"]
    head, body, signature = good.split(".")
    header, claims = jwt.get_unverified_header(good), jwt.decode(good, options={"verify_signature": False})
    [published] = [
        one for one in (await town.http.get("/application/o/jwks/")).json()["keys"] if one["kid"] == header["kid"]
    ]
    public = jwt.PyJWK(published).key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    mine = jwt.utils.base64url_encode

    def by_hmac(key: bytes, **more: Any) -> str:
        signed = f"{_b64({'alg': 'HS256', 'typ': 'JWT'} | more)}.{body}"
        return f"{signed}.{mine(hmac.new(key, signed.encode(), hashlib.sha256).digest()).decode()}"

    forger, curve = (
        rsa.generate_private_key(public_exponent=65537, key_size=2048),
        ec.generate_private_key(ec.SECP256R1()),
    )
    own = jwt.algorithms.RSAAlgorithm.to_jwk(forger.public_key(), as_dict=True)
    forged = {
        "none": f"{_b64({'alg': 'none'})}.{body}.",
        "None with signature": f"{_b64({'alg': 'None', 'kid': header['kid']})}.{body}.{signature}",
        "the public key as a secret": by_hmac(public, kid=header["kid"]),
        "the public key as a secret, no kid": by_hmac(public),
        "the client's secret": by_hmac(party.secret.encode(), kid=header["kid"]),
        "another key under our name": jwt.encode(claims, forger, algorithm="RS256", headers={"kid": header["kid"]}),
        "an embedded key": jwt.encode(claims, forger, algorithm="RS256", headers={"jwk": own}),
        "a key to fetch": jwt.encode(
            claims,
            forger,
            algorithm="RS256",
            headers={"jku": f"{town.base_url}/x", "x5u": f"{town.base_url}/x", "kid": "x"},
        ),
        "another curve": jwt.encode(claims, curve, algorithm="ES256", headers={"kid": header["kid"]}),
        "a path as kid": jwt.encode(claims, forger, algorithm="RS256", headers={"kid": "../../dev/null"}),
        "sql as kid": jwt.encode(claims, forger, algorithm="RS256", headers={"kid": "' OR 1=1 --"}),
        "changed claims": f"{head}.{_b64(claims | {'sub': 'x'})}.{signature}",
        "cut short": f"{head}.{body}.{signature[:-8]}",
        "five parts": f"{good}.x.y",
        "not a token": "x",
    }
    leaving = {"post_logout_redirect_uri": "https://rp.example/bye"}
    for name, token in forged.items():
        answer = await Browser(town).http.get(
            f"/application/o/{party.slug}/end-session/", params=leaving | {"id_token_hint": token}
        )
        assert answer.status_code == 400, name
    foreign = await Browser(town).http.get(
        f"/application/o/{other.slug}/end-session/", params=leaving | {"id_token_hint": good}
    )
    assert foreign.status_code == 400
    answer = await Browser(town).http.get(
        f"/application/o/{party.slug}/end-session/", params=leaving | {"id_token_hint": good}
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "https://rp.example/bye")


# What can be found out


async def test_everything_that_is_told_of_an_application_is_there(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    places = {
        "/.well-known/openid-configuration": f"{town.base_url}/",
        f"/application/o/{party.slug}/.well-known/openid-configuration": party.issuer,
        f"/.well-known/oauth-authorization-server/application/o/{party.slug}/": party.issuer,
        f"/.well-known/openid-configuration/application/o/{party.slug}": party.issuer,
    }
    for place, issuer in places.items():
        answer = await town.http.get(place, headers={"Origin": "https://any.example"})
        assert answer.status_code == 200, place
        assert answer.headers.get_list("access-control-allow-origin") == ["*"]
        told = answer.json()
        assert told["issuer"] == issuer
        assert told["code_challenge_methods_supported"] == ["S256"]
        assert told["authorization_response_iss_parameter_supported"] is True
        for name in [name for name in told if name.endswith(("_endpoint", "_uri"))]:
            path = told[name].removeprefix(town.base_url)
            found = await town.http.get(path)
            assert found.status_code != 404, name
    assert (await town.http.get("/application/o/nothing/.well-known/openid-configuration")).status_code == 404
    assert (await town.http.get("/application/o/nothing/jwks/")).status_code == 404

    social = (await town.http.get("/.well-known/oauth-authorization-server")).json()
    assert social["issuer"] == f"{town.base_url}/"
    assert social["app_registration_endpoint"] == f"{town.base_url}/api/v1/apps"
    assert social["token_endpoint"] == f"{town.base_url}/oauth/token"
    assert {"read", "write", "follow", "push", "profile", "read:bookmarks", "admin:write:reports"} <= set(
        social["scopes_supported"]
    )
    assert set(social) >= {
        "service_documentation",
        "userinfo_endpoint",
        "revocation_endpoint",
        "response_modes_supported",
        "response_types_supported",
        "grant_types_supported",
        "token_endpoint_auth_methods_supported",
    }


async def test_an_issuer_may_be_the_whole_server(town: Town, ada: Person) -> None:
    _, browser = await signed_in(town)
    party = await make_party(town, ada, issuer_mode="global")
    token = (await party.tokens(browser))["id_token"]
    claims = jwt.decode(token, options={"verify_signature": False})
    told = (await town.http.get(f"/application/o/{party.slug}/.well-known/openid-configuration")).json()
    assert claims["iss"] == told["issuer"] == f"{town.base_url}/"


async def test_webfinger_names_the_issuer_of_members(town: Town) -> None:
    person = await town.sign_up()
    host, relation = town.base_url.removeprefix("http://"), "http://openid.net/specs/connect/1.0/issuer"

    async def ask(**query: Any) -> httpx.Response:
        return await town.http.get("/.well-known/webfinger", params=query)

    answer = await ask(resource=f"acct:{person.username}@{host}", rel=relation)
    assert answer.headers["content-type"].startswith("application/jrd+json")
    assert answer.headers.get_list("access-control-allow-origin") == ["*"]
    told = answer.json()
    assert told["subject"] == f"acct:{person.username}@{host}"
    assert told["links"] == [{"rel": relation, "href": f"{town.base_url}/"}]
    assert (await ask(resource=f"acct:{person.username}@{host}", rel="nothing")).json()["links"] == []
    assert (await ask(resource=f"{town.base_url}/@{person.username}")).status_code == 200
    for unknown in (
        f"acct:nobody@{host}",
        f"acct:{person.username}@elsewhere.example",
        person.username,
        "https://x.example/@a",
    ):
        assert (await ask(resource=unknown)).status_code == 404, unknown
    assert (await ask()).status_code == 400
    assert (await ask(resource=["a", "b"])).status_code == 400


async def test_mappings_for_the_usual_scopes_are_there_from_the_start(town: Town, ada: Person) -> None:
    person, browser = await signed_in(town)
    shipped = {one["managed"]: one["pk"] for one in await results(ada, "/propertymappings/all/") if one["managed"]}
    named = [shipped[f"kith.dev/providers/oauth2/scope-{name}"] for name in ("openid", "email", "profile", "groups")]
    party: RelyingParty = await make_party(town, ada, property_mappings=named)
    claims = await party.read((await party.tokens(browser, scope="openid email profile groups"))["id_token"])
    assert claims["email"] == f"{person.username}@example.org"
    assert (claims["email_verified"], claims["preferred_username"], claims["groups"]) == (True, person.username, [])
    assert abs(claims["iat"] - time.time()) < 600
    assert {"kith.dev/providers/saml/email", "kith.dev/sources/ldap/mail"} <= set(shipped)
