"""Clients that are not who they say, codes that are not theirs, and answers that could be taken for another's."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
import uuid
from collections import Counter
from datetime import timedelta
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from sqlalchemy import bindparam, select, update

from kith.base.db import Instant, command, query
from kith.identity.providers.oauth2.grants.service import hash_key
from kith.identity.providers.oauth2.tables import devices
from tests.identity.oauth_clients import BACK, enter, make_client, told_to
from tests.identity.oauth_clients import signed_in as browser_in
from tests.identity.records import API, make, new_name, owner_of
from tests.identity.relying_party import CALLBACK, RelyingParty, half_hash, make_party, signed_in
from tests.identity.test_authorize import fields_of
from tests.identity.test_oauth_device import answer_page, error, poll, start
from tests.town import Person, Town

JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
HYBRID = ["code", "id_token", "id_token token", "code token", "code id_token", "code id_token token"]


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


# Devices

_hash = bindparam("hash", type_=devices.c.device_hash.type)
_is_it = devices.c.device_hash == _hash
_age = command(update(devices).where(_is_it).values(expires_at=bindparam("at", type_=Instant())))
_rest = command(update(devices).where(_is_it).values(polled_at=bindparam("at", type_=Instant())))
_interval = query(select(devices.c.interval).where(_is_it), int)


async def test_whoever_polls_too_often_waits_longer_every_time(town: Town, ada: Person) -> None:
    party, (_, browser) = await make_party(town, ada), await signed_in(town)
    started = await start(party)
    key = hash_key(started["device_code"])
    answers = [error(await poll(party, started))[1] for _ in range(3)]
    assert answers == ["authorization_pending", "slow_down", "slow_down"]
    async with town.house() as house, house.works.begin() as work:
        assert await work.db.one(_interval, hash=key) == 15
        await work.db.run(_rest, hash=key, at=work.now - timedelta(seconds=16))
    await answer_page(browser, started["user_code"], "allow")
    together = await asyncio.gather(*(poll(party, started) for _ in range(8)))
    assert Counter(one.status_code for one in together) == {200: 1, 400: 7}


async def test_a_device_code_is_its_clients_and_ends(town: Town, ada: Person) -> None:
    party, other = await make_party(town, ada), await make_party(town, ada)
    _, browser = await signed_in(town)
    approved, waiting = await start(party), await start(party)
    await answer_page(browser, approved["user_code"], "allow")
    assert error(await poll(other, approved)) == (400, "invalid_grant")
    assert error(await poll(other, {"device_code": approved["user_code"]})) == (400, "invalid_grant")
    async with town.house() as house, house.works.begin() as work:
        for one in (approved, waiting):
            await work.db.run(_age, hash=hash_key(one["device_code"]), at=work.now - timedelta(seconds=1))
    assert error(await poll(party, approved)) == (400, "expired_token")
    assert error(await poll(party, waiting)) == (400, "expired_token")
    assert (await answer_page(browser, waiting["user_code"], "allow")).status_code == 400


# Answers through the browser


@pytest.mark.parametrize("response_type", HYBRID[1:])
async def test_an_id_token_vouches_for_what_comes_with_it(town: Town, ada: Person, response_type: str) -> None:
    party = await make_party(town, ada, response_types=HYBRID)
    _, browser = await signed_in(town)
    asked = {"response_type": response_type, "scope": "openid"}
    told = told_to(await party.authorize(browser, **asked, nonce="n-0S6"), CALLBACK)
    without = await party.authorize(browser, **asked)

    assert told["iss"] == party.issuer
    if "id_token" in response_type.split():
        claims = await party.read(told["id_token"])
        assert claims["nonce"] == "n-0S6"
        hashes = {"c_hash": told.get("code"), "at_hash": told.get("access_token")}
        for name, value in hashes.items():
            assert claims.get(name) == (half_hash(value) if value else None), name
        assert without.headers["location"].startswith(f"{CALLBACK}#error=invalid_request")
    if "code" in told:
        traded = (await party.trade(told["code"], "")).json()
        later = await party.read(traded["id_token"])
        assert (later["nonce"], later["at_hash"]) == ("n-0S6", half_hash(traded["access_token"]))


@pytest.mark.parametrize("response_type", [*HYBRID[1:], "token"])
async def test_nothing_comes_in_a_fragment_where_the_record_says_code(
    town: Town, ada: Person, response_type: str
) -> None:
    _, browser = await signed_in(town)
    for kind in ("openid", "oauth"):
        party = await make_party(town, ada, kind)
        answer = await party.authorize(browser, response_type=response_type, nonce="n", scope="openid")
        told = told_to(answer, CALLBACK)
        assert told["error"] == "unauthorized_client"
        assert answer.headers["location"].startswith(f"{CALLBACK}#")
        assert not {"code", "access_token", "id_token"} & set(told)


async def test_every_answer_says_whose_it_is(town: Town) -> None:
    client, browser = await make_client(town, require_consent=False), await browser_in(town)
    other = await make_client(town, require_consent=False)
    for one in (client, other):
        issuer = f"{town.base_url}/application/o/{one.slug}/"
        for mode in ("query", "fragment"):
            assert told_to(await enter(browser, one, response_mode=mode))["iss"] == issuer
            assert told_to(await enter(browser, one, response_mode=mode, max_age="x"))["iss"] == issuer
        for more in ({}, {"max_age": "x"}):
            assert fields_of(await enter(browser, one, response_mode="form_post", **more))["iss"] == issuer


async def test_a_form_is_sent_by_a_button_where_nothing_runs(town: Town) -> None:
    client, browser = await make_client(town, require_consent=False), await browser_in(town)
    page = await enter(browser, client, response_mode="form_post")
    form = page.text.partition('<form method="post"')[2].partition("</form>")[0]
    assert f'action="{BACK}"' in form
    assert '<button type="submit">' in form
    assert "<noscript" not in page.text


# Codes that are somebody else's


async def test_a_challenge_cannot_be_left_out_or_shown_instead(town: Town, ada: Person) -> None:
    party, (_, browser) = await make_party(town, ada), await signed_in(town)
    code, verifier = await party.code(browser)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    for wrong in ("", challenge, verifier[:-1], verifier + "x"):
        refused = await party.trade(code, wrong)
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant"), wrong
    assert (await party.trade(code, verifier)).status_code == 200


async def test_a_code_that_two_clients_bring_at_once_serves_its_own(town: Town, ada: Person) -> None:
    party, thief = await make_party(town, ada), await make_party(town, ada)
    _, browser = await signed_in(town)
    code, verifier = await party.code(browser)
    stolen = await asyncio.gather(*(thief.trade(code, verifier) for _ in range(10)))
    assert {one.json()["error"] for one in stolen} == {"invalid_grant"}
    served = await party.trade(code, verifier)
    assert served.status_code == 200
    # A code that comes once more was seen by somebody: whatever came of it ends.
    assert (await thief.trade(code, verifier)).status_code == 400
    assert (await party.userinfo(served.json()["access_token"])).status_code == 401


async def test_a_refresh_token_is_of_no_use_to_another_client(town: Town, ada: Person) -> None:
    party, thief = await make_party(town, ada), await make_party(town, ada)
    _, browser = await signed_in(town)
    tokens = await party.tokens(browser)
    assert (await thief.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await thief.post("revoke", token=tokens["refresh_token"])).json() == {}
    assert (await thief.post("introspect", token=tokens["refresh_token"])).json() == {"active": False}
    later = await party.refresh(tokens["refresh_token"])
    assert later.status_code == 200
    # Nor can it end what the other has, by bringing a token that was used up.
    assert (await thief.refresh(tokens["refresh_token"])).status_code == 400
    assert (await party.refresh(later.json()["refresh_token"])).status_code == 200


# Proofs of who a client is


def public_of(key: Any, kid: str) -> dict[str, Any]:
    kind = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    told: dict[str, Any] = kind.to_jwk(key.public_key(), as_dict=True)
    return told | {"kid": kid}


def claims_of(party: RelyingParty, **change: Any) -> dict[str, Any]:
    now = int(time.time())
    base = {
        "iss": party.id,
        "sub": party.id,
        "aud": f"{party.town.base_url}/application/o/token/",
        "exp": now + 60,
        "iat": now,
        "jti": str(uuid.uuid4()),
    }
    return base | change


async def show(party: RelyingParty, proof: str) -> httpx.Response:
    form = {"grant_type": "client_credentials", "client_assertion_type": JWT_BEARER, "client_assertion": proof}
    return await party.http.post("/application/o/token/", data=form)


def b64(value: object) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def by_hmac(key: bytes, header: dict[str, Any], claims: dict[str, Any]) -> str:
    signed = f"{b64(header)}.{b64(claims)}"
    return f"{signed}.{b64(hmac.new(key, signed.encode(), hashlib.sha256).digest())}"


async def test_no_algorithm_is_taken_for_another(town: Town, ada: Person) -> None:
    mine, theirs = rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1())
    jwks = {
        "keys": [public_of(mine, "one"), public_of(theirs, "two"), {"kty": "oct", "k": b64(b"x" * 32), "kid": "oct"}]
    }
    party, other = await make_party(town, ada, jwks=jwks), await make_party(town, ada, jwks=jwks)
    pem = mine.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    der = mine.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)

    assert (await show(party, jwt.encode(claims_of(party), mine, "RS256", {"kid": "one"}))).status_code == 200
    assert (await show(party, jwt.encode(claims_of(party), theirs, "ES256", {"kid": "two"}))).status_code == 200
    forged = {
        "the public key as a secret": by_hmac(pem, {"alg": "HS256", "kid": "one"}, claims_of(party)),
        "the public key's bytes": by_hmac(der, {"alg": "HS256", "kid": "one"}, claims_of(party)),
        "a secret that is published": by_hmac(b"x" * 32, {"alg": "HS256", "kid": "oct"}, claims_of(party)),
        "the client's secret": by_hmac(party.secret.encode(), {"alg": "HS256"}, claims_of(party)),
        "none": f"{b64({'alg': 'none', 'kid': 'one'})}.{b64(claims_of(party))}.",
        "the other key's name": jwt.encode(claims_of(party), mine, "RS256", {"kid": "two"}),
        "no name and two keys": jwt.encode(claims_of(party), mine, "RS256"),
        "somebody else's": jwt.encode(claims_of(party, iss=other.id), mine, "RS256", {"kid": "one"}),
    }
    for name, proof in forged.items():
        answer = await show(party, proof)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client"), name
    both = await party.post(
        "token",
        grant_type="client_credentials",
        client_assertion_type=JWT_BEARER,
        client_assertion=jwt.encode(claims_of(party), mine, "RS256", {"kid": "one"}),
    )
    assert both.json()["error"] == "invalid_request"


async def test_keys_of_a_client_can_be_changed_while_it_runs(town: Town, ada: Person) -> None:
    old, new = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    party = await make_party(town, ada, jwks={"keys": [public_of(old, "a")]})
    path = f"{API}/providers/openid/{party.provider['pk']}/"

    async def counts() -> list[int]:
        proofs = [jwt.encode(claims_of(party), key, "ES256", {"kid": kid}) for key, kid in ((old, "a"), (new, "b"))]
        return [(await show(party, proof)).status_code for proof in proofs]

    assert await counts() == [200, 401]
    for keys, expected in (([(old, "a"), (new, "b")], [200, 200]), ([(new, "b")], [401, 200])):
        body = {"jwks": {"keys": [public_of(key, kid) for key, kid in keys]}}
        assert (await ada.call("PATCH", path, json=body)).status_code == 200
        assert await counts() == expected


async def test_a_client_is_told_what_is_wrong_with_its_own_proof(town: Town, ada: Person) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    party = await make_party(town, ada, jwks={"keys": [public_of(key, "a")]})
    now, used = int(time.time()), {"jti": "once"}

    async def said(signer: Any = key, **change: Any) -> str:
        answer = await show(party, jwt.encode(claims_of(party, **change), signer, "ES256", {"kid": "a"}))
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
        return str(answer.json()["error_description"])

    assert "10 minutes at most" in await said(exp=now + 3600)
    assert "expired" in await said(exp=now - 120)
    assert "aud" in await said(aud="https://elsewhere.example/")
    assert "not valid yet" in await said(nbf=now + 600)
    assert "jti" in await said(jti="")
    assert (await show(party, jwt.encode(claims_of(party, **used), key, "ES256", {"kid": "a"}))).status_code == 200
    assert "used before" in await said(**used)
    stranger = await said(ec.generate_private_key(ec.SECP256R1()), exp=now + 3600)
    assert stranger.startswith("Client authentication failed")


async def test_a_header_that_nests_without_end_is_no_token(town: Town, ada: Person) -> None:
    """Neither as a proof of the client nor as a hint who is to be signed out."""
    party = await make_party(town, ada, jwks={"keys": []})
    header = base64.urlsafe_b64encode(b'{"alg":' + b"[" * 5000).rstrip(b"=").decode()
    token = f"{header}.{b64({})}.{b64(b'x')}"

    proof = await show(party, token)
    hint = await town.http.get(f"/application/o/{party.slug}/end-session/", params={"id_token_hint": token})

    assert (proof.status_code, proof.json()["error"]) == (401, "invalid_client")
    assert hint.status_code == 400


async def test_a_hint_for_a_client_with_a_shared_secret_is_signed_with_it(town: Town, ada: Person) -> None:
    bye = "https://rp.example/bye"
    party = await make_party(town, ada, jwt_alg="HS256", post_logout_redirect_uris=bye)
    other = await make_party(town, ada)
    _, browser = await signed_in(town)
    good = (await party.tokens(browser))["id_token"]
    claims = jwt.decode(good, options={"verify_signature": False})
    foreign = (await other.tokens(browser))["id_token"]
    keys = (await town.http.get("/application/o/jwks/")).json()["keys"]
    public = [jwt.PyJWK(one).key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo) for one in keys]
    forged = [
        f"{b64({'alg': 'none'})}.{b64(claims)}.",
        foreign,
        by_hmac(b"", {"alg": "HS256"}, claims),
        *(by_hmac(one, {"alg": "HS256"}, claims) for one in public),
    ]
    where = f"/application/o/{party.slug}/end-session/"
    for token in forged:
        sent = {"id_token_hint": token, "post_logout_redirect_uri": bye}
        assert (await town.http.get(where, params=sent)).status_code == 400, token
    sent = {"id_token_hint": good, "post_logout_redirect_uri": bye}
    assert (await town.http.get(where, params=sent)).headers["location"] == bye


# Where answers go


async def test_a_pattern_leads_nowhere_else(town: Town, ada: Person) -> None:
    pattern = r"https://[a-z0-9-]+\.rp\.example/callback"
    name = new_name("rp")
    provider = await make(
        ada,
        "/providers/openid/",
        name=name,
        client_id=name,
        response_types=[1],
        _redirect_uris=pattern,
        redirect_uri_matching="regex",
        require_consent=False,
    )
    application = await make(ada, "/core/applications/", name=name, slug=name, provider=provider["pk"])
    party, (_, browser) = RelyingParty(town, provider, application), await signed_in(town)
    for wrong in (
        "https://a.rp.example/callback/../evil",
        "https://a.rp.example/callback?x=1",
        "https://a.rp.example.evil/callback",
        "https://evil.example/https://a.rp.example/callback",
        "https://evil@a.rp.example/callback",
        "https://a.rpXexample/callback",
        "http://a.rp.example/callback",
        "https://a.rp.example/callback\n",
        "https://A.rp.example/callback",
        "https://a.rp.example/callback#",
        "https://a.rp.example\\@evil.example/callback",
    ):
        assert (await party.authorize(browser, redirect_uri=wrong)).status_code == 400, wrong
    good = "https://eu-1.rp.example/callback"
    code = told_to(await party.authorize(browser, redirect_uri=good, scope="openid"), good)["code"]
    assert (await party.trade(code, "", redirect_uri="https://us.rp.example/callback")).status_code == 400
    assert (await party.trade(code, "", redirect_uri=good)).status_code == 200


@pytest.mark.parametrize(
    ("kind", "field", "patterns", "words"),
    [
        ("openid", "_redirect_uris", [f"https://{n}[.]example/" for n in range(51)], "50 patterns at most"),
        ("openid", "_redirect_uris", [f"https://{n}[^a]{{900}}" for n in range(20)], "RE2"),
        ("openid", "_redirect_uris", [f"https:{n}" + r"\pL\pN" * 11 for n in range(20)], "valid regular expression"),
        ("applicationgateway", "skip_path_regex", [f"^/{n}" for n in range(51)], "50 lines at most"),
        ("applicationgateway", "skip_path_regex", [r"[\pL\pN]{1,900}" * 60], "valid regular expression"),
    ],
)
async def test_to_read_patterns_costs_little(
    town: Town, ada: Person, kind: str, field: str, patterns: list[str], words: str
) -> None:
    """What is wrong is told once, and no more is read after it."""
    given: dict[str, Any] = {field: "\n".join(patterns)}
    if kind == "openid":
        given |= {"redirect_uri_matching": "regex", "client_id": new_name("rp"), "response_types": [1]}
    else:
        given |= {"external_host": f"https://{new_name('app')}.example", "internal_host": "http://127.0.0.1:1"}

    answer = await ada.call("POST", f"{API}/providers/{kind}/", json={"name": new_name("p")} | given)

    assert answer.status_code == 400, answer.text
    assert set(answer.json()) == {field}
    assert len(answer.json()[field]) == 1
    assert words in answer.json()[field][0]
