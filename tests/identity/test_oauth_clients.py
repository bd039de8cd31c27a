"""Libraries that others have written complete the flows with a started server, and check what it signs."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

import jwt
import pytest
from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError as ClientError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import OpenIDProviderMetadata
from joserfc import jwt as jose
from joserfc.jwk import KeySet
from oauthlib.oauth2 import BackendApplicationClient, InvalidGrantError, WebApplicationClient
from requests_oauthlib import OAuth2Session

from tests.identity.flow_browser import Browser
from tests.identity.records import owner_of
from tests.identity.relying_party import CALLBACK, RelyingParty, make_party, signed_in
from tests.town import Town

SCOPE = "openid profile email offline_access"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
Method = Literal["client_secret_basic", "client_secret_post", "none"]


async def discovered(town: Town, party: RelyingParty) -> dict[str, Any]:
    """What the application tells about itself, as a library finds it sound. Ours is plain http in tests."""
    told: dict[str, Any] = (await town.http.get(f"/application/o/{party.slug}/.well-known/openid-configuration")).json()
    place = "/.well-known/oauth-authorization-server"
    plain: dict[str, Any] = (await town.http.get(place)).json()
    as_https = {
        name: value.replace("http://", "https://") if isinstance(value, str) else value for name, value in told.items()
    }
    OpenIDProviderMetadata(as_https).validate()
    AuthorizationServerMetadata(
        {
            name: value.replace("http://", "https://") if isinstance(value, str) else value
            for name, value in plain.items()
        }
    ).validate()
    assert told["issuer"] == party.issuer
    return told


async def arrive(browser: Browser, url: str) -> str:
    """Where a browser that is signed in ends up, with the client's answer."""
    answer = await browser.http.get(url)
    assert answer.status_code == 302, (answer.status_code, answer.text[-800:])
    to = str(answer.headers["location"])
    assert to.startswith(CALLBACK), to
    return to


async def checked(town: Town, party: RelyingParty, told: dict[str, Any], token: dict[str, Any], nonce: str) -> None:
    """The ID token, by Authlib's rules and once more by PyJWT: neither is what signs it."""
    published = (await town.http.get(told["jwks_uri"])).json()
    keys = KeySet.import_key_set(published)
    read = jose.decode(token["id_token"], keys, algorithms=told["id_token_signing_alg_values_supported"])
    options = {"iss": {"value": party.issuer}, "aud": {"value": party.id}}
    claims = CodeIDToken(
        read.claims,
        read.header,
        options,
        {"nonce": nonce, "client_id": party.id, "access_token": token["access_token"]},
    )
    claims.validate()
    header = jwt.get_unverified_header(token["id_token"])
    [key] = [one for one in published["keys"] if one["kid"] == header["kid"]]
    second = jwt.decode(
        token["id_token"],
        jwt.PyJWK(key),
        algorithms=[header["alg"]],
        audience=party.id,
        issuer=party.issuer,
        options={"require": ["exp", "iat", "sub", "auth_time", "sid"]},
    )
    assert second == dict(claims)
    right: dict[str, Any] = {"audience": party.id, "issuer": party.issuer}
    for wrong in ({"audience": "somebody else"}, {"issuer": "https://evil.example/"}):
        with pytest.raises(jwt.InvalidTokenError):
            jwt.decode(
                token["id_token"],
                jwt.PyJWK(key),
                algorithms=[header["alg"]],
                **right | wrong,
            )


@pytest.mark.parametrize(
    ("method", "alg"),
    [("client_secret_basic", "RS256"), ("client_secret_post", "ES256"), ("none", "RS256")],
)
async def test_authlib_enters_with_a_code_stays_and_leaves(town: Town, method: Method, alg: str) -> None:
    kind = {"client_type": "public"} if method == "none" else {}
    party = await make_party(town, await owner_of(town), jwt_alg=alg, **kind)
    person, browser = await signed_in(town)
    told = await discovered(town, party)
    secret = None if method == "none" else party.secret
    async with AsyncOAuth2Client(
        party.id,
        secret,
        scope=SCOPE,
        redirect_uri=CALLBACK,
        code_challenge_method="S256",
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
    ) as client:
        verifier, nonce = generate_token(48), generate_token()
        url, state = client.create_authorization_url(
            told["authorization_endpoint"], code_verifier=verifier, nonce=nonce
        )
        back = await arrive(browser, url)
        assert dict(parse_qsl(urlsplit(back).query))["iss"] == told["issuer"]
        token = await client.fetch_token(
            told["token_endpoint"], authorization_response=back, state=state, code_verifier=verifier
        )
        await checked(town, party, told, token, nonce)
        assert (await client.get(told["userinfo_endpoint"])).json()["preferred_username"] == person.username

        first = token["refresh_token"]
        renewed = await client.refresh_token(told["token_endpoint"], refresh_token=first)
        assert renewed["refresh_token"] != first
        assert (await client.get(told["userinfo_endpoint"])).status_code == 200
        asked = await client.introspect_token(told["introspection_endpoint"], token=renewed["access_token"])
        if method != "none":
            assert (asked.json()["active"], asked.json()["client_id"]) == (True, party.id)
        left = await client.revoke_token(told["revocation_endpoint"], token=renewed["refresh_token"])
        assert left.status_code == 200
        with pytest.raises(ClientError, match="invalid_grant"):
            await client.refresh_token(told["token_endpoint"], refresh_token=renewed["refresh_token"])
        assert (await client.get(told["userinfo_endpoint"])).status_code == 401


async def test_authlib_speaks_for_itself_and_for_a_device(town: Town) -> None:
    party = await make_party(town, await owner_of(town))
    person, browser = await signed_in(town)
    told = await discovered(town, party)
    async with AsyncOAuth2Client(party.id, party.secret, scope="email") as client:
        alone = await client.fetch_token(told["token_endpoint"], grant_type="client_credentials")
        assert alone["token_type"] == "Bearer"
        assert "refresh_token" not in alone
        assert "id_token" not in alone

    async with AsyncOAuth2Client(party.id, party.secret) as device:
        started = (
            await town.http.post(
                told["device_authorization_endpoint"],
                data={"client_id": party.id, "scope": SCOPE},
                auth=(party.id, party.secret),
            )
        ).json()
        shown = await browser.http.get(started["verification_uri_complete"])
        found = re.search(r'name="csrf" value="([^"]+)"', shown.text)
        assert found is not None
        form = {"csrf": found[1], "code": started["user_code"], "answer": "allow"}
        assert (await browser.http.post("/device", data=form)).status_code == 200
        token = await device.fetch_token(told["token_endpoint"], grant_type=DEVICE, device_code=started["device_code"])
        assert (await device.get(told["userinfo_endpoint"])).json()["preferred_username"] == person.username
        published = (await town.http.get(told["jwks_uri"])).json()
        read = jose.decode(token["id_token"], KeySet.import_key_set(published), algorithms=["RS256"])
        assert read.claims["aud"] == party.id


async def test_requests_oauthlib_does_the_same(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    party = await make_party(town, await owner_of(town))
    person, browser = await signed_in(town)
    told = await discovered(town, party)
    client = OAuth2Session(
        client=WebApplicationClient(party.id), redirect_uri=CALLBACK, scope=SCOPE.split(), pkce="S256"
    )
    url, _state = client.authorization_url(told["authorization_endpoint"], nonce="n-1")
    back = (await arrive(browser, url)).replace("http://", "https://")

    def trade() -> dict[str, Any]:
        got: dict[str, Any] = client.fetch_token(
            told["token_endpoint"], authorization_response=back, client_secret=party.secret
        )
        return got

    def renew() -> dict[str, Any]:
        got: dict[str, Any] = client.refresh_token(told["token_endpoint"], auth=(party.id, party.secret))
        return got

    def again(old: str) -> None:
        client.refresh_token(told["token_endpoint"], refresh_token=old, auth=(party.id, party.secret))

    token = dict(await asyncio.to_thread(trade))
    await checked(town, party, told, token, "n-1")
    renewed = dict(await asyncio.to_thread(renew))
    assert renewed["refresh_token"] != token["refresh_token"]
    info = await asyncio.to_thread(client.get, told["userinfo_endpoint"])
    assert info.json()["preferred_username"] == person.username
    with pytest.raises(InvalidGrantError):
        await asyncio.to_thread(again, token["refresh_token"])
    assert (await asyncio.to_thread(client.get, told["userinfo_endpoint"])).status_code == 401

    alone = OAuth2Session(client=BackendApplicationClient(party.id, scope=["email"]))
    got = await asyncio.to_thread(alone.fetch_token, told["token_endpoint"], auth=(party.id, party.secret))
    assert got["scope"] == ["email"]
