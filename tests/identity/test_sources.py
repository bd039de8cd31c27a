"""Sources: where people come from, what each kind holds and what it refuses."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from kith.identity.sources.kinds.ldap import is_filter, is_server
from tests.identity.records import API, make, make_flow, new_name, owner_of, person_who_may, results
from tests.town import Person, Town

NOWHERE = str(uuid.UUID(int=9))
REQUIRED = ["This field is required."]
LDAP = {"server_uri": "ldaps://ldap.example.org", "bind_cn": "cn=kith", "bind_password": "hush", "base_dn": "dc=e"}
OAUTH = {
    "provider_type": "openid-connect",
    "authorization_url": "https://id.example.org/authorize",
    "access_token_url": "https://id.example.org/token",
    "profile_url": "https://id.example.org/me",
    "consumer_key": "kith",
    "consumer_secret": "hush",
}


async def make_pair(person: Person) -> dict[str, Any]:
    answer = await person.call(
        "POST",
        f"{API}/crypto/certificatekeypairs/generate/",
        json={"common_name": new_name("pair"), "validity_days": 30, "alg": "ecdsa"},
    )
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


async def make_source(person: Person, kind: str, **fields: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"name": new_name(kind), "slug": new_name(kind)}
    given |= {"ldap": LDAP, "oauth": OAUTH, "saml": {"sso_url": "https://id.example.org/sso"}}.get(kind, {})
    if kind == "saml" and "signing_kp" not in fields:
        given["signing_kp"] = (await make_pair(person))["pk"]
    return await make(person, f"/sources/{kind}/", **given | fields)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("(objectClass=person)", True),
        ("(&(a=b)(|(c=d)(!(e=f))))", True),
        (r"(cn=Smith \28Ann\29)", True),
        ("", False),
        ("objectClass=person", False),
        ("(a=b", False),
        ("(a=b))", False),
        (")(", False),
        ("(a=b)(c=d)", False),
        ("()", False),
        ("(&())", False),
    ],
)
def test_what_a_filter_is(text: str, is_one: bool) -> None:
    assert is_filter(text) is is_one


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("ldap://h", True),
        ("ldaps://h:636", True),
        (" ldap://[2001:db8::1]:389 ", True),
        ("http://h", False),
        ("ldap://", False),
        ("h", False),
        ("", False),
        ("ldap://h:99999", False),
        ("ldap://a b", False),
    ],
)
def test_what_a_directory_server_is(text: str, is_one: bool) -> None:
    assert is_server(text) is is_one


_SHARED: dict[str, Any] = {
    "enabled": True,
    "authentication_flow": None,
    "enrollment_flow": None,
    "policy_engine_mode": "all",
    "user_matching_mode": "identifier",
    "user_path_template": "sources/%(slug)s",
    "icon": "",
    "promoted": False,
    "policies": [],
}
TOLD: dict[str, dict[str, Any]] = {
    "ldap": {
        "start_tls": False, "additional_user_dn": "", "additional_group_dn": "",
        "user_object_filter": "(objectCategory=Person)", "group_object_filter": "(objectCategory=Group)",
        "user_group_membership_field": "memberOf", "object_uniqueness_field": "objectSid", "sync_users": True,
        "sync_groups": True, "sync_parent_group": None, "property_mappings": [], "sync_users_password": False,
        "peer_certificate": None, "client_certificate": None,
    },
    "oauth": {
        "request_token_url": "", "pkce": "S256", "additional_scopes": "", "oidc_well_known_url": "",
        "oidc_jwks_url": "", "oidc_jwks": {}, "authorization_code_auth_method": "basic_auth",
    },
    "saml": {
        "issuer": "", "binding_type": "REDIRECT", "slo_url": None, "temporary_user_delete_after": "days=1",
        "name_id_policy": "urn:oasis:names:tc:SAML:2.0:nameid-format:transient", "verification_kp": None,
        "encryption_kp": None, "pre_authentication_flow": None, "allow_idp_initiated": False, "force_authn": False,
        "signed_assertion": True, "signed_response": False, "digest_algorithm": "sha256",
        "signature_algorithm": "rsa-sha256",
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", ["ldap", "oauth", "saml"])
async def test_a_source_is_made_read_put_back_and_deleted(town: Town, kind: str) -> None:
    ada = await owner_of(town)

    made = await make_source(ada, kind)
    item = f"{API}/sources/{kind}/{made['pk']}/"
    read = (await ada.get(item)).json()
    put = await ada.call("PUT", item, json=read | {"enabled": False})
    [listed] = await results(ada, "/sources/all/", search=made["slug"])
    gone = await ada.call("DELETE", item)

    assert {name: made[name] for name in _SHARED | TOLD[kind]} == _SHARED | TOLD[kind]
    assert made == read
    assert made["pk"] == made["pbm_uuid"]
    assert not {"bind_password", "consumer_secret"} & set(made)
    assert put.status_code == 200
    assert put.json()["enabled"] is False
    assert (listed["pk"], listed["__type__"], listed["enabled"]) == (made["pk"], kind, False)
    assert gone.status_code == 204
    assert (await ada.get(item)).status_code == 404
    assert (await ada.get(f"{API}/sources/all/{made['pk']}/")).status_code == 404


_URL = ["Enter a valid URL."]
_FILTER = ["Enter a valid LDAP filter, its parentheses balanced."]
_GONE = [f'Invalid pk "{NOWHERE}" - object does not exist.']

REFUSED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("ldap", {"server_uri": "http://h"}, {"server_uri": _URL}),
    ("ldap", {"server_uri": "ldap://h,ftp://h"}, {"server_uri": _URL}),
    ("ldap", {"user_object_filter": "(a=b", "group_object_filter": "a"}, {"user_object_filter": _FILTER, "group_object_filter": _FILTER}),
    ("ldap", {"user_object_filter": ""}, {"user_object_filter": ["This field may not be blank."]}),
    ("ldap", {"sync_parent_group": NOWHERE}, {"sync_parent_group": _GONE}),
    ("ldap", {"property_mappings": [NOWHERE]}, {"property_mappings": _GONE}),
    ("ldap", {"peer_certificate": NOWHERE}, {"peer_certificate": _GONE}),
    ("ldap", {"authentication_flow": NOWHERE}, {"authentication_flow": _GONE}),
    ("ldap", {"slug": "no spaces"}, {"slug": ["Enter a valid 'slug' consisting of letters, numbers, underscores or hyphens."]}),
    ("oauth", {"provider_type": "friendster"}, {"provider_type": ['"friendster" is not a valid choice.']}),
    ("oauth", {"pkce": "S512"}, {"pkce": ['"S512" is not a valid choice.']}),
    ("oauth", {"authorization_url": "javascript:alert(1)"}, {"authorization_url": _URL}),
    ("oauth", {"profile_url": "https://e.example/" + "x" * 250}, {"profile_url": ["Ensure this field has no more than 255 characters."]}),
    ("oauth", {"consumer_secret": ""}, {"consumer_secret": ["This field may not be blank."]}),
    ("oauth", {"oidc_well_known_url": "id.example.org"}, {"oidc_well_known_url": _URL}),
    ("saml", {"signing_kp": NOWHERE}, {"signing_kp": _GONE}),
    ("saml", {"signing_kp": None}, {"signing_kp": ["This field may not be null."]}),
    ("saml", {"verification_kp": NOWHERE}, {"verification_kp": _GONE}),
    ("saml", {"temporary_user_delete_after": "days=0"}, {"temporary_user_delete_after": ["Ensure this value is greater than or equal to seconds=1."]}),
    ("saml", {"temporary_user_delete_after": "1 day"}, {"temporary_user_delete_after": ["1 day is not in the correct format of 'hours=3;minutes=1'."]}),
    ("saml", {"temporary_user_delete_after": ""}, {"temporary_user_delete_after": ["This field may not be blank."]}),
    ("saml", {"binding_type": "PIGEON"}, {"binding_type": ['"PIGEON" is not a valid choice.']}),
    ("saml", {"sso_url": "x"}, {"sso_url": _URL}),
    ("saml", {"signed_assertion": False}, {"non_field_errors": ["At least one of signed_assertion and signed_response must be true."]}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "change", "complaint"), REFUSED)
async def test_what_a_source_refuses(town: Town, kind: str, change: dict[str, Any], complaint: dict[str, Any]) -> None:
    ada = await owner_of(town)
    good: dict[str, Any] = {"name": "x", "slug": new_name("x")}
    good |= {"ldap": LDAP, "oauth": OAUTH, "saml": {"sso_url": "https://id.example.org/sso"}}.get(kind, {})
    if kind == "saml":
        good["signing_kp"] = (await make_pair(ada))["pk"]

    answer = await ada.call("POST", f"{API}/sources/{kind}/", json=good | change)

    assert answer.status_code == 400
    assert answer.json() == complaint


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("ldap", ["name", "slug", *LDAP]),
        ("oauth", ["name", "slug", *OAUTH]),
        ("saml", ["name", "slug", "sso_url", "signing_kp"]),
    ],
)
async def test_what_a_source_needs(town: Town, kind: str, names: list[str]) -> None:
    ada = await owner_of(town)

    answer = await ada.call("POST", f"{API}/sources/{kind}/", json={})

    assert answer.json() == dict.fromkeys(names, REQUIRED)


@pytest.mark.parametrize(
    ("provider_type", "names"),
    [
        ("openid-connect", ["authorization_url", "access_token_url", "consumer_key", "consumer_secret"]),
        ("mailcow", ["authorization_url", "access_token_url", "profile_url", "consumer_key", "consumer_secret"]),
        ("github", ["consumer_key", "consumer_secret"]),
    ],
)
async def test_what_is_not_known_of_a_service_is_needed(town: Town, provider_type: str, names: list[str]) -> None:
    ada = await owner_of(town)
    given = {"name": "x", "slug": new_name("x"), "provider_type": provider_type}

    answer = await ada.call("POST", f"{API}/sources/oauth/", json=given)

    assert answer.json() == dict.fromkeys(names, REQUIRED)


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("oauth", {"provider_type": "entraid"}, {"provider_type": "azure-ad"}),
        ("oauth", {"provider_type": "openidconnect"}, {"provider_type": "openid-connect"}),
        ("saml", {"issuer_override": "urn:us"}, {"issuer": "urn:us"}),
        ("saml", {"binding_type": "POST_AUTO"}, {"binding_type": "POST_AUTO"}),
        (
            "saml",
            {"digest_algorithm": "http://www.w3.org/2001/04/xmlenc#sha512"},
            {"digest_algorithm": "sha512"},
        ),
        ("ldap", {"server_uri": "ldap://a, ldaps://b:636"}, {"server_uri": "ldap://a, ldaps://b:636"}),
    ],
)
async def test_sources_take_old_and_new_words(
    town: Town, kind: str, given: dict[str, Any], told: dict[str, Any]
) -> None:
    ada = await owner_of(town)

    made = await make_source(ada, kind, **given)

    assert {name: made[name] for name in told} == told


async def test_an_oauth_source_tells_where_people_come_back_to(town: Town) -> None:
    ada = await owner_of(town)

    made = await make_source(ada, "oauth")

    assert made["callback_url"] == f"{town.base_url}/source/oauth/callback/{made['slug']}/"


async def test_two_sources_cannot_share_a_slug(town: Town) -> None:
    ada = await owner_of(town)
    made = await make_source(ada, "ldap")

    answer = await ada.call("POST", f"{API}/sources/oauth/", json=OAUTH | {"name": "x", "slug": made["slug"]})

    assert answer.json() == {"slug": ["This field must be unique."]}


async def test_a_source_takes_flows_and_mappings_made_for_the_purpose_and_forgets_flows(town: Town) -> None:
    ada = await owner_of(town)
    flow, wrong = await make_flow(ada, "enrollment"), await make_flow(ada, "recovery")
    made = await make_source(ada, "ldap", enrollment_flow=flow["pk"])
    item = f"{API}/sources/ldap/{made['pk']}/"

    unfit = await ada.call("PATCH", item, json={"enrollment_flow": wrong["pk"]})
    await ada.call("DELETE", f"{API}/flows/instances/{flow['pk']}/")

    assert unfit.json() == {"enrollment_flow": [f'Invalid pk "{wrong["pk"]}" - object does not exist.']}
    assert (await ada.get(item)).json()["enrollment_flow"] is None


async def test_a_directory_is_read_with_directory_mappings_only(town: Town) -> None:
    ada = await owner_of(town)
    fit = await make(
        ada, "/propertymappings/ldap/", name=new_name("m"), expression="return ldap.get('x')", object_field="name"
    )
    unfit = await make(ada, "/propertymappings/saml/", name=new_name("m"), expression="return 1", saml_name="x")
    made = await make_source(ada, "ldap", property_mappings=[fit["pk"]])

    refused = await ada.call("PATCH", f"{API}/sources/ldap/{made['pk']}/", json={"property_mappings": [unfit["pk"]]})

    assert made["property_mappings"] == [fit["pk"]]
    assert refused.json() == {"property_mappings": [f'Invalid pk "{unfit["pk"]}" - object does not exist.']}


@pytest.mark.parametrize(
    ("kind", "field"), [("saml", "signing_kp"), ("saml", "verification_kp"), ("ldap", "peer_certificate")]
)
async def test_a_key_pair_that_a_source_uses_stays(town: Town, kind: str, field: str) -> None:
    ada = await owner_of(town)
    pair = await make_pair(ada)
    made = await make_source(ada, kind, **{field: pair["pk"]})
    item = f"{API}/crypto/certificatekeypairs/{pair['pk']}/"

    refused = await ada.call("DELETE", item)
    await ada.call("DELETE", f"{API}/sources/{kind}/{made['pk']}/")
    gone = await ada.call("DELETE", item)

    assert refused.status_code == 409
    assert [one["pk"] for one in refused.json()["references"]] == [made["pk"]]
    assert gone.status_code == 204


async def test_a_source_is_a_target_of_policies_until_it_goes(town: Town) -> None:
    ada = await owner_of(town)
    made = await make_source(ada, "oauth")
    policy = await make(ada, "/policies/dummy/", name=new_name("policy"))
    await make(ada, "/policies/bindings/", policy=policy["pk"], target=made["pbm_uuid"], order=0)

    told = (await ada.get(f"{API}/sources/oauth/{made['pk']}/")).json()
    await ada.call("DELETE", f"{API}/sources/oauth/{made['pk']}/")

    assert told["policies"] == [policy["pk"]]
    assert await results(ada, "/policies/bindings/", policy=policy["pk"]) == []


async def test_one_directory_at_most_gets_passwords_back(town: Town) -> None:
    ada = await owner_of(town)
    first, second = await make_source(ada, "ldap", sync_users_password=True), await make_source(ada, "ldap")
    item = f"{API}/sources/ldap/{second['pk']}/"

    refused = await ada.call("PATCH", item, json={"sync_users_password": True})
    await ada.call("PATCH", f"{API}/sources/ldap/{first['pk']}/", json={"sync_users_password": False})
    allowed = await ada.call("PATCH", item, json={"sync_users_password": True})
    await ada.call("DELETE", item)

    assert refused.json() == {"sync_users_password": ["Only one LDAP source can write passwords back."]}
    assert allowed.status_code == 200


@pytest.mark.parametrize("kind", ["ldap", "oauth", "saml", "scim"])
async def test_only_superusers_decide_whom_a_source_takes_people_for(town: Town, kind: str) -> None:
    ada = await owner_of(town)
    bob = await person_who_may(town, ada, *(f"sources.{verb}_{kind}source" for verb in ("add", "change", "delete")))
    made = await make_source(ada, kind)
    item, given = f"{API}/sources/{kind}/{made['pk']}/", {"ldap": LDAP, "oauth": OAUTH}.get(kind, {})
    moved = {"ldap": {"base_dn": "dc=evil"}, "oauth": {"consumer_key": "x"}, "saml": {"issuer": "x"}}
    new = {"name": "x", "slug": new_name("x")}
    changes: tuple[dict[str, Any], ...] = (
        {"user_matching_mode": "username_link"},
        {"enabled": False},
        {"slug": new_name("x")},
        moved.get(kind, {"group_matching_mode": "name_link"}),
    )

    for change in changes:
        assert (await bob.call("PATCH", item, json=change)).status_code == 403, change
    assert (await bob.call("DELETE", item)).status_code == 403
    if kind == "scim":
        assert (await bob.call("POST", f"{item}new_token/")).status_code == 403
    assert (await bob.call("PATCH", item, json={"name": "Another name", "promoted": True})).status_code == 200
    if kind != "saml":
        refused = await bob.call("POST", f"{API}/sources/{kind}/", json=given | new)
        assert refused.status_code == 403, refused.text
