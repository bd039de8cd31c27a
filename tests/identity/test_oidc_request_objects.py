"""Authorization requests that come in a JWT, or lie at an address that the client registered."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.identity.client_site import ClientSite, client_site
from tests.identity.flow_browser import Browser
from tests.identity.oauth_clients import enter, make_app, told_to
from tests.identity.records import API, owner_of
from tests.identity.relying_party import CALLBACK, RelyingParty, make_party, signed_in
from tests.identity.test_oauth_attacks import claims_of, public_of, show
from tests.identity.test_oidc_registration import registrar_of
from tests.town import Person, Town, build_town
from tests.town.town import Engine

KEY = rsa.generate_private_key(65537, 2048)
OTHER = rsa.generate_private_key(65537, 2048)
JWKS = {"keys": [public_of(KEY, "one")]}


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


def b64(value: object) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unsigned(**claims: Any) -> str:
    return f"{b64({'alg': 'none'})}.{b64(claims)}."


def signed(key: rsa.RSAPrivateKey = KEY, /, **claims: Any) -> str:
    return jwt.encode(claims, key, "RS256", {"kid": "one"})


def told(answer: httpx.Response) -> dict[str, str]:
    assert answer.status_code == 302, answer.text[-500:]
    found = urlsplit(answer.headers["location"])
    assert answer.headers["location"].startswith(CALLBACK), answer.headers["location"]
    return {name: values[0] for name, values in parse_qs(found.query or found.fragment).items()}


async def ask(client: RelyingParty, browser: Browser, **asked: str) -> httpx.Response:
    base = {"client_id": client.id, "response_type": "code", "scope": "openid"} | asked
    return await browser.http.get("/application/o/authorize/", params={k: v for k, v in base.items() if v})


async def test_what_the_object_says_counts(near: Town, ada: Person) -> None:
    party = await make_party(near, ada, jwks=JWKS)
    _, browser = await signed_in(near)
    claims = {
        "iss": party.id,
        "aud": party.issuer,
        "exp": int(time.time()) + 60,
        "client_id": party.id,
        "response_type": "code",
        "redirect_uri": CALLBACK,
        "state": "inside",
        "scope": "openid email",
        "max_age": 3600,
        "claims": {"id_token": {"nickname": None}},
    }
    for made in (signed(**claims), unsigned(**claims)):
        answer = told(await ask(party, browser, request=made, state="outside", redirect_uri="https://evil.example/"))
        assert answer["state"] == "inside"
        tokens = (await party.trade(answer["code"], "", code_verifier="")).json()
        assert tokens["scope"] == "openid email"


async def test_what_is_wrong_with_an_object_is_said(near: Town, ada: Person) -> None:
    party, other = await make_party(near, ada, jwks=JWKS), await make_party(near, ada)
    _, browser = await signed_in(near)
    good = {"iss": party.id, "aud": party.issuer, "state": "s"}
    wrong = {
        "no token": "x",
        "a huge one": f"{'x' * 9000}.y.z",
        "somebody else's key": signed(OTHER, **good),
        "a signature where none belongs": unsigned(**good) + "x",
        "a public key as a secret": jwt.encode(good, "k" * 32, "HS256", {"kid": "one"}),
        "another issuer": signed(**good | {"iss": other.id}),
        "another audience": signed(**good | {"aud": other.issuer + "x"}),
        "expired": signed(**good | {"exp": int(time.time()) - 120}),
        "not yet": signed(**good | {"nbf": int(time.time()) + 120}),
        "an endless moment": signed(**good | {"exp": 10**400}),
        "another client": signed(**good | {"client_id": other.id}),
        "another response type": signed(**good | {"response_type": "id_token"}),
        "a request in a request": signed(**good | {"request_uri": "https://rp.example/r"}),
        "no text": signed(**good | {"state": "a\0b"}),
        "no text in claims": signed(**good | {"claims": {"id_token": {"sub": {"value": "a\0b"}}}}),
        "a wrong value": signed(**good | {"state": True}),
    }
    for name, made in wrong.items():
        answer = await ask(party, browser, request=made, redirect_uri=CALLBACK, state="plain")
        assert (told(answer)["error"], told(answer)["state"]) == ("invalid_request_object", "plain"), name
        assert (await ask(party, browser, request=made)).status_code == 400, name
    repeated = await ask(
        party, browser, request=signed(**good), request_uri="https://rp.example/r", redirect_uri=CALLBACK
    )
    assert told(repeated)["error"] == "invalid_request"
    evil = await ask(party, browser, request=signed(**good | {"redirect_uri": "https://evil.example/"}))
    assert evil.status_code == 400
    assert "Redirect URI Error" in evil.text


async def test_a_client_that_signs_is_believed_signed_requests_only(near: Town, ada: Person) -> None:
    registrar = await registrar_of(near, ada, require_consent=False)
    client = await registrar.client(jwks=JWKS, request_object_signing_alg="RS256")
    browser = Browser(near)
    refused = await ask(client, browser, request=unsigned(state="s"), redirect_uri=CALLBACK, prompt="none")
    taken = await ask(client, browser, request=signed(state="s"), redirect_uri=CALLBACK, prompt="none")
    assert [told(one)["error"] for one in (refused, taken)] == ["invalid_request_object", "login_required"]
    described = (await near.http.get(f"/application/o/{client.slug}/.well-known/openid-configuration")).json()
    assert {"none", "RS256", "ES256"} <= set(described["request_object_signing_alg_values_supported"])
    assert "HS256" not in described["request_object_signing_alg_values_supported"]
    for name in ("request_parameter_supported", "request_uri_parameter_supported", "require_request_uri_registration"):
        assert described[name] is True


async def test_nothing_of_an_object_can_be_changed_on_the_way(near: Town, ada: Person) -> None:
    """Whoever signs in first comes back to the very same request, by a name and not with its parameters."""
    party = await make_party(near, ada, jwks=JWKS)
    person, browser = await near.sign_up(), Browser(near)
    claims = {"redirect_uri": CALLBACK, "state": "inside", "scope": "openid email"}

    asked = await ask(party, browser, request=signed(**claims))
    back = parse_qs(urlsplit(asked.headers["location"]).query)["next"][0]
    assert set(parse_qs(urlsplit(back).query)) == {"client_id", "request_uri"}
    await browser.sign_in(person)

    changed = await browser.http.get(f"{back}&state=changed&scope=openid")

    answer = told(changed)
    assert answer["state"] == "inside"
    assert (await party.trade(answer["code"], "", code_verifier="")).json()["scope"] == "openid email"


async def test_an_object_can_be_handed_in(near: Town, ada: Person) -> None:
    party = await make_party(near, ada, jwks=JWKS)
    _, browser = await signed_in(near)
    claims = {"redirect_uri": CALLBACK, "response_type": "code", "scope": "openid", "state": "inside"}

    pushed = await party.post("par", request=signed(**claims))
    assert pushed.status_code == 201, pushed.text
    named = {"client_id": party.id, "request_uri": pushed.json()["request_uri"]}
    assert told(await browser.http.get("/application/o/authorize/", params=named))["state"] == "inside"
    refused = await party.post("par", request=signed(OTHER, **claims))
    assert refused.json()["error"] == "invalid_request_object"
    posted = await browser.http.post("/application/o/authorize/", data=named | {"request_uri": "", "request": "x"})
    assert posted.status_code == 400


async def test_a_request_lies_where_the_client_registered(near: Town, ada: Person, site: ClientSite) -> None:
    registrar = await registrar_of(near, ada, require_consent=False)
    key_url = site.put("/jwks", JWKS)
    url = site.put("/request", signed(redirect_uri=CALLBACK, state="first"))
    client = await registrar.client(request_uris=[url], jwks_uri=key_url)
    browser = Browser(near)

    async def state(uri: str) -> str:
        return told(await ask(client, browser, request_uri=uri, prompt="none"))["state"]

    digest = b64(hashlib.sha256(site.documents["/request"]).digest())
    assert [await state(f"{url}#{digest}") for _ in range(3)] == ["first"] * 3
    assert site.asked["/request"] == 1
    assert site.asked["/jwks"] == 1
    site.put("/request", signed(redirect_uri=CALLBACK, state="second"))
    assert await state(f"{url}#{digest}") == "first"
    assert [await state(f"{url}#other"), await state(f"{url}#other"), await state(url)] == ["second"] * 3
    assert site.asked["/request"] == 4

    elsewhere = site.put("/elsewhere", unsigned(redirect_uri=CALLBACK))
    for uri in (elsewhere, f"{url}/", f"{url}?x", url.upper(), "http://127.0.0.1:1/", "file:///etc/passwd"):
        answer = told(await ask(client, browser, request_uri=uri, redirect_uri=CALLBACK, prompt="none"))
        assert answer["error"] == "invalid_request_uri", uri
        assert (await ask(client, browser, request_uri=uri)).status_code == 400
    assert site.asked["/elsewhere"] == 0


async def test_an_administrator_names_the_addresses_of_a_client(near: Town, ada: Person, site: ClientSite) -> None:
    url = site.put("/request", signed(redirect_uri=CALLBACK, state="there"))
    party = await make_party(near, ada, jwks_uri=site.put("/jwks", JWKS), request_uris=f"{url} https://rp.example/r")
    path = f"{API}/providers/openid/{party.provider['pk']}/"

    answer = told(await ask(party, Browser(near), request_uri=url, prompt="none"))
    assert (answer["error"], answer["state"]) == ("login_required", "there")
    proof = jwt.encode(claims_of(party), KEY, "RS256", {"kid": "one"})
    assert (await show(party, proof)).status_code == 200
    assert site.asked["/jwks"] == 1
    for wrong in (
        {"jwks": JWKS},
        {"jwks_uri": "http://rp.example/jwks"},
        {"jwks_uri": "ftp://rp.example/jwks"},
        {"request_uris": "http://rp.example/r"},
        {"request_uris": "app.example:/r"},
    ):
        assert (await ada.call("PATCH", path, json=wrong)).status_code == 400, wrong


@pytest.mark.parametrize("what", ["a redirect", "too much", "not ASCII", "nothing"])
async def test_what_is_no_request_is_refused(near: Town, ada: Person, site: ClientSite, what: str) -> None:
    registrar = await registrar_of(near, ada)
    site.put("/real", unsigned(redirect_uri=CALLBACK))
    documents = {"a redirect": f"{site.url}/real", "too much": unsigned(x="y" * 70_000), "not ASCII": "é.b.c"}
    url = site.put("/request", documents[what]) if what in documents else f"{site.url}/request"
    client = await registrar.client(request_uris=[url])

    answer = told(await ask(client, Browser(near), request_uri=url, redirect_uri=CALLBACK))

    assert answer["error"] == "invalid_request_uri"
    assert site.asked["/real"] == 0


async def test_an_app_of_the_social_half_sends_no_objects(town: Town) -> None:
    app = await make_app(town)
    for name in ("request", "request_uri"):
        answer = told_to(await enter(Browser(town), app, **{name: "https://app.example/r"}))
        assert answer["error"] == f"{name}_not_supported"
