"""Providers of every kind, as an administrator writes them."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest

from kith.identity.providers.redirect_uris import complain_redirect
from tests.town import Town
from tests.town.people import Person

ALL = "/api/v2/providers/all/"
GATEWAY = "/api/v2/providers/applicationgateway/"
OAUTH = "/api/v2/providers/oauth/"
OPENID = "/api/v2/providers/openid/"
SAML = "/api/v2/providers/saml/"
PAIRS = "/api/v2/crypto/certificatekeypairs/"
MAPPINGS = "/api/v2/propertymappings/"
MASK = "********"
UNIQUE = ["This field must be unique."]

CODE = {
    "client_type": "confidential",
    "authorization_grant_type": "authorization-code",
    "redirect_uris": "https://wiki.example/back",
}
WIKI = {"name": "wiki", "acs_url": "https://wiki.example/acs", "issuer": "https://kith.example"}


def some(word: str) -> str:
    return f"{word}-{uuid.uuid4().hex[:10]}"


def gateway(**more: Any) -> dict[str, Any]:
    return {"name": "door", "internal_host": "inside:8080", "external_host": f"{some('h')}.example", **more}


def required_for(path: str) -> dict[str, Any]:
    """The least each kind wants."""
    least: dict[str, dict[str, Any]] = {
        OAUTH: {"client_type": "public", "authorization_grant_type": "password"},
        OPENID: {"response_types": [1]},
        SAML: WIKI,
        GATEWAY: gateway(),
    }
    return least[path]


async def make(ada: Person, path: str, sent: dict[str, Any]) -> dict[str, Any]:
    answer = await ada.call("POST", path, json=sent)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def complaints(ada: Person, path: str, sent: dict[str, Any]) -> dict[str, Any]:
    answer = await ada.call("POST", path, json=sent)
    assert answer.status_code == 400, answer.text
    said: dict[str, Any] = answer.json()
    return said


async def make_pair(ada: Person, alg: str = "ecdsa", *, with_key: bool = True) -> str:
    order = {"common_name": some("pair"), "validity_days": 3, "alg": alg}
    made = (await ada.call("POST", f"{PAIRS}generate/", json=order)).json()
    if not with_key:
        await ada.call("PATCH", f"{PAIRS}{made['pk']}/", json={"key_data": ""})
    return str(made["pk"])


@pytest.mark.parametrize(
    ("uri", "fine"),
    [
        ("https://wiki.example/back", True),
        ("https://wiki.example:8443/back?x=1", True),
        ("http://127.0.0.1:9000/", True),
        ("http://127.8.8.8/", True),
        ("http://[::1]:9000/back", True),
        ("http://localhost/back", True),
        ("com.example.app:/back", True),
        ("myapp://back", True),
        ("urn:ietf:wg:oauth:2.0:oob", True),
        ("http://wiki.example/back", False),
        ("http://localhost.evil.example/", False),
        ("http://127.0.0.1.evil.example/", False),
        ("http://127.0.0.1@evil.example/", False),
        ("javascript:alert(1)", False),
        ("JavaScript:alert(1)", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("about:blank", False),
        ("blob:https://rp.example/1", False),
        ("view-source:https://rp.example/", False),
        ("https://[::1].rp.example/", False),
        ("https://rp.example;evil.example/", False),
        ("https://rp.example,evil.example/", False),
        ("https://[2001:db8::1]:8443/cb", True),
        ("http://[::1]:8000/cb", True),
        ("vbscript:x", False),
        ("https://wiki.example/#x", False),
        ("https://wiki.example/#", False),
        ("https:///back", False),
        ("https://user:word@wiki.example/", False),
        ("https://wiki.example:99999/", False),
        ("/back", False),
        ("wiki.example/back", False),
        ("https:", False),
    ],
)
def test_where_people_may_be_sent_back_to(uri: str, fine: bool) -> None:
    assert (complain_redirect(uri) is None) is fine


@pytest.mark.parametrize(
    ("path", "kind"), [(GATEWAY, "applicationgateway"), (OAUTH, "oauth2"), (OPENID, "openid"), (SAML, "saml")]
)
async def test_a_provider_is_one_record_in_two_collections(town: Town, path: str, kind: str) -> None:
    ada = await town.owner()

    made = await make(ada, path, required_for(path) | {"name": some("p")})
    id = made["id"]
    seen = (await ada.get(f"{ALL}{id}/")).json()
    [listed] = (await ada.get(ALL, params={"search": made["name"]})).json()["results"]

    assert made["pk"] == seen["pk"] == seen["id"] == id
    assert seen == listed
    assert (seen["__type__"], seen["name"]) == (kind, made["name"])
    assert seen["property_mappings"] == []
    assert seen["assigned_application_slug"] is None
    others = {GATEWAY, OAUTH, OPENID, SAML} - {path}
    assert {(await ada.get(f"{other}{id}/")).status_code for other in others} == {404}
    assert (await ada.call("DELETE", f"{ALL}{id}/")).status_code == 405
    put = await ada.call("PUT", f"{path}{id}/", json=made)
    patched = await ada.call("PATCH", f"{path}{id}/", json={})
    assert put.status_code == patched.status_code == 200, put.text
    changing = {"last_updated", "client_secret"}
    assert {k: v for k, v in put.json().items() if k not in changing} == {
        k: v for k, v in made.items() if k not in changing
    }
    assert (await ada.call("DELETE", f"{path}{id}/")).status_code == 204
    assert (await ada.get(f"{ALL}{id}/")).status_code == 404


async def test_ids_are_one_sequence_over_all_kinds(town: Town) -> None:
    ada = await town.owner()
    ids = [(await make(ada, path, required_for(path)))["pk"] for path in (OAUTH, SAML, OPENID, GATEWAY, OAUTH)]

    assert ids == sorted(set(ids))


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        (OAUTH, {"client_type", "authorization_grant_type"}),
        (OPENID, {"response_types"}),
        (SAML, {"name", "acs_url", "issuer"}),
        (GATEWAY, {"name", "internal_host", "external_host"}),
    ],
)
async def test_what_each_kind_wants(town: Town, path: str, wanted: set[str]) -> None:
    ada = await town.owner()

    assert await complaints(ada, path, {}) == {name: ["This field is required."] for name in wanted}


async def test_the_flow_must_be_for_authorization_and_stays_while_it_is_used(town: Town) -> None:
    ada = await town.owner()
    flows = "/api/v2/flows/instances/"
    slug = some("f")
    flow = (await ada.call("POST", flows, json={"name": slug, "slug": slug, "designation": "authorization"})).json()[
        "pk"
    ]
    other = some("f")
    wrong = (await ada.call("POST", flows, json={"name": other, "slug": other, "designation": "recovery"})).json()["pk"]

    refused = await complaints(ada, SAML, WIKI | {"authorization_flow": wrong})
    made = await make(ada, SAML, WIKI | {"authorization_flow": flow})
    held = await ada.call("DELETE", f"{flows}{flow}/")

    assert refused == {"authorization_flow": [f'Invalid pk "{wrong}" - object does not exist.']}
    assert made["authorization_flow"] == flow
    assert held.status_code == 409
    assert held.json()["references"] == [{"type": "identity_providers", "pk": made["pk"], "name": "wiki"}]
    await ada.call("DELETE", f"{SAML}{made['pk']}/")
    assert (await ada.call("DELETE", f"{flows}{flow}/")).status_code == 204


async def test_a_mapping_of_another_kind_is_refused(town: Town) -> None:
    ada = await town.owner()
    more = {"saml": {"saml_name": "x"}, "scope": {"scope_name": "x"}}
    ids = {
        kind: (await make(ada, f"{MAPPINGS}{kind}/", {"name": some(kind), "expression": "return {}", **more[kind]}))[
            "pk"
        ]
        for kind in more
    }

    for path, right, wrong in ((SAML, "saml", "scope"), (OAUTH, "scope", "saml"), (OPENID, "scope", "saml")):
        made = await make(ada, path, required_for(path) | {"property_mappings": [ids[right]]})
        refused = await complaints(ada, path, required_for(path) | {"property_mappings": [ids[right], ids[wrong]]})
        assert made["property_mappings"] == [ids[right]]
        assert list(refused) == ["property_mappings"]


# OAuth and OpenID clients


@pytest.mark.parametrize("path", [OAUTH, OPENID])
async def test_id_and_secret_are_made_up_and_the_secret_is_shown_once(town: Town, path: str) -> None:
    ada = await town.owner()
    made = await make(ada, path, required_for(path))
    item = f"{path}{made['pk']}/"

    assert len(made["client_id"]) == 40
    assert len(made["client_secret"]) == 128
    assert made["client_secret"].isalnum()
    assert made["client_secret"].isascii()
    assert (await ada.get(item)).json()["client_secret"] == made["client_secret"]  # an owner sees secrets
    for unchanged in (MASK, ""):
        await ada.call("PATCH", item, json={"client_secret": unchanged})
        assert (await ada.get(item)).json()["client_secret"] == made["client_secret"]
    await ada.call("PATCH", item, json={"client_secret": "my own"})
    assert (await ada.get(item)).json()["client_secret"] == "my own"


async def test_a_client_id_is_one_over_all_kinds(town: Town) -> None:
    ada = await town.owner()
    one, two = some("client"), some("client")
    first = await make(ada, OAUTH, CODE | {"client_id": one})
    door = await make(ada, GATEWAY, gateway())

    for taken in (one, door["client_id"]):
        for path in (OAUTH, OPENID):
            assert await complaints(ada, path, CODE | {"response_types": [1], "client_id": taken}) == {
                "client_id": UNIQUE
            }
    second = await make(ada, OPENID, {"response_types": [1], "client_id": two})
    clash = await ada.call("PATCH", f"{OPENID}{second['pk']}/", json={"client_id": one})
    assert (clash.status_code, clash.json()) == (400, {"client_id": UNIQUE})
    same = await ada.call("PATCH", f"{OAUTH}{first['pk']}/", json={"client_id": one})
    assert same.status_code == 200
    # What is let go can be taken.
    await ada.call("PATCH", f"{OAUTH}{first['pk']}/", json={"client_id": some("client")})
    freed = await ada.call("PATCH", f"{OPENID}{second['pk']}/", json={"client_id": one})
    assert freed.status_code == 200
    await ada.call("DELETE", f"{OPENID}{second['pk']}/")
    await make(ada, OAUTH, CODE | {"client_id": one})


async def test_of_many_who_want_the_same_client_id_one_gets_it(town: Town) -> None:
    ada = await town.owner()
    wanted = some("client")
    sent = CODE | {"client_id": wanted, "response_types": [1]}

    answers = await asyncio.gather(*(ada.call("POST", path, json=sent) for path in (OAUTH, OPENID) * 4))

    codes = sorted(answer.status_code for answer in answers)
    assert codes[0] == 201
    assert set(codes[1:]) <= {400, 409}


@pytest.mark.parametrize(
    ("path", "sent", "field"),
    [
        (OAUTH, CODE | {"redirect_uris": ""}, "redirect_uris"),
        (OAUTH, CODE | {"redirect_uris": "", "authorization_grant_type": "implicit"}, "redirect_uris"),
        (OAUTH, CODE | {"redirect_uris": "https://a.example/ http://b.example/"}, "redirect_uris"),
        (OAUTH, CODE | {"redirect_uris": "javascript:alert(1)"}, "redirect_uris"),
        (OAUTH, CODE | {"redirect_uris": "https://a.example/#x"}, "redirect_uris"),
        (OAUTH, CODE | {"client_type": "secret"}, "client_type"),
        (OAUTH, CODE | {"authorization_grant_type": "code"}, "authorization_grant_type"),
        (OAUTH, CODE | {"client_id": ""}, "client_id"),
        (OAUTH, CODE | {"client_id": "x" * 101}, "client_id"),
        (OAUTH, CODE | {"client_id": "ö"}, "client_id"),
        (OAUTH, CODE | {"client_secret": "ö"}, "client_secret"),
        (OAUTH, CODE | {"access_token_validity": "soon"}, "access_token_validity"),
        (OAUTH, CODE | {"access_token_validity": "hours=-1"}, "access_token_validity"),
        (OAUTH, CODE | {"refresh_token_threshold": "hours=-1"}, "refresh_token_threshold"),
        (OAUTH, CODE | {"signing_key": str(uuid.uuid4())}, "signing_key"),
        (OAUTH, CODE | {"sub_mode": "x"}, "sub_mode"),
        (OPENID, {"response_types": []}, "response_types"),
        (OPENID, {"response_types": "code"}, "response_types"),
        (OPENID, {"response_types": [1.5]}, "response_types"),
        (OPENID, {"response_types": [1], "_redirect_uris": "http://b.example/"}, "_redirect_uris"),
        (OPENID, {"response_types": [1], "jwt_alg": "none"}, "jwt_alg"),
        (OPENID, {"response_types": [1], "jwt_alg": "HS256", "client_type": "public"}, "jwt_alg"),
        (OPENID, {"response_types": [1], "name": "x" * 101}, "name"),
        (OPENID, {"response_types": [1], "_scope": 'open"id'}, "_scope"),
    ],
)
async def test_a_client_that_could_not_work_is_refused(town: Town, path: str, sent: dict[str, Any], field: str) -> None:
    ada = await town.owner()

    assert list(await complaints(ada, path, sent)) == [field]


async def test_redirects_cannot_be_taken_away_from_a_grant_that_needs_them(town: Town) -> None:
    ada = await town.owner()
    made = await make(ada, OAUTH, CODE)
    item = f"{OAUTH}{made['pk']}/"

    refused = await ada.call("PATCH", item, json={"redirect_uris": ""})
    taken = await ada.call("PATCH", item, json={"redirect_uris": "", "authorization_grant_type": "password"})

    assert list(refused.json()) == ["redirect_uris"]
    assert taken.status_code == 200


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ([1, 3], [1, 3]),
        (["code", "id_token token"], [1, 3]),
        (["token id_token", 6, 6, "6"], [3, 6]),
        (["code token id_token", "2"], [6, 2]),
    ],
)
async def test_response_types_are_ids_of_a_fixed_table(town: Town, sent: list[Any], kept: list[int]) -> None:
    ada = await town.owner()

    assert (await make(ada, OPENID, {"response_types": sent}))["response_types"] == kept


@pytest.mark.parametrize("unknown", [9, 0, "device"])
async def test_an_unknown_response_type_does_not_exist(town: Town, unknown: Any) -> None:
    ada = await town.owner()

    refused = await complaints(ada, OPENID, {"response_types": [1, unknown]})

    assert refused == {"response_types": [f'Invalid pk "{unknown}" - object does not exist.']}


async def test_an_openid_client_tells_its_lists_twice(town: Town) -> None:
    ada = await town.owner()
    sent = {
        "response_types": [1],
        "_redirect_uris": "https://a.example/x\nhttps://b.example/y",
        "_scope": "openid email",
    }

    made = await make(ada, OPENID, sent)

    assert (made["_redirect_uris"], made["_scope"]) == (sent["_redirect_uris"], sent["_scope"])
    assert made["redirect_uris"] == ["https://a.example/x", "https://b.example/y"]
    assert made["scope"] == ["openid", "email"]
    defaults = {"client_type": "confidential", "jwt_alg": "RS256", "reuse_consent": True, "require_consent": True}
    assert {name: made[name] for name in defaults} == defaults


async def test_a_signing_key_must_be_able_to_sign(town: Town) -> None:
    ada = await town.owner()
    curve, bare, rsa = await make_pair(ada), await make_pair(ada, with_key=False), await make_pair(ada, "rsa")

    assert list(await complaints(ada, OAUTH, CODE | {"signing_key": bare})) == ["signing_key"]
    clash = {"response_types": [1], "signing_key": rsa, "jwt_alg": "ES256"}
    assert list(await complaints(ada, OPENID, clash)) == ["signing_key"]
    implied = await make(ada, OPENID, {"response_types": [1], "signing_key": curve})
    assert implied["jwt_alg"] == "ES256"
    path = f"{OPENID}{implied['pk']}/"
    assert (await ada.call("PATCH", path, json={"signing_key": rsa})).json()["jwt_alg"] == "RS256"
    assert (await ada.call("PATCH", path, json={"signing_key": curve, "jwt_alg": "EdDSA"})).status_code == 400
    assert (await make(ada, OAUTH, CODE | {"signing_key": curve}))["signing_key"] == curve
    assert (await make(ada, OPENID, {"response_types": [1], "signing_key": rsa}))["signing_key"] == rsa
    assert (await ada.call("DELETE", f"{PAIRS}{curve}/")).status_code == 409


@pytest.mark.parametrize("path", [OAUTH, OPENID])
async def test_setup_urls_follow_the_application(town: Town, path: str) -> None:
    ada = await town.owner()
    made = await make(ada, path, required_for(path))
    item = f"{path}{made['pk']}/setup_urls/"
    o = f"{town.base_url}/application/o"

    before = (await ada.get(item)).json()
    slug = some("app")
    await make(ada, "/api/v2/core/applications/", {"name": "App", "slug": slug, "provider": made["pk"]})
    after = (await ada.get(item)).json()
    await ada.call("PATCH", f"{path}{made['pk']}/", json={"issuer_mode": "global"})

    assert before == {
        "issuer": None,
        "authorize": f"{o}/authorize/",
        "token": f"{o}/token/",
        "user_info": f"{o}/userinfo/",
        "provider_info": None,
        "logout": None,
        "jwks": None,
    }
    assert after == before | {
        "issuer": f"{o}/{slug}/",
        "provider_info": f"{o}/{slug}/.well-known/openid-configuration",
        "logout": f"{o}/{slug}/end-session/",
        "jwks": f"{o}/{slug}/jwks/",
    }
    assert (await ada.get(item)).json()["issuer"] == f"{town.base_url}/"
    for wrong in ("999999999", "x"):
        assert (await ada.get(f"{path}{wrong}/setup_urls/")).status_code == 404


async def test_the_list_of_all_tells_applications_and_can_be_narrowed_by_them(town: Town) -> None:
    ada = await town.owner()
    word = some("word")
    lonely = await make(ada, SAML, WIKI | {"name": f"{word} lonely"})
    served = await make(ada, OAUTH, CODE | {"name": f"{word} served"})
    slug = some("app")
    await make(ada, "/api/v2/core/applications/", {"name": "App", "slug": slug, "provider": served["pk"]})

    async def ids(**params: str) -> list[int]:
        answer = await ada.get(ALL, params={"search": word, **params})
        return [record["pk"] for record in answer.json()["results"]]

    assert await ids() == [lonely["pk"], served["pk"]]
    assert await ids(ordering="-id") == [served["pk"], lonely["pk"]]
    assert await ids(application__isnull="true") == [lonely["pk"]]
    assert await ids(application__isnull="false") == [served["pk"]]
    assert await ids(application__isnull="maybe") == [lonely["pk"], served["pk"]]
    seen = (await ada.get(f"{ALL}{served['pk']}/")).json()
    assert (seen["assigned_application_slug"], seen["assigned_application_name"]) == (slug, "App")


# Gateways


async def test_a_gateway_gets_a_client_of_its_own_whose_secret_nobody_sees(town: Town) -> None:
    ada = await town.owner()
    host = f"{some('Wiki')}.example"

    made = await make(ada, GATEWAY, gateway(external_host=f"{host}/", client={"client_id": "mine"}, client_id="mine"))

    assert made["internal_host"] == "http://inside:8080"
    assert made["external_host"] == f"https://{host.lower()}"
    client = made["client"]
    assert client["client_id"] == made["client_id"]
    assert len(client["client_id"]) == 40
    assert client["redirect_uris"] == [f"https://{host.lower()}/outpost.kith/callback"]
    assert (client["_scope"], client["response_types"]) == ("openid email", [1])
    assert "secret" not in str(made)
    changed = await ada.call("PATCH", f"{GATEWAY}{made['pk']}/", json={"external_host": f"http://new-{host}"})
    assert changed.json()["client"]["redirect_uris"] == [f"http://new-{host.lower()}/outpost.kith/callback"]
    assert changed.json()["client_id"] == made["client_id"]


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"internal_host": ""}, "internal_host"),
        ({"internal_host": "ftp://inside"}, "internal_host"),
        ({"external_host": ""}, "external_host"),
        ({"external_host": "https://user@host.example"}, "external_host"),
        ({"external_host": "https://host.example/?x"}, "external_host"),
        ({"external_host": "a b"}, "external_host"),
        ({"mode": "both"}, "mode"),
        ({"mode": "forward_domain"}, "cookie_domain"),
        ({"mode": "forward_domain", "cookie_domain": "elsewhere.example"}, "cookie_domain"),
        ({"basic_auth_enabled": True, "basic_auth_user_attribute": "u"}, "basic_auth_password_attribute"),
        ({"skip_path_regex": "^/fine$\n("}, "skip_path_regex"),
        ({"access_token_validity": "hours=0"}, "access_token_validity"),
    ],
)
async def test_a_gateway_that_could_not_work_is_refused(town: Town, sent: dict[str, Any], field: str) -> None:
    ada = await town.owner()

    assert list(await complaints(ada, GATEWAY, gateway(**sent))) == [field]


async def test_a_gateway_does_not_take_the_place_of_the_server(town: Town) -> None:
    ada = await town.owner()

    assert list(await complaints(ada, GATEWAY, gateway(external_host=town.base_url))) == ["external_host"]


async def test_a_host_has_one_gateway_but_for_those_of_a_whole_domain(town: Town) -> None:
    ada = await town.owner()
    host = f"{some('h')}.example"
    domain = {"mode": "forward_domain", "cookie_domain": host, "internal_host": ""}
    await make(ada, GATEWAY, gateway(external_host=host))

    assert await complaints(ada, GATEWAY, gateway(external_host=f"https://{host}", mode="forward_single")) == {
        "external_host": UNIQUE
    }
    whole = await make(ada, GATEWAY, gateway(external_host=host, **domain))
    clash = await ada.call("PATCH", f"{GATEWAY}{whole['pk']}/", json={"mode": "forward_single"})
    assert clash.json() == {"external_host": UNIQUE}


# SAML


async def test_a_saml_provider_has_its_defaults_and_forgets_the_code_path(town: Town) -> None:
    ada = await town.owner()

    made = await make(ada, SAML, WIKI | {"processor_path": "some.path"})

    assert "processor_path" not in made
    expected = {
        "audience": "",
        "assertion_valid_not_before": "minutes=-5",
        "assertion_valid_not_on_or_after": "minutes=5",
        "session_valid_not_on_or_after": "minutes=86400",
        "digest_algorithm": "sha256",
        "signature_algorithm": "rsa-sha256",
        "signing_kp": None,
        "require_signing": False,
        "sp_binding": "redirect",
        "url_sso_post": "-",
    }
    assert {name: made[name] for name in expected} == expected
    slug = some("app")
    await make(ada, "/api/v2/core/applications/", {"name": "App", "slug": slug, "provider": made["pk"]})
    served = (await ada.get(f"{SAML}{made['pk']}/")).json()
    assert served["url_sso_post"] == f"{town.base_url}/application/saml/{slug}/sso/binding/post/"


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"acs_url": "not a url"}, "acs_url"),
        ({"acs_url": "https://a.example/" + "x" * 200}, "acs_url"),
        ({"issuer": ""}, "issuer"),
        ({"assertion_valid_not_before": "minutes=1"}, "assertion_valid_not_before"),
        ({"assertion_valid_not_before": "now"}, "assertion_valid_not_before"),
        ({"assertion_valid_not_on_or_after": "minutes=0"}, "assertion_valid_not_on_or_after"),
        ({"assertion_valid_not_on_or_after": "fortnights=1"}, "assertion_valid_not_on_or_after"),
        ({"session_valid_not_on_or_after": "minutes=-1"}, "session_valid_not_on_or_after"),
        ({"digest_algorithm": "md5"}, "digest_algorithm"),
        ({"signature_algorithm": "none"}, "signature_algorithm"),
        ({"sp_binding": "pigeon"}, "sp_binding"),
        ({"signing_kp": str(uuid.uuid4())}, "signing_kp"),
        ({"logout_method": "backchannel"}, "sls_binding"),
    ],
)
async def test_a_saml_provider_that_could_not_work_is_refused(town: Town, sent: dict[str, Any], field: str) -> None:
    ada = await town.owner()

    assert list(await complaints(ada, SAML, WIKI | sent)) == [field]


async def test_a_saml_provider_signs_with_a_key_that_can(town: Town) -> None:
    ada = await town.owner()
    curve, bare, odd = await make_pair(ada), await make_pair(ada, with_key=False), await make_pair(ada, "ed25519")
    signed = WIKI | {"signature_algorithm": "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"}

    made = await make(ada, SAML, signed | {"signing_kp": curve, "verification_kp": bare})

    assert made["signature_algorithm"] == "ecdsa-sha256"
    assert list(await complaints(ada, SAML, signed | {"signing_kp": bare})) == ["signing_kp"]
    assert "signing_kp" in await complaints(ada, SAML, signed | {"signing_kp": odd})
    assert list(await complaints(ada, SAML, WIKI | {"signing_kp": curve})) == ["signature_algorithm"]
    assert list(await complaints(ada, SAML, WIKI | {"encryption_kp": curve})) == ["encryption_kp"]
    neither = signed | {"signing_kp": curve, "sign_assertion": False}
    assert list(await complaints(ada, SAML, neither)) == ["non_field_errors"]
    for pair in (curve, bare):
        assert (await ada.call("DELETE", f"{PAIRS}{pair}/")).status_code == 409


async def test_a_secret_is_hidden_from_those_who_may_only_look(town: Town) -> None:
    ada, bob = await town.owner(), await town.sign_up()
    made = await make(ada, OAUTH, CODE)
    role = await make(
        ada,
        "/api/v2/rbac/roles/",
        {"name": some("role"), "permissions": ["providers.view_oauth2provider", "providers.change_oauth2provider"]},
    )
    [person] = (await ada.get("/api/v2/core/users/", params={"username": bob.username})).json()["results"]
    await ada.call("PATCH", f"/api/v2/core/users/{person['pk']}/", json={"roles": [role["pk"]]})
    item = f"{OAUTH}{made['pk']}/"

    seen = (await bob.get(item)).json()
    put = await bob.call("PUT", item, json=seen | {"name": "renamed"})

    assert seen["client_secret"] == put.json()["client_secret"] == MASK
    after = (await ada.get(item)).json()
    assert (after["name"], after["client_secret"]) == ("renamed", made["client_secret"])


async def test_nobody_sees_providers_without_the_right_to(town: Town) -> None:
    bob = await town.sign_up()

    codes = [(await bob.get(path)).status_code for path in (ALL, GATEWAY, OAUTH, OPENID, SAML)]

    assert codes == [403] * 5
