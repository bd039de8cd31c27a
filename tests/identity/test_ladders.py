"""Ways by which somebody with little came to much, each walked to its end."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from sqlalchemy import bindparam, update

from kith.base.db import command
from kith.identity.authority.powers import power_of
from kith.identity.collections import RESOURCES
from kith.identity.rest.fields import URL, Secret
from kith.identity.sources.family import sources
from kith.identity.users import service
from kith.identity.users import store as users
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.identity.record_maker import BY_PATH, Maker
from tests.identity.records import API, grant, make, make_flow, make_stage, new_name, owner_of, person_who_may, results
from tests.identity.saml_idps import Claim, IdentityProvider, make_source
from tests.identity.saml_keys import pair
from tests.identity.saml_services import store_pair
from tests.identity.scim_service import GROUP, Service, make_service
from tests.social.staff import employ, employ_as
from tests.town import Person, Town

VERBS = ("add", "change", "delete")
_WEBHOOK = "notificationwebhookmapping"


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


def rights(area: str, *records: str) -> list[str]:
    return [f"{area}.{verb}_{record}" for record in records for verb in (*VERBS, "view")]


async def pk_of(ada: Person, person: Person) -> int:
    [found] = await results(ada, "/core/users/", username=person.username)
    return int(found["pk"])


async def refuse_all(person: Person, *calls: tuple[str, str, Any], expect: int = 403) -> None:
    for method, path, body in calls:
        answer = await person.call(method, API + path, json=body)
        assert answer.status_code == expect, (method, path, body, answer.text)


def test_every_collection_says_what_it_leads_to() -> None:
    for resource in RESOURCES:
        assert power_of(resource).leads_to.endswith("."), resource.path


# Keys


async def test_a_certificate_that_a_source_trusts_is_not_replaced(town: Town, ada: Person) -> None:
    """Otherwise whoever has the key of the new one comes in as anybody whom the source knows."""
    idp, victim, evil = await make_source(town), await town.sign_up(role="administrator"), pair("evil")
    hers = {"user": await pk_of(ada, victim), "source": idp.source["pk"], "identifier": "root there"}
    await make(ada, "/sources/user_connections/saml/", **hers)
    keeper = await person_who_may(town, ada, *rights("crypto", "certificatekeypair"))
    item = f"/crypto/certificatekeypairs/{idp.source['verification_kp']}/"
    new = {"name": "mine", "certificate_data": evil.certificate}

    await refuse_all(
        keeper,
        ("PATCH", item, {"certificate_data": evil.certificate}),
        ("PATCH", item, {"key_data": ""}),
        ("PUT", item, new),
        ("DELETE", item, None),
    )
    browser, false = Browser(town), IdentityProvider(town, idp.source, evil)
    claim = Claim(name="root there", in_response_to=(await false.asked(browser)).get("ID"))
    answer = await false.post(false.response(claim))
    if answer.status_code == 302:
        await browser.http.get(answer.headers["location"])
    assert await browser.who() is None

    own = await make(keeper, "/crypto/certificatekeypairs/", name=new_name("k"), certificate_data=evil.certificate)
    other = {"certificate_data": pair("other").certificate}
    mine = f"{API}/crypto/certificatekeypairs/{own['pk']}/"
    assert (await keeper.call("PATCH", mine, json=other)).status_code == 200
    assert (await keeper.call("PATCH", API + item, json={"name": new_name("called")})).status_code == 200
    assert (await keeper.call("DELETE", mine)).status_code == 204


async def test_a_provider_signs_with_nobody_elses_key(town: Town, ada: Person) -> None:
    """A service takes what was signed for another, if the one who signs lets others write its name into it."""
    maker = await person_who_may(town, ada, *rights("providers", "samlprovider"))
    used, free = await store_pair(ada, pair("used")), await store_pair(ada, pair("free"))
    given = {"acs_url": "https://sp.example/acs", "issuer": "kith", "audience": "https://sp.example/"}
    await make(ada, "/providers/saml/", name=new_name("p"), signing_kp=used, **given)

    await refuse_all(maker, ("POST", "/providers/saml/", given | {"name": new_name("p"), "signing_kp": used}))
    own = await make(maker, "/providers/saml/", name=new_name("p"), signing_kp=free, **given)
    await refuse_all(maker, ("PATCH", f"/providers/saml/{own['pk']}/", {"signing_kp": used}))
    form = {"name": new_name("p"), "signing_kp": used}
    metadata = (
        '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://sp.example/"><SPSSODescriptor'
        ' protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><AssertionConsumerService index="0"'
        ' Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://evil.example/acs"/>'
        "</SPSSODescriptor></EntityDescriptor>"
    )
    url = f"{API}/providers/saml/import_metadata/"
    sent = await maker.call("POST", url, data=form, files={"file": ("m.xml", metadata, "text/xml")})
    assert sent.status_code == 403, sent.text


# Sources


async def test_the_token_of_a_service_is_for_superusers(town: Town, ada: Person) -> None:
    hr = await make_service(town)
    clerk = await person_who_may(town, ada, *rights("sources", "scimsource"))

    await refuse_all(
        clerk,
        ("POST", f"/sources/scim/{hr.source['pk']}/new_token/", None),
        ("POST", "/sources/scim/", {"name": "x", "slug": new_name("x"), "group_matching_mode": "name_link"}),
        ("PATCH", f"/sources/scim/{hr.source['pk']}/", {"group_matching_mode": "name_link"}),
    )
    assert (await hr.send("GET", "/Users")).status_code == 200


async def set_up_by(town: Town, service: Service, user_id: int | None) -> None:
    """As if this person had set the source up; None: nobody knows who did."""
    write = command(update(sources).where(sources.c.pbm_uuid == bindparam("pk")).values(set_up_by=bindparam("by")))
    async with town.house() as house, house.works.begin() as work:
        await work.db.run(write, pk=service.source["pk"], by=user_id)


async def risen(town: Town, ada: Person, service: Service, role: Any) -> tuple[dict[str, Any], int]:
    """Somebody whom the service has made, and who became more since."""
    name = new_name("sol").replace("-", "_")
    made = await service.add(name, emails=[{"value": f"{name}@example.org", "primary": True}])
    [found] = await results(ada, "/core/users/", username=name)
    async with town.house() as house, house.works.begin() as work:
        await service_role(work, found["pk"], role)
    return made, found["pk"]


async def service_role(work: Any, user_id: int, role: Any) -> None:
    await service.set_role(work, await users.get(work.db, user_id), role)


@pytest.mark.parametrize(("setter", "role", "reaches"), [
    ("unknown", "administrator", False),
    ("unknown", "user", True),
    ("clerk", "administrator", False),
    ("clerk", "clerk above", False),
    ("administrator", "administrator", True),
    ("administrator", "owner", False),
    ("owner", "owner", True),
])  # fmt: skip
async def test_a_service_changes_nobody_above_whoever_set_it_up(
    town: Town, ada: Person, setter: str, role: str, reaches: bool
) -> None:
    hr = await make_service(town)
    by: int | None = None
    if setter == "clerk":
        by = await pk_of(ada, await person_who_may(town, ada, "core.view_user"))
    elif setter != "unknown":
        by = await pk_of(ada, await town.sign_up(role=setter))  # type: ignore[arg-type]
    await set_up_by(town, hr, by)
    made, pk = await risen(town, ada, hr, "user" if role == "clerk above" else role)
    if role == "clerk above":
        granted = await make(ada, "/rbac/roles/", name=new_name("r"), permissions=["core.delete_user"])
        await ada.call("PATCH", f"{API}/core/users/{pk}/", json={"roles": [granted["pk"]]})
    before = (await ada.get(f"{API}/core/users/{pk}/")).json()
    place = f"/Users/{made['id']}"
    evil = [{"value": f"{new_name('evil')}@example.org", "primary": True}]
    expected = 200 if reaches else 403

    for operation in (
        {"op": "replace", "path": "emails", "value": evil},
        {"op": "replace", "path": "displayName", "value": "Somebody else"},
        {"op": "replace", "path": "userName", "value": new_name("other").replace("-", "_")},
        {"op": "replace", "path": "active", "value": False},
    ):
        await hr.patch(place, operation, expect=expected)
    after = (await ada.get(f"{API}/core/users/{pk}/")).json()
    gone = await hr.send("DELETE", place)

    assert gone.status_code == (204 if reaches else 403)
    names = ("username", "name", "email", "email_verified", "is_active")
    if reaches:
        assert (after["email"], after["is_active"]) == (evil[0]["value"], False)
    else:
        assert {name: after[name] for name in names} == {name: before[name] for name in names}
        assert (await ada.get(f"{API}/core/users/{pk}/")).json()["is_active"] is True


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_service_takes_no_group_beyond_its_reach_and_deletes_none_it_has_not_made(
    town: Town, ada: Person, is_known: bool
) -> None:
    hr = await make_service(town, group_matching_mode="name_link")
    if not is_known:
        await set_up_by(town, hr, None)
    role = (await make(ada, "/rbac/roles/", name=new_name("r"), permissions=["core.delete_user"]))["pk"]
    great = await make(ada, "/core/groups/", name=new_name("great"), roles=[role])
    plain = await make(ada, "/core/groups/", name=new_name("plain"))

    async def take(group: dict[str, Any]) -> httpx.Response:
        return await hr.send("POST", "/Groups", json={"schemas": [GROUP], "displayName": group["name"]})

    taken, linked = await take(great), await take(plain)
    assert (taken.status_code, linked.status_code) == (201 if is_known else 409, 201)
    for answer in (taken, linked):
        if answer.status_code == 201:
            assert (await hr.send("DELETE", f"/Groups/{answer.json()['id']}")).status_code == 204
    own = await hr.call("POST", "/Groups", {"schemas": [GROUP], "displayName": new_name("own")}, 201)
    assert (await hr.send("DELETE", f"/Groups/{own['id']}")).status_code == 204

    for group in (great, plain):
        assert (await ada.get(f"{API}/core/groups/{group['pk']}/")).json()["roles"] == group["roles"]
    assert await results(ada, "/core/groups/", name=own["displayName"]) == []


@pytest.mark.parametrize("is_known", [True, False])
async def test_whoever_comes_through_a_source_is_not_taken_for_somebody_above_its_setter(
    town: Town, ada: Person, is_known: bool
) -> None:
    idp = await make_source(town, user_matching_mode="username_link")
    if not is_known:
        await set_up_by(town, Service(idp.source, "none"), None)
    victim = await town.sign_up(role="administrator")
    browser = Browser(town)

    await idp.sign_in(browser, Claim(name=new_name("x"), attributes={"username": [victim.username]}))

    assert await browser.who() == (victim.username if is_known else None)


async def test_what_links_somebody_mightier_stays(town: Town, ada: Person) -> None:
    idp, victim, bob = await make_source(town), await town.sign_up(role="administrator"), await town.sign_up()
    clerk = await person_who_may(town, ada, *rights("sources", "usersourceconnection", "usersamlsourceconnection"))
    linked = []
    for person in (victim, bob):
        given = {"user": await pk_of(ada, person), "source": idp.source["pk"], "identifier": new_name("i")}
        linked.append(await make(ada, "/sources/user_connections/saml/", **given))

    for kind in ("all", "saml"):
        await refuse_all(clerk, ("DELETE", f"/sources/user_connections/{kind}/{linked[0]['pk']}/", None))
    moved = {"user": await pk_of(ada, victim)}
    await refuse_all(clerk, ("PATCH", f"/sources/user_connections/saml/{linked[1]['pk']}/", moved))
    answer = await clerk.call("DELETE", f"{API}/sources/user_connections/saml/{linked[1]['pk']}/")
    assert answer.status_code == 204


# Hosts


@pytest.mark.parametrize(("fields", "is_free"), [
    ({"external_host": "https://{app}/evil"}, False),
    ({"external_host": "https://{app}:8443"}, False),
    ({"external_host": "https://{app}.", "mode": "forward_single", "internal_host": ""}, False),
    ({"external_host": "https://{app}.:8443"}, False),
    ({"external_host": "https://127.9:8443"}, False),
    ({"external_host": "https://2130706441:8443"}, False),
    ({"external_host": "https://[::ffff:127.0.0.9]"}, False),
    ({"external_host": "https://{brand}"}, False),
    ({"external_host": "{own}/evil", "mode": "forward_single", "internal_host": ""}, False),
    ({"external_host": "https://sub.{domain}", "mode": "forward_single", "internal_host": ""}, False),
    ({"external_host": "https://sub.{domain}", "mode": "forward_domain", "cookie_domain": "sub.{domain}",
      "internal_host": ""}, False),
    ({"external_host": "https://x.{app}", "mode": "forward_domain", "cookie_domain": "{app}", "internal_host": ""},
     False),
    ({"external_host": "https://{free}"}, True),
    ({"external_host": "https://{free}", "mode": "forward_domain", "cookie_domain": "{free}", "internal_host": ""},
     True),
])  # fmt: skip
async def test_a_gateway_stands_at_no_place_that_another_has(
    town: Town, ada: Person, fields: dict[str, str], is_free: bool
) -> None:
    hosts = {name: f"{new_name(name)}.example" for name in ("app", "brand", "domain", "free")} | {"own": town.base_url}
    path, inside = "/providers/applicationgateway/", "http://93.184.215.14"
    await make(ada, path, name=new_name("g"), internal_host=inside, external_host=f"https://{hosts['app']}")
    domain = {"mode": "forward_domain", "cookie_domain": hosts["domain"], "internal_host": ""}
    await make(ada, path, name=new_name("g"), external_host=f"https://auth.{hosts['domain']}", **domain)
    await make(ada, "/core/brands/", domain=hosts["brand"])
    address = {"internal_host": inside, "external_host": "https://127.0.0.9"}
    if not await results(ada, path, external_host=address["external_host"]):
        await make(ada, path, name=new_name("g"), **address)
    maker = await person_who_may(town, ada, *rights("providers", "applicationgatewayprovider"))
    own = await make(
        maker, path, name=new_name("g"), internal_host=inside, external_host=f"https://{new_name('m')}.example"
    )
    given = {"name": new_name("g"), "internal_host": inside} | {
        name: value.format(**hosts) for name, value in fields.items()
    }

    moved = await maker.call("PATCH", f"{API}{path}{own['pk']}/", json=given)
    if moved.is_success:
        await maker.call("DELETE", f"{API}{path}{own['pk']}/")
    new = await maker.call("POST", API + path, json=given | {"name": new_name("g")})

    assert (moved.status_code, new.status_code) == ((200, 201) if is_free else (403, 403)), (moved.text, new.text)


async def test_headers_behind_a_gateway_are_not_a_group_managers_to_add(town: Town, ada: Person) -> None:
    """An application believes them: one says, perhaps, that somebody is its administrator."""
    attributes = {"team": "blue", "additionalHeaders": {"X-Role": "admin"}}
    team = await make(ada, "/core/groups/", name=new_name("t"), attributes=attributes)
    own = rights("core", "group", "user")
    clerk, bob = await person_who_may(town, ada, *own), await pk_of(ada, await town.sign_up())
    group, person = f"/core/groups/{team['pk']}/", f"/core/users/{bob}/"
    evil = {"attributes": {"additionalHeaders": {"X-Role": "owner"}}}

    await refuse_all(
        clerk,
        ("PATCH", group, evil),
        ("PATCH", group, {"attributes": {}}),
        ("PATCH", person, evil),
        ("POST", "/core/groups/", {"name": new_name("t")} | evil),
        ("POST", "/core/users/", {"username": new_name("u").replace("-", "_"), "name": "U"} | evil),
    )
    plain = {"attributes": attributes | {"team": "red"}}
    assert (await clerk.call("PATCH", API + group, json=plain)).status_code == 200
    await grant(ada, clerk, *own, "providers.change_applicationgatewayprovider")
    assert (await clerk.call("PATCH", API + group, json=evil)).status_code == 200


async def test_what_a_gateway_signs_in_with_is_not_a_clerks_to_choose(town: Town, ada: Person) -> None:
    """The application is told this name and a password that a group may share."""
    name, attribute = new_name("basic"), f"login_{new_name('a')}"
    await make(
        ada, "/providers/applicationgateway/", name=name, internal_host="http://inside.example",
        external_host=f"https://{name}.example.org", basic_auth_enabled=True, basic_auth_user_attribute=attribute,
        basic_auth_password_attribute=f"{attribute}_password",
    )  # fmt: skip
    clerk = await person_who_may(town, ada, *rights("core", "group", "user"))
    mine = f"/core/users/{await pk_of(ada, clerk)}/"

    for evil in ({attribute: "admin"}, {f"{attribute}_password": "known"}):
        await refuse_all(
            clerk,
            ("PATCH", mine, {"attributes": evil}),
            ("POST", "/core/groups/", {"name": new_name("g"), "attributes": evil}),
        )
    assert (await clerk.call("PATCH", API + mine, json={"attributes": {"desk": "3"}})).status_code == 200


async def test_a_directory_tree_has_one_provider(town: Town, ada: Person) -> None:
    tree = f"dc={new_name('tree')},dc=example"
    await make(ada, "/providers/ldap/", name=new_name("l"), base_dn=tree)
    maker = await person_who_may(town, ada, *rights("providers", "ldapprovider"))
    own = await make(maker, "/providers/ldap/", name=new_name("l"), base_dn=f"dc={new_name('tree')},dc=example")

    await refuse_all(
        maker,
        ("POST", "/providers/ldap/", {"name": new_name("l"), "base_dn": tree.upper()}),
        ("PATCH", f"/providers/ldap/{own['pk']}/", {"base_dn": tree}),
    )


# What decides how people sign in


async def test_a_group_by_which_people_sign_in_is_for_superusers(town: Town, ada: Person) -> None:
    """Whoever is not in it might be let in without a second factor, say."""
    careful, by_name = (
        await make(ada, "/core/groups/", name=new_name("c")),
        await make(ada, "/core/groups/", name=new_name("n")),
    )
    below = await make(ada, "/core/groups/", name=new_name("b"), parent=careful["pk"])
    flow, stage = await make_flow(ada, "authentication"), await make_stage(ada)
    place = await make(ada, "/flows/bindings/", flow=flow["pk"], stage=stage["stage_uuid"], order=0)
    await make(ada, "/policies/bindings/", target=place["pbm_uuid"], group=careful["pk"], order=0)
    expression = f'return ak_is_group_member(request.user, name="{by_name["name"]}")'
    policy = await make(ada, "/policies/expression/", name=new_name("p"), expression=expression)
    await make(ada, "/policies/bindings/", target=place["pbm_uuid"], policy=policy["pk"], order=1)
    clerk = await person_who_may(town, ada, *rights("core", "group", "user", "accessoffer"))
    mine = await pk_of(ada, clerk)
    own = await make(clerk, "/core/groups/", name=new_name("own"))

    for group in (careful, below, by_name):
        pk = group["pk"]
        await refuse_all(
            clerk,
            ("PATCH", f"/core/groups/{pk}/", {"user_set": [mine]}),
            ("PATCH", f"/core/groups/{pk}/", {"name": new_name("x")}),
            ("POST", f"/core/groups/{pk}/add_user/", {"pk": mine}),
            ("POST", f"/core/groups/{pk}/remove_user/", {"pk": mine}),
            ("PATCH", f"/core/users/{mine}/", {"groups": [pk]}),
            ("PATCH", f"/core/groups/{own['pk']}/", {"parent": pk}),
            ("POST", "/core/access_offers/", {"group": pk, "approvers": [mine]}),
            ("DELETE", f"/core/groups/{pk}/", None),
        )
    assert (await clerk.call("DELETE", f"{API}/core/groups/{own['pk']}/")).status_code == 204
    for one in (policy["pk"],):
        await ada.call("DELETE", f"{API}/policies/expression/{one}/")
    await ada.call("DELETE", f"{API}/flows/instances/{flow['pk']}/")


@pytest.mark.parametrize(
    ("expression", "is_any_meant"),
    [
        ('return ak_is_group_member(request.user, pk="{upper}")', False),
        ("return is_group_member(user, group_uuid='{plain}')", False),
        ('return any(one.name.lower() == "{name}" for one in user.groups.all())', True),
        ('return is_group_member(user, attributes={{"trusted": True}})', True),
        ('return is_group_member(user, name="Team %d" % 7)', True),
    ],
)
async def test_however_an_expression_finds_a_group_it_is_for_superusers(
    new_town: TownBuilder, expression: str, is_any_meant: bool
) -> None:
    town = await new_town()
    ada = await town.owner()
    office = await make(ada, "/core/groups/", name="Office")
    flow, stage = await make_flow(ada, "authentication"), await make_stage(ada)
    place = await make(ada, "/flows/bindings/", flow=flow["pk"], stage=stage["stage_uuid"], order=0)
    clerk = await person_who_may(town, ada, *rights("core", "group", "user"))
    mine, own = await pk_of(ada, clerk), await make(clerk, "/core/groups/", name=new_name("own"))
    text = expression.format(upper=office["pk"].upper(), plain=office["pk"].replace("-", ""), name="office")
    policy = await make(ada, "/policies/expression/", name=new_name("p"), expression=text)
    await make(ada, "/policies/bindings/", target=place["pbm_uuid"], policy=policy["pk"], order=1)

    await refuse_all(
        clerk,
        ("PATCH", f"/core/groups/{office['pk']}/", {"user_set": [mine]}),
        ("POST", f"/core/groups/{office['pk']}/add_user/", {"pk": mine}),
        ("PATCH", f"/core/users/{mine}/", {"groups": [office["pk"]]}),
    )
    answer = await clerk.call("POST", f"{API}/core/groups/{own['pk']}/add_user/", json={"pk": mine})
    assert answer.status_code == (403 if is_any_meant else 204), answer.text


async def test_a_gateway_leads_to_no_place_inside_that_only_the_operator_knows(new_town: TownBuilder) -> None:
    town = await new_town(private_hosts="10.1.1.1")
    ada = await town.owner()
    clerk = await person_who_may(town, ada, *rights("providers", "applicationgatewayprovider"))

    def gateway(upstream: str) -> dict[str, str]:
        name = new_name("gateway")
        return {"name": name, "internal_host": upstream, "external_host": f"https://{name}.example.org"}

    inside = (
        "http://127.0.0.1:5432",
        "http://169.254.169.254",
        "http://[::1]",
        "http://2130706433",
        "http://localhost:1",
    )
    await refuse_all(clerk, *(("POST", "/providers/applicationgateway/", gateway(one)) for one in inside))
    for allowed in ("http://10.1.1.1", "https://93.184.215.14", "http://app.internal"):
        made = await make(clerk, "/providers/applicationgateway/", **gateway(allowed))
    await refuse_all(clerk, ("PATCH", f"/providers/applicationgateway/{made['pk']}/", {"internal_host": inside[0]}))
    await make(ada, "/providers/applicationgateway/", **gateway(inside[0]))


async def test_a_group_that_a_source_or_a_step_names_is_not_a_clerks_to_delete(town: Town, ada: Person) -> None:
    """Superusers are told what names it, and decide about that first."""
    above, joined = [await make(ada, "/core/groups/", name=new_name("g")) for _ in range(2)]
    given = {
        "server_uri": "ldap://x.example",
        "bind_cn": "cn=x",
        "bind_password": "p",
        "base_dn": "dc=x",
        "enabled": False,
    }
    await make(ada, "/sources/ldap/", name="x", slug=new_name("x"), sync_parent_group=above["pk"], **given)
    await make_stage(ada, "user_write", create_users_group=joined["pk"])
    clerk = await person_who_may(town, ada, *rights("core", "group"))

    for group in (above, joined):
        await refuse_all(clerk, ("DELETE", f"/core/groups/{group['pk']}/", None))
        assert (await ada.call("DELETE", f"{API}/core/groups/{group['pk']}/")).status_code == 409


async def test_whoever_decides_who_is_a_superuser_is_nobodys_to_become(town: Town, ada: Person) -> None:
    """They have no permission of their own, but can let anybody into a group that makes superusers."""
    clerk = await person_who_may(
        town, ada, "core.view_user", "core.change_user", "core.add_token", "core.reset_user_password"
    )
    named, member, plain = [await pk_of(ada, await town.sign_up()) for _ in range(3)]
    mighty = await make(ada, "/core/groups/", name=new_name("mighty"), is_superuser=True)
    board = await make(ada, "/core/groups/", name=new_name("board"), user_set=[member])
    deciding = {"approvers": [named], "approver_groups": [board["pk"]]}
    await make(ada, "/core/access_offers/", group=mighty["pk"], longest="hours=4", **deciding)

    for one in (named, member):
        await refuse_all(
            clerk,
            ("PATCH", f"/core/users/{one}/", {"email": f"{new_name('mine')}@example.org"}),
            ("POST", f"/core/users/{one}/set_password/", {"password": "a password I know"}),
            ("POST", "/core/tokens/", {"identifier": new_name("t"), "user": one}),
        )
    answer = await clerk.call("PATCH", f"{API}/core/users/{plain}/", json={"name": "New"})
    assert answer.status_code == 200, answer.text


async def test_whoever_does_not_moderate_becomes_nobody_who_does(town: Town, ada: Person) -> None:
    """What somebody may do for the community is theirs as much as a permission."""
    clerk = await person_who_may(
        town, ada, "core.view_user", "core.change_user", "core.delete_user", "core.add_token",
        "core.reset_user_password", "core.lockdown_user",
    )  # fmt: skip
    moderator, plain = [await pk_of(ada, await town.sign_up(role=role)) for role in ("moderator", "user")]
    team = await employ_as(town, await employ(town, "owner"), 5, "manage_blocks")
    [by_role] = await results(ada, "/core/users/", username=team.name)

    for one in (moderator, by_role["pk"]):
        await refuse_all(
            clerk,
            ("POST", "/core/tokens/", {"identifier": new_name("t"), "user": one, "scopes": "read admin:read"}),
            ("PATCH", f"/core/users/{one}/", {"email": f"{new_name('mine')}@example.org"}),
            ("POST", f"/core/users/{one}/set_password/", {"password": "a password I know"}),
            ("POST", f"/core/users/{one}/lockdown/", {"reason": "mine"}),
            ("DELETE", f"/core/users/{one}/", None),
        )
    answer = await clerk.call("PATCH", f"{API}/core/users/{plain}/", json={"email": f"{new_name('new')}@example.org"})
    assert answer.status_code == 200, answer.text


async def test_a_policy_that_is_asked_by_its_name_is_for_superusers(new_town: TownBuilder) -> None:
    town = await new_town()
    ada = await owner_of(town)
    called = await make(ada, "/policies/dummy/", name="called", result=False)
    asks = await make(ada, "/policies/expression/", name="asks", expression='return ak_call_policy("called").passing')
    clerk = await person_who_may(town, ada, *rights("policies", "dummypolicy", "expressionpolicy"))
    item = f"{API}/policies/dummy/{called['pk']}/"
    assert (await clerk.call("PATCH", item, json={"wait_max": 9})).status_code == 200

    flow = await make_flow(ada, "authentication")
    await make(ada, "/policies/bindings/", target=flow["pbm_uuid"], policy=asks["pk"], order=0)

    assert (await clerk.call("PATCH", item, json={"result": True})).status_code == 403
    assert (await clerk.call("DELETE", item)).status_code == 403
    assert (await ada.call("DELETE", item)).status_code == 409

    asks = await make(ada, "/policies/expression/", name="more", expression='return call_policy("off" "ice").passing')
    await make(ada, "/policies/bindings/", target=flow["pbm_uuid"], policy=asks["pk"], order=1)
    await refuse_all(clerk, ("POST", "/policies/dummy/", {"name": "office", "result": True}))
    office = await make(ada, "/policies/expression/", name="office", expression="return call_policy('inner').passing")
    await refuse_all(clerk, ("POST", "/policies/expression/", {"name": "inner", "expression": "return True"}))
    assert (await ada.call("DELETE", f"{API}/policies/expression/{office['pk']}/")).status_code == 409
    await make(clerk, "/policies/dummy/", name="another")


async def test_a_group_that_a_policy_names_keeps_its_name(town: Town, ada: Person) -> None:
    """Whatever the policy does with the name: without it, it might let in whom it kept out."""
    old, new = new_name("barred"), new_name("barred")
    group = await make(ada, "/core/groups/", name=old)
    expression = 'return not {"%s"} & {one.name for one in user.all_groups}'
    policy = await make(ada, "/policies/expression/", name=new_name("p"), expression=expression % old)
    clerk, item = await person_who_may(town, ada, *rights("core", "group")), f"/core/groups/{group['pk']}/"

    for one in (clerk, ada):
        await refuse_all(one, ("PATCH", item, {"name": new}), ("DELETE", item, None), expect=409)
    both = {"expression": expression % f'{old}", "{new}'}
    assert (await ada.call("PATCH", f"{API}/policies/expression/{policy['pk']}/", json=both)).status_code == 200

    assert (await clerk.call("PATCH", API + item, json={"name": new, "attributes": {"a": 1}})).status_code == 200
    await refuse_all(clerk, ("DELETE", item, None), expect=409)
    assert (await ada.call("DELETE", f"{API}/policies/expression/{policy['pk']}/")).status_code == 204
    assert (await clerk.call("DELETE", API + item)).status_code == 204


async def test_nobody_else_has_passwords_removed(town: Town, ada: Person) -> None:
    """An expiry of no days removes the password of everybody about whom an application is asked."""
    app = await make(ada, "/core/applications/", name="A", slug=new_name("a"))
    removes = await make(ada, "/policies/passwordexpiry/", name=new_name("p"), days=900)
    clerk = await person_who_may(town, ada, *rights("policies", "passwordexpirypolicy", "policybinding"))
    mine = await make(clerk, "/policies/passwordexpiry/", name=new_name("p"), days=0, deny_only=True)
    bound = {"target": app["pbm_uuid"], "order": 0}

    await refuse_all(
        clerk,
        ("POST", "/policies/passwordexpiry/", {"name": new_name("p"), "days": 0}),
        ("PATCH", f"/policies/passwordexpiry/{removes['pk']}/", {"days": 0}),
        ("PATCH", f"/policies/passwordexpiry/{mine['pk']}/", {"deny_only": False}),
        ("POST", "/policies/bindings/", bound | {"policy": removes["pk"]}),
    )
    await make(clerk, "/policies/bindings/", **bound, policy=mine["pk"])
    await ada.get(f"{API}/core/applications/{app['pk']}/check_access/")
    assert (await ada.get(f"{API}/core/users/me/")).status_code == 200


async def test_policies_of_sources_and_steps_that_delete_are_for_superusers(town: Town, ada: Person) -> None:
    idp, policy = await make_source(town), await make(ada, "/policies/dummy/", name=new_name("p"), result=False)
    bound = await make(ada, "/policies/bindings/", target=idp.source["pk"], policy=policy["pk"], order=0)
    [leaving] = await results(ada, "/flows/instances/", search="default-unenrollment-flow")
    [consent] = await results(ada, "/flows/instances/", search="default-provider-authorization-explicit-consent")
    [step] = await results(ada, "/flows/bindings/", flow=consent["slug"])
    [delete] = await results(ada, "/stages/user_delete/", name="default-unenrollment-delete")
    [out] = await results(ada, "/flows/instances/", search="default-invalidation-flow")
    clerk = await person_who_may(
        town, ada, *rights("policies", "policybinding", "dummypolicy"), *rights("flows", "flow", "flowstagebinding")
    )

    await refuse_all(
        clerk,
        ("DELETE", f"/policies/bindings/{bound['pk']}/", None),
        ("PATCH", f"/policies/dummy/{policy['pk']}/", {"result": True}),
        ("PATCH", f"/flows/instances/{leaving['pk']}/", {"authentication": "none"}),
        ("POST", "/flows/bindings/", {"flow": out["pk"], "stage": delete["pk"], "order": 0}),
        ("DELETE", f"/flows/bindings/{step['pk']}/", None),
        *(
            ("POST", "/flows/instances/", {"name": "x", "slug": new_name("aaa"), "designation": designation})
            for designation in ("invalidation", "unenrollment")
        ),
    )


# People


async def test_nobody_takes_by_a_role_or_group_what_they_do_not_have(town: Town, ada: Person) -> None:
    clerk = await person_who_may(town, ada, *rights("core", "group"), *rights("rbac", "role"))
    bob = await town.sign_up()
    role = (await make(ada, "/rbac/roles/", name=new_name("r"), permissions=["core.delete_user"]))["pk"]
    top = await make(ada, "/core/groups/", name=new_name("t"), roles=[role])
    below = await make(ada, "/core/groups/", name=new_name("b"), parent=top["pk"], user_set=[await pk_of(ada, bob)])

    await refuse_all(
        clerk,
        ("PATCH", f"/rbac/roles/{role}/", {"permissions": []}),
        ("DELETE", f"/rbac/roles/{role}/", None),
        ("PATCH", f"/core/groups/{top['pk']}/", {"roles": []}),
        ("PATCH", f"/core/groups/{below['pk']}/", {"parent": None}),
        ("PATCH", f"/core/groups/{below['pk']}/", {"user_set": []}),
        ("DELETE", f"/core/groups/{below['pk']}/", None),
    )
    assert (await bob.get(f"{API}/core/users/me/")).json()["system_permissions"] == ["core.delete_user"]


async def test_nobody_speaks_in_another_name(town: Town, ada: Person) -> None:
    hers = await pk_of(ada, ada)
    sends = await make(ada, "/events/transports/", name=new_name("t"), mode="direct", direct_sender=hers)
    clerk = await person_who_may(town, ada, *rights("events", "notificationtransport"))
    mine = {"mode": "direct", "direct_sender": await pk_of(ada, clerk)}

    await refuse_all(
        clerk,
        ("PATCH", f"/events/transports/{sends['pk']}/", {"send_once": True}),
        ("PATCH", f"/events/transports/{sends['pk']}/", mine),
        ("DELETE", f"/events/transports/{sends['pk']}/", None),
    )
    new = {"name": new_name("t"), "mode": "direct", "direct_sender": hers}
    await refuse_all(clerk, ("POST", "/events/transports/", new), expect=400)
    own = await make(clerk, "/events/transports/", name=new_name("t"), **mine)
    assert (await clerk.call("DELETE", f"{API}/events/transports/{own['pk']}/")).status_code == 204


@pytest.mark.parametrize("may_add", [True, False])
async def test_an_address_is_proven_by_an_invitation_only_if_its_maker_may_add_people(
    new_town: TownBuilder, may_add: bool
) -> None:
    town = await new_town(registrations="open", confirm_email="on")
    ada = await owner_of(town)
    host = await person_who_may(town, ada, *rights("stages", "invitation"), *(["core.add_user"] if may_add else []))
    boss = f"{new_name('boss')}@example.org"
    made = await make(host, "/stages/invitation/invitations/", name=new_name("i"), fixed_data={"email": boss})
    browser, slug, query = Browser(town), "default-enrollment-flow", {"itoken": str(made["pk"])}
    name = new_name("new").replace("-", "_")
    given = {
        "username": name,
        "name": "N",
        "email": boss,
        "password": "a good password",
        "password_repeat": "a good password",
    }

    await browser.see(slug, **query)
    await browser.post(slug, query, component="prompt", **given)

    [born] = await results(ada, "/core/users/", username=name)
    assert (born["email"], born["email_verified"]) == (boss, may_add)


async def test_nobody_gets_the_principal_name_of_another(town: Town, ada: Person) -> None:
    clerk = await person_who_may(town, ada, *rights("core", "user"))
    upn, taken = f"{new_name('boss')}@corp.example", await pk_of(ada, await town.sign_up())
    own = await pk_of(ada, clerk)
    assert (await ada.call("PATCH", f"{API}/core/users/{taken}/", json={"attributes": {"upn": upn}})).status_code == 200

    await refuse_all(
        clerk,
        ("PATCH", f"/core/users/{own}/", {"attributes": {"upn": upn.upper()}}),
        ("POST", "/core/users/", {"username": new_name("u"), "name": "U", "attributes": {"upn": upn}}),
        expect=400,
    )
    name = f"cn={new_name('boss')},dc=corp"
    boss = {"upn": upn, "distinguishedName": name}
    changed = await ada.call("PATCH", f"{API}/core/users/{taken}/", json={"attributes": boss})
    uid = changed.json()["uid"]
    for attributes in ({"distinguishedName": name.upper()}, {"upn": uid}, {"distinguishedName": uid.upper()}):
        await refuse_all(clerk, ("PATCH", f"/core/users/{own}/", {"attributes": attributes}), expect=400)
    again = await clerk.call("PATCH", f"{API}/core/users/{taken}/", json={"attributes": boss | {"desk": "3"}})
    assert again.status_code == 200, again.text


async def test_members_do_not_change_what_their_invitations_say(new_town: TownBuilder) -> None:
    town = await new_town(registrations="open")
    ada = await owner_of(town)
    host = await person_who_may(town, ada, "stages.add_invitation")
    made = await make(host, "/stages/invitation/invitations/", name=new_name("i"), single_use=True)
    hers = await make(ada, "/stages/invitation/invitations/", name=new_name("i"))
    evil = {"fixed_data": {"email": "boss@example.org"}}
    item = f"/stages/invitation/invitations/{made['pk']}/"

    await grant(ada, host)
    await refuse_all(host, ("PATCH", item, evil), ("PATCH", item, {"single_use": False}))
    await grant(ada, host, "stages.change_invitation")
    await refuse_all(host, ("PATCH", f"/stages/invitation/invitations/{hers['pk']}/", evil))
    assert (await host.call("PATCH", API + item, json=evil)).status_code == 200


async def test_a_blueprint_that_is_off_is_for_superusers(town: Town, ada: Person) -> None:
    content = f"version: 1\nentries: [{{model: core.group, identifiers: {{name: {new_name('g')}}}}}]"
    made = await make(ada, "/managed/blueprints/", name=new_name("b"), content=content, enabled=False)
    clerk = await person_who_may(town, ada, *rights("managed", "blueprintinstance"))
    item = f"/managed/blueprints/{made['pk']}/"

    await refuse_all(clerk, ("PATCH", item, {"enabled": True}), ("POST", f"{item}apply/", None), ("DELETE", item, None))
    assert (await clerk.call("PATCH", API + item, json={"name": new_name("b")})).status_code == 200


# What is sent elsewhere

# Addresses to which the secret of the record is not sent: where browsers go, and what is fetched without it.
_WITHOUT_SECRET = {
    "/sources/ldap/": {"client_certificate"},
    "/sources/oauth/": {"authorization_url", "profile_url", "oidc_jwks_url"},
    "/stages/captcha/": {"js_url"},
}


_PROTECTION = re.compile("tls|ssl|sni|cert|verif|insecure")


def test_every_address_of_a_record_with_a_secret_is_one_to_which_it_goes() -> None:
    """Otherwise whoever changes the address gets the secret: a new field is named with the secret, or above.

    So does whoever is on the way, once somebody turns its protection off.
    """
    seen = set()
    for resource in RESOURCES:
        fields = [field for field in resource.all_fields if not field.read_only]
        addresses = {field.name for field in fields if isinstance(field, URL) or field.name in ("host", "server_uri")}
        if any(isinstance(field, Secret) and field.sent_to for field in fields):
            addresses |= {field.name for field in fields if _PROTECTION.search(field.name)}
        for secret in (field for field in fields if isinstance(field, Secret) and not field.shown):
            seen.add(resource.path)
            named = _WITHOUT_SECRET.get(resource.path, set())
            assert addresses - named <= set(secret.sent_to), (resource.path, secret.name)
    assert {"/events/transports/", "/providers/scim/", "/sources/ldap/", "/stages/email/"} <= seen


@pytest.mark.parametrize(("path", "made", "lowered", "secret"), [
    ("/stages/email/", {"host": "m.example", "password": "p", "use_tls": True}, {"use_tls": False}, "password"),
    ("/stages/email/", {"host": "m.example", "password": "p", "use_ssl": True}, {"use_ssl": False}, "password"),
    (
        "/stages/email/",
        {"host": "m.example", "password": "p", "use_ssl": True},
        {"use_ssl": False, "use_tls": True},
        "password",
    ),
    ("/sources/ldap/", {"start_tls": True}, {"start_tls": False}, "bind_password"),
    ("/sources/ldap/", {"sni": True}, {"sni": False}, "bind_password"),
])  # fmt: skip
async def test_a_secret_is_not_sent_without_the_protection_it_was_stored_for(
    town: Town, ada: Person, path: str, made: dict[str, Any], lowered: dict[str, Any], secret: str
) -> None:
    record = await make(ada, path, **await Maker(ada).body(BY_PATH[path]) | made)
    item, raised = f"{API}{path}{record['pk']}/", {name: True for name, one in made.items() if one is True}

    answer = await ada.call("PATCH", item, json=lowered)

    assert (answer.status_code, set(answer.json())) == (400, {secret})
    assert (await ada.call("PATCH", item, json=lowered | {secret: "anew"})).status_code == 200
    if "use_tls" not in lowered or "use_ssl" not in lowered:
        assert (await ada.call("PATCH", item, json=raised)).status_code == 200


async def test_a_header_of_somebody_elses_is_not_sent_elsewhere(town: Town, ada: Person) -> None:
    """Headers are made by a mapping, which may hold what lets one in there."""
    expression = 'return {"Authorization": "Bearer of the operator"}'
    header, body = [
        (await make(ada, "/propertymappings/notification/", name=new_name("m"), expression=expression))["pk"]
        for _ in range(2)
    ]
    path, url = "/events/transports/", {"mode": "webhook", "webhook_url": "https://ops.example/hook"}
    transports = [
        await make(ada, path, name=new_name("ops"), webhook_secret="s", **url, **{name: pk})
        for name, pk in (("webhook_mapping_headers", header), ("webhook_mapping_body", body))
    ]
    plain = await make(ada, path, name=new_name("ops"), **url)
    clerk = await person_who_may(town, ada, *rights("events", "notificationtransport"))
    away = {"webhook_url": "https://mine.example/hook", "webhook_secret": "mine"}
    for one, (name, pk) in zip(
        transports, (("webhook_mapping_headers", header), ("webhook_mapping_body", body)), strict=True
    ):
        calls = [
            ("PATCH", f"{path}{one['pk']}/", away),
            ("PUT", f"{path}{one['pk']}/", {"name": new_name("t"), "mode": "webhook", name: pk, **away}),
            ("PATCH", f"{path}{plain['pk']}/", {name: pk}),
            ("POST", path, {"name": new_name("t"), "mode": "webhook", name: pk, **away}),
        ]
        for method, place, sent in calls:
            answer = await clerk.call(method, API + place, json=sent)
            assert (answer.status_code, set(answer.json())) == (400, {name}), (method, place, sent, answer.text)
        assert (await clerk.call("PATCH", f"{API}{path}{one['pk']}/", json={"send_once": True})).status_code == 200
        kept = (await ada.get(f"{API}{path}{one['pk']}/")).json()
        assert kept["webhook_url"] == url["webhook_url"]
    assert (await clerk.call("PATCH", f"{API}{path}{plain['pk']}/", json=away)).status_code == 200
    await grant(ada, clerk, *rights("events", "notificationtransport"), *rights("propertymappings", _WEBHOOK))
    assert (await clerk.call("PATCH", f"{API}{path}{transports[0]['pk']}/", json=away)).status_code == 200


# What gateways sign in with


async def gateway_password(ada: Person) -> str:
    """The name of an attribute that is a password, and does not look like one."""
    name, attribute = new_name("basic"), f"word{new_name('a').replace('-', '')}"
    await make(
        ada, "/providers/applicationgateway/", name=name, internal_host="http://inside.example",
        external_host=f"https://{name}.example.org", basic_auth_enabled=True, basic_auth_user_attribute="wikiUser",
        basic_auth_password_attribute=attribute,
    )  # fmt: skip
    return attribute


@pytest.mark.parametrize("collection", ["users", "groups"])
async def test_a_password_for_an_application_is_shown_to_whoever_may_change_it_alone(
    town: Town, ada: Person, collection: str
) -> None:
    attribute, word = await gateway_password(ada), new_name("known-to-the-gateway")
    own, name = {"desk": "3", attribute: word}, new_name("x").replace("-", "_")
    made = await make(ada, f"/core/{collection}/", username=name, name=name, attributes=own)
    item, model = f"{API}/core/{collection}/{made['pk']}/", collection.removesuffix("s")
    may = rights("core", "user", "group")
    clerk = await person_who_may(town, ada, *may, "audit.view_event", "managed.add_blueprintinstance")
    masked = own | {attribute: "********"}

    async def read(person: Person) -> dict[str, Any]:
        found: dict[str, Any] = (await person.get(item)).json()["attributes"]
        return found

    assert await read(clerk) == masked
    for path in (f"/core/{collection}/?search={name}", f"/core/{collection}/?limit=1000", "/core/users/me/"):
        assert word not in (await clerk.get(API + path)).text
        assert word not in (await ada.get(API + path)).text
    assert word not in (await clerk.get(f"{API}/core/users/export/")).text
    found = f"!FindObject [core.{model}, [{'username' if model == 'user' else 'name'}, {name}]]"
    content = (
        f"version: 1\nentries: [{{model: core.group, identifiers: {{name: copy-{name}}}, "
        f"attrs: {{attributes: {{copied: {found}}}}}}}]"
    )
    imported = await clerk.call("POST", f"{API}/managed/blueprints/import/", json={"content": content})
    assert imported.json()["success"], imported.text
    [copy] = await results(clerk, "/core/groups/", name=f"copy-{name}")
    assert copy["attributes"]["copied"]["attributes"] == masked

    # What comes back as it was shown changes nothing; another value is not theirs to set.
    answer = await clerk.call("PATCH", item, json={"attributes": masked | {"desk": "4"}})
    assert (answer.status_code, answer.json()["attributes"]) == (200, masked | {"desk": "4"})
    sent = answer.json() | {"attributes": masked | {"desk": "5"}}
    assert (await clerk.call("PUT", item, json=sent)).status_code == 200
    assert await read(ada) == own | {"desk": "5"}
    for wrong in ({attribute: "mine"}, {"desk": "6"}):
        assert (await clerk.call("PATCH", item, json={"attributes": wrong})).status_code == 403
    changed = await ada.call("PATCH", item, json={"attributes": own | {attribute: f"{word}-2"}})
    assert changed.json()["attributes"][attribute] == f"{word}-2"

    trail = await clerk.get(f"{API}/audit/events/", params={"limit": 100})
    assert word not in trail.text
    assert f"attributes.{attribute}" in trail.text, "that ada has seen it is written down"
    keeper = await person_who_may(town, ada, *may, "core.view_secret", "providers.change_applicationgatewayprovider")
    assert (await read(keeper))[attribute] == f"{word}-2"


async def test_a_gateway_that_does_not_sign_in_at_the_moment_hides_the_password_as_well(
    town: Town, ada: Person
) -> None:
    attribute = await gateway_password(ada)
    [gateway] = [
        one
        for one in await results(ada, "/providers/applicationgateway/")
        if one["basic_auth_password_attribute"] == attribute
    ]
    turned = await ada.call(
        "PATCH", f"{API}/providers/applicationgateway/{gateway['pk']}/", json={"basic_auth_enabled": False}
    )
    assert turned.status_code == 200, turned.text
    made = await make(ada, "/core/groups/", name=new_name("g"), attributes={attribute: "known"})
    viewer = await person_who_may(town, ada, "core.view_group")
    assert (await viewer.get(f"{API}/core/groups/{made['pk']}/")).json()["attributes"] == {attribute: "********"}


async def test_whoever_tries_what_another_wrote_is_not_told_of_people_they_may_not_see(town: Town, ada: Person) -> None:
    """Its author may look people up; whoever tries it says of whom, by the context."""
    victim = await town.sign_up()
    finds = 'user_by(username=request.context["who"])'
    mapping = await make(
        ada, "/propertymappings/scope/", name=new_name("m"), scope_name="m", expression=f"return {finds}.email"
    )
    policy = await make(
        ada, "/policies/expression/", name=new_name("p"), expression=f"ak_message({finds}.email)\nreturn True"
    )
    asks = await make(
        ada, "/policies/expression/", name=new_name("p"), expression=f'return call_policy("{policy["name"]}").passing'
    )
    own = ["propertymappings.view_propertymapping", "policies.view_policy"]
    clerk, seer = [await person_who_may(town, ada, *own, *more) for more in ([], ["core.view_user"])]
    address = f"{victim.username}@example.org"
    for person, sees in ((clerk, False), (seer, True)):
        sent = {"user": await pk_of(ada, person), "context": {"who": victim.username}}
        told = [
            await person.call("POST", f"{API}{path}/{record['pk']}/test/", json=sent)
            for path, record in (("/propertymappings/all", mapping), ("/policies/all", policy), ("/policies/all", asks))
        ]
        assert [address in one.text for one in told[:2]] == [sees, sees], [one.text for one in told]
        assert [one.json()["passing"] for one in told[1:]] == [sees, sees]
