"""What discovery says is true: claims by name, languages, pictures, previews; and what people and policies may stop."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
import pytest

from tests.identity.flow_browser import SIGN_IN, Browser
from tests.identity.oauth_clients import (
    BACK,
    CONSENT,
    enter,
    make_app,
    make_client,
    path_of,
    query_of,
    told_to,
)
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.identity.relying_party import make_party, signed_in
from tests.identity.test_authorize import answer_page, fields_of, found, spend
from tests.social.samples import image_file
from tests.town import Person, Town

OOB = "urn:ietf:wg:oauth:2.0:oob"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


def asks(**places: dict[str, Any]) -> dict[str, Any]:
    return {"claims": json.dumps(places)}


async def described(town: Town, slug: str) -> dict[str, Any]:
    answer = await town.http.get(f"/application/o/{slug}/.well-known/openid-configuration")
    told: dict[str, Any] = answer.json()
    return told


# Codes


async def test_a_code_lives_as_long_as_its_record_says(town: Town) -> None:
    for given, seconds in ((None, 60), ("seconds=20", 20), ("minutes=5", 300)):
        more: dict[str, Any] = {} if given is None else {"access_code_validity": given}
        client = await make_client(town, require_consent=False, **more)
        _, browser = await signed_in(town)
        code, grant = await found(town, told_to(await enter(browser, client))["code"])
        assert code.expires_at - grant.created_at == timedelta(seconds=seconds)
    for uri in (BACK, OOB):
        app, (_, browser) = await make_app(town, uris=(uri,)), await signed_in(town)
        answer = await answer_page(browser, await enter(browser, app, redirect_uri=uri))
        code, grant = await found(town, query_of(answer.headers["location"])["code"])
        assert code.expires_at - grant.created_at == timedelta(minutes=10)


async def test_policies_are_asked_about_a_client_that_speaks_for_itself(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    form: dict[str, Any] = {"grant_type": "client_credentials"}
    assert (await party.post("token", **form)).status_code == 200
    words = 'ak_message("Not by night.")\nreturn request.context["oauth_grant_type"] != "client_credentials"'
    policy = await make(ada, "/policies/expression/", name=new_name("night"), expression=words)
    await make(ada, "/policies/bindings/", policy=policy["pk"], target=party.application["pk"], order=0)

    refused = await party.post("token", **form)

    assert (refused.status_code, refused.json()["error"]) == (403, "access_denied")
    assert refused.json()["error_description"] == "Not by night."
    _, browser = await signed_in(town)
    assert "access_token" in await party.tokens(browser)


async def test_an_app_is_told_which_grants_there_are(town: Town) -> None:
    app = await make_app(town)
    form = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": app.client_id}
    answer = await town.http.post("/oauth/token", data=form | {"client_secret": app.secret})
    assert (answer.status_code, answer.json()["error"]) == (400, "unsupported_grant_type")


async def test_a_plain_client_for_codes_has_no_devices(town: Town, ada: Person) -> None:
    plain, openid = await make_party(town, ada, "oauth"), await make_party(town, ada)
    refused = await plain.post("device", scope="openid")
    assert (refused.status_code, refused.json()["error"]) == (400, "unauthorized_client")
    told = await described(town, plain.slug)
    assert "device_authorization_endpoint" not in told
    assert DEVICE not in told["grant_types_supported"]
    told = await described(town, openid.slug)
    assert told["device_authorization_endpoint"].endswith("/device/")
    assert DEVICE in told["grant_types_supported"]


# Leaving on the way


def error_in(answer: httpx.Response, mode: str) -> dict[str, str]:
    if mode == "form_post":
        return fields_of(answer)
    parts = urlsplit(answer.headers["location"])
    return {name: values[0] for name, values in parse_qs(parts.fragment if mode == "fragment" else parts.query).items()}


@pytest.mark.parametrize("mode", ["query", "fragment", "form_post"])
async def test_whoever_cancels_is_told_to_the_client(town: Town, mode: str) -> None:
    client, (_, browser) = await make_client(town), await signed_in(town)
    flow = path_of(await enter(browser, client, response_mode=mode))
    page = await browser.http.get(flow)
    [cancel] = re.findall(r'href="(/flows/-/cancel/[^"]*)"[^>]*>Deny<', page.text)
    to = await browser.http.get(cancel.replace("&amp;", "&"))
    answer = await browser.http.get(to.headers["location"])
    again = await browser.http.get(to.headers["location"])

    told = error_in(answer, mode)
    assert (told["error"], told["state"]) == ("access_denied", "s t&ate")
    assert told["iss"].endswith(f"/application/o/{client.slug}/")
    assert again.status_code == 400


async def test_whoever_does_not_sign_in_after_all_is_told_to_the_client(town: Town) -> None:
    for client in (await make_client(town), await make_app(town)):
        browser = Browser(town)
        sent = path_of(await enter(browser, client, state="s" * 1600))
        page = await browser.http.get(sent)
        [cancel] = re.findall(r'href="(/flows/-/cancel/[^"]*)"[^>]*>Cancel<', page.text)
        to = await browser.http.get(cancel.replace("&amp;", "&"))
        told = told_to(await browser.http.get(to.headers["location"]))
        assert (told["error"], told["state"]) == ("access_denied", "s" * 1600)


# Claims by name


async def test_claims_can_be_asked_for_by_name_and_place(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    person, browser = await signed_in(town)
    address = f"{person.username}@example.org"
    asked = asks(
        id_token={"email": {"essential": True}, "phone_number": None, "nickname": {"value": "somebody else"}},
        userinfo={"preferred_username": None, "groups": {"values": [[], ["x"]]}, "iss": None},
    )

    tokens = await party.tokens(browser, scope="openid", **asked)
    plain = await party.tokens(browser, scope="openid")

    claims = await party.read(tokens["id_token"])
    assert claims["email"] == address
    assert not {"phone_number", "nickname", "preferred_username", "email_verified", "name"} & set(claims)
    about = (await party.userinfo(tokens["access_token"])).json()
    assert set(about) == {"sub", "preferred_username", "groups"}
    assert "email" not in await party.read(plain["id_token"])
    assert set((await party.userinfo(plain["access_token"])).json()) == {"sub"}

    bounded = await make_party(town, ada, _scope="openid profile")
    tokens = await bounded.tokens(browser, scope="openid", **asked)
    assert "email" not in await bounded.read(tokens["id_token"])


async def test_people_are_asked_about_claims_that_go_beyond_the_scopes(town: Town) -> None:
    client, (_, browser) = await make_client(town), await signed_in(town)
    await enter(browser, client, scope="openid", **asks(userinfo={"email": None}))
    consent = await browser.see(CONSENT)
    assert [one["id"] for one in consent["permissions"]] == ["openid", "email"]


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "x",
        '{"userinfo": []}',
        '{"id_token": {"a": 1}}',
        '{"id_token": "x"}',
        '{"id_token": {"sub": {"value": "a\\u0000b"}}}',
        "{" * 50,
    ],
)
async def test_claims_that_cannot_be_read_are_refused(town: Town, text: str) -> None:
    client = await make_client(town)
    assert told_to(await enter(Browser(town), client, claims=text))["error"] == "invalid_request"


async def test_what_is_not_known_in_a_request_for_claims_is_left_alone(town: Town, ada: Person) -> None:
    party, (_, browser) = await make_party(town, ada), await signed_in(town)
    text = '{"purpose": "x", "id_token": null, "userinfo": {"a": null, "b": {"essential": true, "c": 1}}}'
    assert "id_token" in await party.tokens(browser, scope="openid", claims=text)


async def test_a_client_can_name_whom_it_wants_and_how_they_signed_in(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    _, browser = await signed_in(town)
    sub = (await party.read((await party.tokens(browser))["id_token"]))["sub"]
    acr = "urn:kith:acr:default"

    good = (
        {"sub": {"value": sub}},
        {"sub": {"values": ["x", sub]}},
        {"acr": {"essential": True, "value": acr}},
        {"acr": {"values": ["urn:kith:acr:mfa"]}},
    )
    for wish in good:
        assert "code" in told_to(await party.authorize(browser, **asks(id_token=wish)), "https://rp.example"), wish
    bad = ({"sub": {"value": "x"}}, {"acr": {"essential": True, "values": ["urn:kith:acr:mfa"]}})
    errors = []
    for wish in bad:
        silent = await party.authorize(browser, prompt="none", **asks(id_token=wish))
        assert told_to(silent, "https://rp.example")["error"] == "login_required"
        back = query_of(path_of(await party.authorize(browser, **asks(id_token=wish))))["next"]
        _, anew = await signed_in(town)
        errors.append(told_to(await anew.http.get(back), "https://rp.example")["error"])
    assert errors == ["login_required", "unmet_authentication_requirements"]


# Languages


async def test_pages_speak_the_language_that_the_application_knows(town: Town) -> None:
    client, person, browser = await make_client(town), await town.sign_up(), Browser(town)
    browser.http.headers["Accept-Language"] = "en"
    sent = path_of(await enter(browser, client, ui_locales="fr-CA de-AT en"))
    assert '<html lang="de" dir="ltr">' in (await browser.http.get(sent)).text
    await browser.see(SIGN_IN)
    await browser.answer(SIGN_IN, component="identification", uid_field=person.username)
    back = await browser.answer(SIGN_IN, component="password", password=person.password)
    consent = await browser.http.get(path_of(await browser.http.get(back["to"])))
    assert '<html lang="de" dir="ltr">' in consent.text
    assert "Erlauben" in consent.text

    app = await make_app(town)
    asked = await enter(browser, app, ui_locales="de")
    assert '<html lang="de" dir="ltr">' in asked.text
    assert '<html lang="en" dir="ltr">' in (await enter(browser, app, ui_locales="fr")).text
    leaving = await browser.http.get("/application/o/end-session/", params={"ui_locales": "de"})
    assert '<html lang="de" dir="ltr">' in (await browser.http.get(leaving.headers["location"])).text
    english = {"csrf": browser.http.cookies["kith_csrf"], "language": "en"}
    assert (await browser.http.post("/settings/language", data=english)).status_code == 303
    assert '<html lang="en" dir="ltr">' in (await enter(browser, app, ui_locales="de")).text


async def test_discovery_says_what_is_so(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    answer = await town.http.get(f"/application/o/{party.slug}/.well-known/openid-configuration")
    told = answer.json()
    assert told["ui_locales_supported"] == ["en", "de"]
    assert told["claims_parameter_supported"] is True
    assert told["code_challenge_methods_supported"] == ["S256"]
    assert "picture" in told["claims_supported"]
    for path in (
        f"/application/o/{party.slug}/.well-known/openid-configuration",
        f"/application/o/{party.slug}/jwks/",
        "/application/o/jwks/",
        "/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server",
    ):
        assert (await town.http.get(path)).headers["cache-control"] == "public, max-age=900", path


async def test_a_key_implies_how_it_signs(town: Town, ada: Person) -> None:
    _, browser = await signed_in(town)
    for kind in ("openid", "oauth"):
        for key, alg in (("ecdsa", "ES256"), ("ed25519", "EdDSA")):
            order = {"common_name": new_name("key"), "validity_days": 3, "alg": key}
            made = await ada.call("POST", f"{API}/crypto/certificatekeypairs/generate/", json=order)
            party = await make_party(town, ada, kind, signing_key=made.json()["pk"])
            token = (await party.tokens(browser, scope="openid"))["id_token"]
            assert jwt.get_unverified_header(token)["alg"] == alg
            assert (await party.read(token))["aud"] == party.id
            assert (await described(town, party.slug))["id_token_signing_alg_values_supported"][0] == alg


# Pictures, previews


async def social_key(town: Town, browser: Browser) -> str:
    app = await make_app(town)
    code = told_to(await answer_page(browser, await enter(browser, app, scope="read write")))["code"]
    return str((await spend(town, app, code)).json()["access_token"])


async def test_a_picture_goes_with_the_profile(town: Town, ada: Person) -> None:
    party = await make_party(town, ada)
    person, browser = await signed_in(town)

    async def picture() -> str | None:
        tokens = await party.tokens(browser, scope="openid profile")
        told: dict[str, Any] = (await party.userinfo(tokens["access_token"])).json()
        assert (await party.read(tokens["id_token"])).get("picture") == told.get("picture")
        return told.get("picture")

    assert await picture() is None
    key = await social_key(town, browser)
    changed = await town.http.patch(
        "/api/v1/accounts/update_credentials",
        headers={"Authorization": f"Bearer {key}"},
        files={"avatar": ("me.png", image_file("PNG"), "image/png")},
    )
    assert changed.status_code == 200, changed.text
    assert await picture() == changed.json()["avatar"]
    [user] = await results(ada, "/core/users/", username=person.username)
    body = {"attributes": {"avatar": "https://pictures.example/me.png"}}
    assert (await ada.call("PATCH", f"{API}/core/users/{user['pk']}/", json=body)).status_code == 200
    assert await picture() == "https://pictures.example/me.png"

    shipped = next(
        one
        for one in await results(ada, "/propertymappings/scope/")
        if one["managed"] == "kith.dev/providers/oauth2/scope-profile"
    )
    own = await make(
        ada, "/propertymappings/scope/", name=new_name("own"), scope_name="profile", expression='return {"name": "x"}'
    )
    party = await make_party(town, ada, property_mappings=[shipped["pk"]])
    assert await picture() == "https://pictures.example/me.png"
    party = await make_party(town, ada, property_mappings=[own["pk"]])
    assert await picture() is None


@pytest.mark.parametrize("kind", ["oauth", "openid"])
async def test_staff_see_what_a_client_would_be_told(town: Town, ada: Person, kind: str) -> None:
    party = await make_party(town, ada, kind)
    path = f"{API}/providers/{kind}/{party.provider['pk']}/preview_user/"
    person, browser = await signed_in(town)
    [user] = await results(ada, "/core/users/", username=person.username)

    mine = (await ada.get(path)).json()["preview"]
    theirs = (await ada.get(path, params={"for_user": user["pk"]})).json()["preview"]

    assert mine["preferred_username"] == ada.username
    assert (theirs["preferred_username"], theirs["email"]) == (person.username, f"{person.username}@example.org")
    told = await party.read((await party.tokens(browser, scope="openid profile email"))["id_token"])
    assert {name: told[name] for name in theirs if name in told} == {
        name: value for name, value in theirs.items() if name in told
    }
    record = "oauth2provider" if kind == "oauth" else "openidprovider"
    viewer = await person_who_may(town, ada, f"providers.view_{record}")
    assert (await viewer.get(path)).json()["preview"]["preferred_username"] == viewer.username
    assert (await viewer.get(path, params={"for_user": user["pk"]})).status_code == 403
    assert (await person.get(path)).status_code == 403
    assert (await town.http.get(path)).status_code == 401
    assert (await ada.get(path, params={"for_user": "x"})).status_code == 400
    assert (await ada.get(path, params={"for_user": "999999"})).status_code == 400
    other = "openid" if kind == "oauth" else "oauth"
    assert (await ada.get(path.replace(f"/{kind}/", f"/{other}/"))).status_code == 404


# What somebody let in


async def test_an_app_with_several_tokens_is_one_app(town: Town) -> None:
    app, (_, browser) = await make_app(town), await signed_in(town)
    here, keys = "/oauth/authorized_applications", []
    for _ in range(3):
        code = told_to(await answer_page(browser, await enter(browser, app)))["code"]
        keys.append((await spend(town, app, code)).json()["access_token"])
    page = (await browser.http.get(here)).text
    assert len(re.findall(rf'action="({here}/[^"]+)"', page)) == 1

    async def statuses() -> list[int]:
        path = "/api/v1/accounts/verify_credentials"
        return [(await town.http.get(path, headers={"Authorization": f"Bearer {key}"})).status_code for key in keys]

    assert await statuses() == [200, 200, 200]
    [way] = re.findall(rf'action="({here}/[^"]+)"', page)
    assert (await browser.http.post(way, data={"csrf": browser.http.cookies["kith_csrf"]})).status_code == 303
    assert await statuses() == [401, 401, 401]
    assert f'action="{here}/' not in (await browser.http.get(here)).text
