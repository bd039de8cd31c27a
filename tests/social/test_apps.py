"""Apps introduce themselves, get tokens, and give them back: by hand, and with a library that people use."""

from __future__ import annotations

import asyncio
import base64
import uuid
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from mastodon import Mastodon, MastodonIllegalArgumentError

from tests.conftest import TownBuilder
from tests.social.tokens import App, consent, new_app
from tests.town import Town

OOB = "urn:ietf:wg:oauth:2.0:oob"
APPLICATION = {"id", "name", "website", "scopes", "redirect_uri", "redirect_uris", "vapid_key"}
SECRETS = {"client_id", "client_secret", "client_secret_expires_at"}
VERIFY = "/api/v1/apps/verify_credentials"


async def test_an_app_is_registered_in_any_encoding_and_told_its_secret_once(town: Town) -> None:
    uris = ["https://app.example/cb", "com.app.example:/back", OOB]
    plain = {"client_name": "Kite", "scopes": "read write:media push", "website": "https://app.example"}
    answers = [
        await town.http.post("/api/v1/apps", json=plain | {"redirect_uris": uris}),
        await town.http.post("/api/v1/apps", data=plain | {"redirect_uris": "\n".join(uris)}),
        await town.http.post("/api/v1/apps", data=plain | {"redirect_uris[]": uris}),
        await town.http.post(
            "/api/v1/apps",
            files={name: (None, value) for name, value in (plain | {"redirect_uris": " ".join(uris)}).items()},
        ),
    ]

    seen: set[str] = set()
    for answer in answers:
        assert answer.status_code == 200, answer.text
        app = answer.json()
        assert set(app) == APPLICATION | SECRETS
        assert (app["name"], app["website"], app["client_secret_expires_at"]) == ("Kite", "https://app.example", 0)
        assert (app["redirect_uris"], app["redirect_uri"]) == (uris, "\n".join(uris))
        assert app["scopes"] == ["read", "write:media", "push"]
        assert len(app["client_id"]) == len(app["client_secret"]) == 43
        assert app["id"].isdigit()
        seen |= {app["id"], app["client_id"], app["client_secret"]}
        point = base64.urlsafe_b64decode(app["vapid_key"] + "=")
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
    assert len(seen) == 12
    assert len({answer.json()["vapid_key"] for answer in answers}) == 1

    least = await town.http.post("/api/v1/apps", json={"client_name": "x", "redirect_uris": OOB, "website": None})
    assert (least.json()["scopes"], least.json()["website"]) == (["read"], None)


URI = "Redirect URI must be an absolute URI."


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"client_name": ""}, "Application name can't be blank"),
        ({"client_name": "\u200b \u2060\ufeff"}, "Application name can't be blank"),
        *(
            ({"client_name": f"a{hiding}b"}, "Application name is invalid")
            for hiding in "\u202e\u202a\u2066\u2069\x1b\x9b\n"
        ),
        ({"client_name": "x" * 61}, "Application name is too long (maximum is 60 characters)"),
        ({"redirect_uris": ""}, "Redirect URI can't be blank"),
        ({"redirect_uris": "app.example/cb"}, URI),
        ({"redirect_uris": "https://"}, URI),
        ({"redirect_uris": f"{OOB} nothing"}, URI),
        ({"redirect_uris": "https://app.example/#x"}, "Redirect URI cannot contain a fragment."),
        ({"redirect_uris": "javascript:alert(1)"}, "Redirect URI is forbidden by the server."),
        ({"redirect_uris": "DATA:text/html,x"}, "Redirect URI is forbidden by the server."),
        ({"redirect_uris": "https://app.example:x/"}, "Redirect URI must be a valid URI."),
        ({"redirect_uris": "https://bank.example@app.example/"}, "Redirect URI must be a valid URI."),
        ({"redirect_uris": "https://a:b@app.example/"}, "Redirect URI must be a valid URI."),
        (
            {"redirect_uris": "https://app.example/" + "x" * 2000},
            "Redirect URI is too long (maximum is 2000 characters)",
        ),
        ({"scopes": "read write:everything"}, "Scopes doesn't match configured on the server."),
        ({"scopes": "api"}, "Scopes doesn't match configured on the server."),
        ({"website": "not a page"}, "Website is not a valid URL"),
        (
            {"client_name": " ", "scopes": "x"},
            "Application name can't be blank, Scopes doesn't match configured on the server.",
        ),
    ],
)
async def test_what_is_wrong_with_an_app_is_said_in_known_words(town: Town, sent: dict[str, str], words: str) -> None:
    answer = await town.http.post("/api/v1/apps", json={"client_name": "x", "redirect_uris": OOB} | sent)

    assert answer.status_code == 422
    assert answer.json() == {"error": f"Validation failed: {words}"}


async def test_only_so_many_apps_come_from_one_address(new_town: TownBuilder) -> None:
    town = await new_town(rate_limits="on")
    body = {"client_name": "x", "redirect_uris": OOB}

    answers = [await town.http.post("/api/v1/apps", json=body) for _ in range(12)]

    allowed = [answer for answer in answers if answer.status_code == 200]
    assert 5 <= len(allowed) <= 10  # a window may end in between
    assert allowed[0].headers["x-ratelimit-limit"] == "5"
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.json() == {"error": "Too many requests"}
    assert refused.headers["x-ratelimit-remaining"] == "0"


async def test_an_app_learns_what_the_server_knows_of_it(town: Town) -> None:
    app = await new_app(town, "read push")
    ada = await town.sign_up()

    for key in (await app.token("read"), await app.token_of(ada, "push")):
        answer = await town.http.get(
            VERIFY, headers={"Authorization": f"Bearer {key}", "Origin": "https://web.example"}
        )
        assert answer.status_code == 200
        assert set(answer.json()) == APPLICATION
        assert (answer.json()["name"], answer.json()["scopes"]) == (app.name, ["read", "push"])
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["cache-control"] == "private, no-store"

    personal = (await town.kith("tokens", "create", ada.username, "--scopes", "read crypto admin:read")).strip()
    answer = await town.http.get(VERIFY, headers={"Authorization": f"Bearer {personal}"})
    assert answer.json()["scopes"] == ["admin:read", "crypto", "read"]


async def test_scopes_of_personal_tokens_are_known_ones(town: Town) -> None:
    ada = await town.sign_up()

    good = "read write follow push crypto admin:read profile api openid email"
    assert (await town.kith("tokens", "create", ada.username, "--scopes", good)).startswith("kith_")
    said = await town.kith("tokens", "create", ada.username, "--scopes", "read wirte:statuses", expect=1)

    assert '"wirte:statuses" is not a scope. Did you mean write:statuses' in said
    refused = await ada.call("POST", "/api/v2/core/tokens/", json={"identifier": uuid.uuid4().hex, "scopes": "raed"})
    assert refused.status_code == 400
    assert refused.json()["scopes"][0].startswith('"raed" is not a scope. Did you mean read')


async def test_a_token_has_four_fields_and_errors_have_two(town: Town) -> None:
    app = await new_app(town, "read write")
    keys = {"client_id": app.client_id, "client_secret": app.secret}

    async def ask(expected: int, **sent: str) -> Any:
        answer = await town.http.post("/oauth/token", data=sent, headers={"Origin": "https://web.example"})
        assert answer.status_code == expected, answer.text
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["access-control-allow-origin"] == "*"
        return answer.json()

    token = await ask(200, grant_type="client_credentials", scope="read", **keys)
    assert set(token) == {"access_token", "token_type", "scope", "created_at"}
    assert (token["token_type"], token["scope"], len(token["access_token"])) == ("Bearer", "read", 43)
    assert isinstance(token["created_at"], int)

    refusals = {
        "invalid_client": await ask(401, grant_type="client_credentials", client_id=app.client_id, client_secret="x"),
        "invalid_grant": await ask(400, grant_type="authorization_code", code="x", redirect_uri=OOB, **keys),
        "invalid_scope": await ask(400, grant_type="client_credentials", scope="follow", **keys),
        "unsupported_grant_type": await ask(400, grant_type="telepathy", **keys),
        "invalid_request": await ask(400, **keys),
    }
    for name, body in refusals.items():
        assert set(body) == {"error", "error_description"}
        assert body["error"] == name
    assert refusals["invalid_request"]["error_description"] == "Missing required parameter: grant_type."
    assert refusals["invalid_client"]["error_description"].startswith(
        "Client authentication failed due to unknown client"
    )

    by_header = await town.http.post(
        "/oauth/token", json={"grant_type": "client_credentials"}, auth=(app.client_id, app.secret)
    )
    assert by_header.json()["scope"] == "read"


async def test_a_token_is_given_back_by_the_app_that_has_it_alone(town: Town) -> None:
    app, other = await new_app(town, "read"), await new_app(town, "read")
    key = await app.token("read")

    async def revoke(by: App, secret: str, token: str) -> httpx.Response:
        return await town.http.post(
            "/oauth/revoke", data={"client_id": by.client_id, "client_secret": secret, "token": token}
        )

    async def verify() -> httpx.Response:
        return await town.http.get(VERIFY, headers={"Authorization": f"Bearer {key}"})

    for refused in (await revoke(other, other.secret, key), await revoke(app, "wrong", key)):
        assert refused.status_code == 403
        assert refused.json() == {
            "error": "unauthorized_client",
            "error_description": "You are not authorized to revoke this token",
        }
    assert (await verify()).status_code == 200

    for token in (key, key, "never heard of it"):
        answer = await revoke(app, app.secret, token)
        assert (answer.status_code, answer.json()) == (200, {})
    gone = await verify()
    assert (gone.status_code, gone.json()) == (401, {"error": "The access token was revoked"})


async def test_userinfo_names_the_person_as_the_fediverse_does(town: Town) -> None:
    app = await new_app(town, "read profile")
    ada = await town.sign_up()
    key = await app.token_of(ada, "profile")

    headers = {"Authorization": f"Bearer {key}"}
    answers = [
        await town.http.get("/oauth/userinfo", headers=headers),
        await town.http.post("/oauth/userinfo", headers=headers),
    ]

    for answer in answers:
        told = answer.json()
        picture = told.pop("picture")
        assert told == {
            "iss": f"{town.base_url}/",
            "sub": f"{town.base_url}/users/{ada.username}",
            "name": ada.username,
            "preferred_username": ada.username,
            "profile": f"{town.base_url}/@{ada.username}",
        }
        assert (await town.http.get(picture)).content.startswith(b"\x89PNG")
    narrow = await app.token_of(ada, "read")
    refused = await town.http.get("/oauth/userinfo", headers={"Authorization": f"Bearer {narrow}"})
    assert (refused.status_code, refused.json()) == (403, {"error": "This action is outside the authorized scopes"})


@pytest.mark.filterwarnings("ignore:Mastodon version is detected:UserWarning")
async def test_a_library_that_people_use_gets_along(town: Town) -> None:
    ada = await town.sign_up()
    scopes = ["read", "write", "follow", "push"]

    def begin() -> Mastodon:
        client_id, secret = Mastodon.create_app("Kite", scopes=scopes, api_base_url=town.base_url)
        return Mastodon(client_id, secret, api_base_url=town.base_url, version_check_mode="none")

    def by_password(api: Mastodon) -> None:
        with pytest.raises(MastodonIllegalArgumentError):
            api.log_in(ada.username, "wrong", scopes=scopes, allow_http=True)
        api.log_in(f"{ada.username}@example.org", ada.password, scopes=scopes, allow_http=True)

    async def by_code(api: Mastodon) -> None:
        url = await asyncio.to_thread(api.auth_request_url, scopes=scopes, allow_http=True)
        code = await consent(town, ada, url)
        await asyncio.to_thread(api.log_in, code=code, scopes=scopes, allow_http=True)

    def end(api: Mastodon) -> str:
        assert api.app_verify_credentials().name == "Kite"
        key = str(api.access_token)
        api.revoke_access_token(allow_http=True)
        return key

    api = await asyncio.to_thread(begin)
    await asyncio.to_thread(by_password, api)
    first = await asyncio.to_thread(end, api)
    api = await asyncio.to_thread(begin)
    await by_code(api)
    second = await asyncio.to_thread(end, api)

    for key in (first, second):
        answer = await town.http.get(VERIFY, headers={"Authorization": f"Bearer {key}"})
        assert (answer.status_code, answer.json()) == (401, {"error": "The access token was revoked"})


async def test_no_provider_takes_the_name_of_an_app(town: Town) -> None:
    """Whoever could would be asked for the app's codes in its place."""
    app, owner = await new_app(town, "read"), await town.owner()

    answer = await owner.call(
        "POST", "/api/v2/providers/openid/", json={"client_id": app.client_id, "response_types": [1]}
    )

    assert answer.status_code == 400, answer.text
    assert list(answer.json()) == ["client_id"]
