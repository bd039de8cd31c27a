"""What people may do within an application: granted by bindings, told to the application."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select

from kith.base.db import any_of, query
from kith.identity.policies.bindings import bindings
from kith.identity.rest.policy_targets import policy_targets
from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.relying_party import make_party, signed_in
from tests.town import Person, Town

PATH = "/core/application_entitlements/"


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def _user(owner: Person, person: Person) -> dict[str, Any]:
    [found] = await results(owner, "/core/users/", username=person.username)
    return found


async def _entitle(owner: Person, app: dict[str, Any], name: str, **grant: Any) -> dict[str, Any]:
    made = await make(owner, PATH, name=name, app=app["pbm_uuid"], attributes={"of": name})
    if grant:
        await make(owner, "/policies/bindings/", target=made["pbm_uuid"], order=0, **grant)
    return made


async def test_an_application_is_told_what_somebody_may_do_there(town: Town, ada: Person) -> None:
    person, browser = await signed_in(town)
    user, other = await _user(ada, person), await _user(ada, await town.sign_up())
    above = await make(ada, "/core/groups/", name=new_name("above"), parent=None, user_set=[])
    below = await make(ada, "/core/groups/", name=new_name("below"), parent=above["pk"], user_set=[user["pk"]])
    aside = await make(ada, "/core/groups/", name=new_name("aside"), parent=None, user_set=[])
    party = await make_party(town, ada)
    elsewhere = await make_party(town, ada)
    app = party.application
    await _entitle(ada, app, "by-name", user=user["pk"])
    await _entitle(ada, app, "by-group", group=below["pk"])
    await _entitle(ada, app, "by-group-above", group=above["pk"])
    await _entitle(ada, app, "all-but-others", user=other["pk"], negate=True)
    await _entitle(ada, app, "not-them", user=user["pk"], negate=True)
    await _entitle(ada, app, "others", user=other["pk"])
    await _entitle(ada, app, "other-group", group=aside["pk"])
    await _entitle(ada, app, "switched-off", user=user["pk"], enabled=False)
    await _entitle(ada, app, "unbound")
    await _entitle(ada, elsewhere.application, "of-another-application", user=user["pk"])

    tokens = await party.tokens(browser, scope="openid profile entitlements")
    claims = await party.read(tokens["id_token"])
    about = (await party.userinfo(tokens["access_token"])).json()
    plain = await party.read((await party.tokens(browser, scope="openid profile"))["id_token"])
    whole = await party.read((await party.tokens(browser, scope=""))["id_token"])

    expected = ["all-but-others", "by-group", "by-group-above", "by-name"]
    for told in (claims, about):
        assert (told["entitlements"], told["roles"]) == (expected, expected)
    assert not {"entitlements", "roles"} & (set(plain) | set(whole))
    metadata = (await town.http.get(f"/application/o/{party.slug}/.well-known/openid-configuration")).json()
    assert "entitlements" in metadata["scopes_supported"]


async def test_what_is_taken_away_is_told_no_more(town: Town, ada: Person) -> None:
    person, browser = await signed_in(town)
    user = await _user(ada, person)
    party = await make_party(town, ada)
    made = await _entitle(ada, party.application, "write", user=user["pk"])
    token = (await party.tokens(browser, scope="openid entitlements"))["access_token"]
    [binding] = await results(ada, "/policies/bindings/", target=made["pbm_uuid"])

    before = (await party.userinfo(token)).json()["entitlements"]
    await ada.call("DELETE", f"{API}/policies/bindings/{binding['pk']}/")
    after = (await party.userinfo(token)).json()["entitlements"]

    assert (before, after) == (["write"], [])


async def test_mappings_know_the_entitlements(town: Town, ada: Person) -> None:
    person, browser = await signed_in(town)
    user = await _user(ada, person)
    expression = (
        "return {'may': [(one.name, one.attributes['of']) for one in entitlements], 'at': provider.application.slug,"
        " 'asked': [one.name for one in request.user.app_entitlements(provider.application)]}"
    )
    own = await make(ada, "/propertymappings/scope/", name=new_name("m"), scope_name="own", expression=expression)
    [shipped] = await results(ada, "/propertymappings/scope/", scope_name="entitlements")
    party = await make_party(town, ada, property_mappings=[own["pk"], shipped["pk"]])
    await _entitle(ada, party.application, "read", user=user["pk"])

    claims = await party.read((await party.tokens(browser, scope="openid own entitlements"))["id_token"])

    assert (claims["may"], claims["at"]) == ([["read", "read"]], party.slug)
    assert claims["asked"] == ["read"]
    assert claims["entitlements"] == claims["roles"] == ["read"]


async def test_saml_services_are_told_by_their_mappings(town: Town, ada: Person) -> None:
    user = await _user(ada, await town.sign_up())
    [mapping] = await results(ada, "/propertymappings/saml/", saml_name="urn:oid:1.3.6.1.4.1.5923.1.1.1.7")
    name = new_name("saml")
    sent = {"name": name, "acs_url": "https://sp.example/acs", "issuer": "kith", "property_mappings": [mapping["pk"]]}
    provider = await make(ada, "/providers/saml/", **sent)
    app = await make(ada, "/core/applications/", name=name, slug=name, provider=provider["pk"])
    for word in ("read", "write"):
        await _entitle(ada, app, word, user=user["pk"])

    shown = await ada.get(f"{API}/providers/saml/{provider['pk']}/preview_user/?for_user={user['pk']}")

    [attribute] = shown.json()["preview"]["attributes"]
    assert attribute["Value"] == ["read", "write"]


async def test_a_name_is_unique_within_an_application(town: Town, ada: Person) -> None:
    one, other = [(await make_party(town, ada)).application for _ in range(2)]
    await _entitle(ada, one, "read")

    again = await ada.call("POST", API + PATH, json={"name": "read", "app": one["pbm_uuid"]})
    await _entitle(ada, other, "read")

    assert again.status_code == 400
    assert again.json() == {"non_field_errors": ["The fields app, name must make a unique set."]}


async def test_policies_cannot_be_bound_to_an_entitlement(town: Town, ada: Person) -> None:
    made = await _entitle(ada, (await make_party(town, ada)).application, "read")
    policy = await make(ada, "/policies/dummy/", name=new_name("p"), result=True)

    sent = {"policy": policy["pk"], "target": made["pbm_uuid"], "order": 0}
    answer = await ada.call("POST", f"{API}/policies/bindings/", json=sent)

    assert answer.status_code == 400
    assert list(answer.json()) == ["policy"]


async def test_entitlements_and_their_bindings_go_with_the_application(town: Town, ada: Person) -> None:
    user = await _user(ada, await town.sign_up())
    party = await make_party(town, ada)
    made = [await _entitle(ada, party.application, word, user=user["pk"]) for word in ("read", "write")]
    ids = [one["pbm_uuid"] for one in made]

    answer = await ada.call("DELETE", f"{API}/core/applications/{party.application['pk']}/")

    assert answer.status_code == 204
    assert (await ada.get(f"{API}{PATH}{ids[0]}/")).status_code == 404
    left = [
        query(select(func.count()).select_from(table).where(any_of(column, "ids")), int)
        for table, column in ((policy_targets, policy_targets.c.pbm_uuid), (bindings, bindings.c.target))
    ]
    async with town.house() as house, house.works.begin() as work:
        assert [await work.db.all(statement, ids=ids) for statement in left] == [[0], [0]]


async def test_only_those_with_the_right_may_grant(town: Town, ada: Person) -> None:
    person = await town.sign_up()
    app = (await make_party(town, ada)).application

    answer = await person.call("POST", API + PATH, json={"name": "root", "app": app["pbm_uuid"]})

    assert answer.status_code == 403
