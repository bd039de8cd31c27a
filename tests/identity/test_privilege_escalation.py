"""Nobody climbs: whatever a role lets somebody change, it never makes them, or anybody, more than they are.

Around every refused call the whole database is compared: a no changes nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from sqlalchemy import select

import kith.schema  # noqa: F401 - so that every table is known
from kith.app import House
from kith.base.db import METADATA, query
from tests.conftest import TownBuilder
from tests.identity.flow_browser import Browser
from tests.identity.records import (
    API,
    grant,
    make,
    make_binding,
    make_flow,
    make_stage,
    new_name,
    owner_of,
    person_who_may,
    results,
)
from tests.town import Person, Town

# What every call may leave behind, whatever it came to: the trail, and when something was last used. And how far workers
# have come with those whom other tests have a service told of.
_TRAIL = {"identity_events", "identity_refusals", "identity_known_addresses", "identity_scim_targets"}
_TABLES = {
    table.name: query(
        select(*(c for c in table.columns if not c.name.startswith("last_used"))).order_by(*table.primary_key.columns),
        tuple,
    )
    for table in METADATA.sorted_tables
    if table.name.startswith("identity_") and table.name not in _TRAIL
}
VERBS = ("view", "add", "change", "delete")


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


def rights(area: str, *records: str) -> list[str]:
    return [f"{area}.{verb}_{record}" for record in records for verb in VERBS]


class Watch:
    """Sees to it that a refused call leaves the identity half's tables as they were, but for the trail."""

    def __init__(self, house: House, commits: Callable[[], int | None]) -> None:
        """`commits` tells whether anything was committed since it was last asked, where the database can say so."""
        self._house = house
        self._commits = commits
        self._last: tuple[int | None, dict[str, str]] = (None, {})

    async def look(self) -> dict[str, str]:
        """What was looked at is as it was while nobody has committed anything."""
        commits = self._commits()
        if commits is None or commits != self._last[0]:
            self._last = commits, await self._look()
        return self._last[1]

    async def _look(self) -> dict[str, str]:
        async with self._house.works.begin() as work:
            rows = {name: await work.db.all(statement) for name, statement in _TABLES.items()}
        return {name: hashlib.sha256(repr(found).encode()).hexdigest() for name, found in rows.items()}

    async def refused(self, person: Person, method: str, path: str, body: Any, *expected: int) -> httpx.Response:
        before = await self.look()
        answer = await person.call(method, API + path, json=body)
        # 400 where the value is refused for everybody, 403 where it is for these people.
        assert answer.status_code in (expected or (400, 403)), (method, path, body, answer.text)
        after = await self.look()
        assert [name for name in before if before[name] != after[name]] == [], (method, path, body)
        return answer


@pytest.fixture
async def watch(town: Town) -> AsyncIterator[Watch]:
    async with town.house() as house:
        if town.engine != "sqlite":
            yield Watch(house, lambda: None)
            return
        with contextlib.closing(sqlite3.connect(town.folder / "kith.sqlite3")) as database:
            yield Watch(house, lambda: int(database.execute("PRAGMA data_version").fetchone()[0]))


async def id_of(person: Person) -> int:
    return int((await person.get(f"{API}/core/users/me/")).json()["pk"])


async def test_the_ways_in_are_for_superusers(town: Town, ada: Person, watch: Watch) -> None:
    """Somebody with every right to flows, stages and policies becomes nobody else by them."""
    kinds: tuple[str, ...] = (
        "dummystage",
        "userloginstage",
        "userwritestage",
        "identificationstage",
        "passwordstage",
        "promptstage",
    )
    kinds = (*kinds, "prompt", "otpvalidatestage", "webauthnstage", "emailstage")
    clerk = await person_who_may(
        town,
        ada,
        *rights("flows", "flow", "flowstagebinding"),
        *rights("stages", *kinds),
        *rights("policies", "policybinding", "dummypolicy", "expressionpolicy", "passwordpolicy"),
    )
    [sign_in] = await results(ada, "/flows/instances/", search="default-authentication-flow")
    places = await results(ada, "/flows/bindings/", flow=sign_in["slug"])
    stages = {one["name"]: one for one in await results(ada, "/stages/all/", limit=1000)}
    asks_password = stages["default-authentication-password"]["pk"]
    lets_in = stages["default-authentication-login"]["pk"]
    names = stages["default-authentication-identification"]["pk"]
    [form] = await results(ada, "/stages/prompt/stages/", name="default-password-change-prompt")
    [length] = await results(ada, "/policies/password/", name="default-password-length")
    [asked] = await results(ada, "/stages/prompt/prompts/", name="default-password")

    # What is theirs and on no way in is theirs to change.
    harmless = await make_flow(clerk, "authorization")
    dummy = await make_stage(clerk)
    place = await make_binding(clerk, harmless, dummy)
    always = await make(clerk, "/policies/dummy/", name=new_name("p"), result=True)
    await make(clerk, "/policies/bindings/", policy=always["pk"], target=place["pbm_uuid"], order=0)
    own_login, own_write = await make_stage(clerk, "user_login"), await make_stage(clerk, "user_write")
    own_factor = await make_stage(clerk, "otp_validate")
    own_mail = await make_stage(clerk, "email", activate_user_on_success=True)
    own_names = await make_stage(clerk, "identification", user_fields=["username"], template="login")
    await make_binding(clerk, harmless, own_names, order=5)

    item = "/flows/instances/" + str(sign_in["pk"])
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("PATCH", f"{item}/", {"name": "Mine"}),
        ("PUT", f"{item}/", {"name": "Mine", "slug": sign_in["slug"], "designation": "authorization"}),
        ("DELETE", f"{item}/", {}),
        ("PATCH", f"/flows/instances/{harmless['pk']}/", {"designation": "authentication"}),
        *(
            ("POST", "/flows/instances/", {"name": "x", "slug": new_name("aaa"), "designation": designation})
            for designation in ("authentication", "recovery", "enrollment", "stage_setup")
        ),
        *(("DELETE", f"/flows/bindings/{one['pk']}/", {}) for one in places),
        ("PATCH", f"/flows/bindings/{places[0]['pk']}/", {"order": 99}),
        ("PATCH", f"/flows/bindings/{place['pk']}/", {"flow": sign_in["pk"]}),
        ("PATCH", f"/flows/bindings/{place['pk']}/", {"stage": lets_in}),
        ("POST", "/flows/bindings/", {"flow": sign_in["pk"], "stage": dummy["stage_uuid"], "order": -1}),
        *(
            ("POST", "/flows/bindings/", {"flow": harmless["pk"], "stage": one, "order": 9})
            for one in (lets_in, own_login["pk"], own_write["pk"], own_factor["pk"], own_mail["pk"])
        ),
        ("PATCH", f"/stages/password/{asks_password}/", {"backends": ["app_password"]}),
        ("DELETE", f"/stages/password/{asks_password}/", {}),
        ("PATCH", f"/stages/user_login/{lets_in}/", {"session_duration": 1}),
        ("PATCH", f"/stages/identification/{names}/", {"password_stage": None, "user_fields": ["email"]}),
        ("PATCH", f"/stages/prompt/stages/{form['pk']}/", {"validation_policies": []}),
        ("PATCH", f"/stages/prompt/prompts/{asked['pk']}/", {"field_key": "name"}),
        ("DELETE", f"/stages/prompt/prompts/{asked['pk']}/", {}),
        ("PATCH", f"/policies/password/{length['pk']}/", {"length_min": 1}),
        ("DELETE", f"/policies/password/{length['pk']}/", {}),
        *(
            ("POST", "/policies/bindings/", {"policy": always["pk"], "target": target, "order": 3})
            for target in (sign_in["pbm_uuid"], places[0]["pbm_uuid"], form["pk"])
        ),
    ]
    for method, path, body in calls:
        answer = await watch.refused(clerk, method, path, body, 403)
        assert answer.json()["code"] == "permission_denied", (method, path, body)
    assert (await clerk.call("PATCH", f"{API}/stages/dummy/{dummy['pk']}/", json={"name": new_name("d")})).is_success
    assert (await clerk.call("DELETE", f"{API}/flows/instances/{harmless['pk']}/")).status_code == 204


async def test_an_expression_looks_up_only_whom_its_author_may_see(town: Town, ada: Person, watch: Watch) -> None:
    author = await person_who_may(town, ada, *rights("policies", "expressionpolicy", "policy"))
    spy = 'return ak_user_by(username="x").email == ""'
    body = {"name": new_name("p"), "expression": spy}

    answer = await watch.refused(author, "POST", "/policies/expression/", body, 400)
    assert set(answer.json()) == {"expression"}
    plain = await make(author, "/policies/expression/", name=new_name("p"), expression="return True")
    item = f"/policies/expression/{plain['pk']}/"
    await watch.refused(author, "PATCH", item, {"expression": spy}, 400)
    await grant(ada, author, *rights("policies", "expressionpolicy", "policy"), "core.view_user")
    assert (await author.call("PATCH", API + item, json={"expression": spy})).status_code == 200


async def test_a_form_and_policies_tell_nothing_of_somebody_who_was_only_named(town: Town, ada: Person) -> None:
    """Whoever may make flows and forms, but not see people, reads nobody's record by typing their name."""
    author = await person_who_may(
        town,
        ada,
        *rights("flows", "flow", "flowstagebinding"),
        *rights("stages", "identificationstage", "promptstage", "prompt", "passwordstage", "dummystage"),
        *rights("policies", "policybinding", "expressionpolicy"),
    )
    victim, spy = await town.sign_up(), "return str(user.email)"
    words = "ak_message(str(request.user.email))\nreturn False"
    policy = await make(author, "/policies/expression/", name=new_name("p"), expression=words)
    asked = await make(
        author,
        "/stages/prompt/prompts/",
        name=new_name("p"),
        field_key="x",
        label="x",
        type="text",
        order=0,
        required=False,
        placeholder=spy,
        placeholder_expression=True,
        initial_value=spy,
        initial_value_expression=True,
    )
    fields = {"fields": [asked["pk"]], "validation_policies": [policy["pk"]]}
    form = await make(author, "/stages/prompt/stages/", name=new_name("f"), **fields)
    names = await make_stage(author, "identification", user_fields=["username"], template="login")
    proof, dummy = await make_stage(author, "password", backends=["internal"]), await make_stage(author)
    told: list[str] = []
    for stages in ((names, dummy, form), (names, proof, form)):
        flow, browser = await make_flow(author, "authorization"), Browser(town)
        for order, stage in enumerate(stages):
            place = await make_binding(author, flow, stage, order=order, re_evaluate_policies=True)
            if stage is dummy:
                await make(author, "/policies/bindings/", policy=policy["pk"], target=place["pbm_uuid"], order=0)
        await browser.see(flow["slug"])
        first = await browser.answer(flow["slug"], component="identification", uid_field=victim.username)
        given: dict[str, Any] = {"password": victim.password} if stages[1] is proof else {}
        shown = first
        if first["component"] != "prompt":
            shown = await browser.answer(flow["slug"], component=first["component"], **given)
        assert shown["component"] == "prompt", shown
        refused = await browser.answer(flow["slug"], component="prompt", x="y")
        told.append(f"{first} {shown} {refused}")

    address = f"{victim.username}@example.org"
    assert [address in one for one in told] == [False, True]


async def test_no_record_hands_out_a_group_that_grants_more(town: Town, ada: Person, watch: Watch) -> None:
    maker = await person_who_may(
        town,
        ada,
        *rights("stages", "userwritestage"),
        *rights("sources", "ldapsource"),
        *rights("core", "group", "user", "token"),
        *rights("rbac", "role"),
        "core.reset_user_password",
    )
    mine = await id_of(maker)
    mighty = (await make(ada, "/core/groups/", name=new_name("g"), is_superuser=True))["pk"]
    below = (await make(ada, "/core/groups/", name=new_name("g"), parent=mighty))["pk"]
    role = (await make(ada, "/rbac/roles/", name=new_name("r"), permissions=["crypto.view_certificatekeypair_key"]))[
        "pk"
    ]
    great = (await make(ada, "/core/groups/", name=new_name("g"), roles=[role]))["pk"]
    board = (await make(ada, "/core/groups/", name=new_name("board")))["pk"]
    await make(ada, "/core/access_offers/", group=below, longest="hours=4", approver_groups=[board])
    over_board = (await make(ada, "/core/groups/", name=new_name("board")))["pk"]
    await make(ada, "/core/access_offers/", group=board, longest="hours=4", approver_groups=[over_board])
    told = (await make(ada, "/core/groups/", name=new_name("told")))["pk"]
    await make(ada, "/events/rules/", name=new_name("rule"), transports=[], destination_group=told)
    plain = await make(maker, "/core/groups/", name=new_name("g"), user_set=[mine])
    under = await make(maker, "/core/groups/", name=new_name("g"), parent=plain["pk"])
    ldap = {
        "name": new_name("l"),
        "slug": new_name("l"),
        "server_uri": "ldap://x.example",
        "bind_cn": "cn=x",
        "bind_password": "p",
        "base_dn": "dc=x",
    }
    above = await id_of(ada)

    calls: list[tuple[str, str, dict[str, Any]]] = []
    for group in (mighty, below, great, board, over_board, told):
        calls += [
            ("POST", "/stages/user_write/", {"name": new_name("w"), "create_users_group": group}),
            ("POST", "/sources/ldap/", ldap | {"sync_parent_group": group}),
            ("POST", "/core/groups/", {"name": new_name("g"), "parent": group, "user_set": [mine]}),
            ("PATCH", f"/core/groups/{plain['pk']}/", {"parent": group}),
            ("PATCH", f"/core/groups/{group}/", {"user_set": [mine]}),
            ("PATCH", f"/core/users/{mine}/", {"groups": [group]}),
            (
                "POST",
                "/core/users/",
                {"username": new_name("u"), "name": "U", "groups": [group], "password": "12345678"},
            ),
            ("POST", f"/core/groups/{group}/add_user/", {"pk": mine}),
            ("DELETE", f"/core/groups/{group}/", {}),
        ]
    calls += [
        ("PATCH", f"/core/groups/{plain['pk']}/", {"is_superuser": True}),
        ("PATCH", f"/core/groups/{under['pk']}/", {"is_superuser": True}),
        ("PATCH", f"/core/groups/{plain['pk']}/", {"roles": [role]}),
        ("PATCH", f"/core/users/{mine}/", {"roles": [role]}),
        ("PATCH", f"/rbac/roles/{role}/", {"name": "mine"}),
        ("POST", "/rbac/roles/", {"name": new_name("r"), "permissions": ["*"]}),
        ("POST", "/rbac/roles/", {"name": new_name("r"), "permissions": ["core.view_secret"]}),
        ("PATCH", f"/core/users/{above}/", {"name": "Me"}),
        ("POST", f"/core/users/{above}/set_password/", {"password": "a password I know"}),
        ("POST", "/core/tokens/", {"user": above}),
        ("DELETE", f"/core/users/{above}/", {}),
    ]
    for method, path, body in calls:
        await watch.refused(maker, method, path, body)
    me = (await maker.get(f"{API}/core/users/me/")).json()
    assert me["is_superuser"] is False
    assert "crypto.view_certificatekeypair_key" not in me["system_permissions"]


async def test_an_invitation_raises_nobody(new_town: TownBuilder) -> None:
    town = await new_town(registrations="open", confirm_email="false")
    ada = await town.owner()
    host = await person_who_may(town, ada, *rights("stages", "invitation"))
    mighty = (await make(ada, "/core/groups/", name=new_name("g"), is_superuser=True))["pk"]
    fixed = {
        "groups": [mighty],
        "is_superuser": True,
        "role": "owner",
        "roles": ["x"],
        "permissions": ["*"],
        "attributes.role": "owner",
        "attributes.upn": "ada@corp.example",
        "attributes.distinguishedName": "cn=ada",
        "attributes.additionalHeaders": {"Remote-User": "ada"},
        "attributes.additionalHeaders.Remote-Group": "admins",
        "is_active": True,
        "type": "service_account",
    }
    invitations, sent = "/stages/invitation/invitations/", {"name": new_name("i"), "fixed_data": fixed}
    refused = await host.call("POST", API + invitations, json=sent)
    assert (refused.status_code, list(refused.json())) == (400, ["fixed_data"]), refused.text
    await grant(ada, host, *rights("stages", "invitation"), "core.add_user")
    headers = await host.call("POST", API + invitations, json=sent)
    assert (headers.status_code, list(headers.json())) == (400, ["fixed_data"]), headers.text
    gateways = "providers.change_applicationgatewayprovider"
    await grant(ada, host, *rights("stages", "invitation"), "core.add_user", gateways)
    made = await make(host, invitations, **sent)
    await grant(ada, host, *rights("stages", "invitation"))
    name = new_name("new").replace("-", "_")
    await accept(Browser(town), str(made["pk"]), name)
    [born] = await results(ada, "/core/users/", username=name)
    assert (born["is_superuser"], born["groups"], born["roles"], born["type"]) == (False, [], [], "internal")
    assert born["attributes"] == {"role": "owner"}


async def test_no_way_gives_what_gateways_tell_without_the_right_to_change_them(
    town: Town, ada: Person, watch: Watch
) -> None:
    """Applications behind a gateway believe some attributes; so nobody writes them who may not change gateways."""
    user, password = new_name("user").replace("-", "_"), new_name("word").replace("-", "_")
    await make(
        ada, "/providers/applicationgateway/", name=new_name("gate"), mode="proxy", basic_auth_enabled=True,
        external_host=f"https://{new_name('gate')}.example", internal_host="http://127.0.0.1:9",
        basic_auth_user_attribute=user, basic_auth_password_attribute=password,
    )  # fmt: skip
    helper = await person_who_may(
        town, ada, *rights("core", "user", "group"), *rights("stages", "invitation"), "core.view_user"
    )
    guest = await town.sign_up()
    group = (await make(ada, "/core/groups/", name=new_name("g")))["pk"]
    invitation = (await make(helper, "/stages/invitation/invitations/", name=new_name("i"), fixed_data={"name": "N"}))[
        "pk"
    ]

    for name, value in (("additionalHeaders", {"X-Remote-User": "admin"}), (user, "admin"), (password, "word")):
        attributes, fixed = {"attributes": {name: value}}, {"fixed_data": {f"attributes.{name}": value}}
        nested = {"fixed_data": {f"attributes.{name}.inner": value}}
        for method, path, body in (
            ("POST", "/core/users/", {"username": new_name("x"), "name": "x", **attributes}),
            ("PATCH", f"/core/users/{await id_of(guest)}/", attributes),
            ("PATCH", f"/core/users/{await id_of(helper)}/", attributes),
            ("POST", "/core/groups/", {"name": new_name("x"), **attributes}),
            ("PATCH", f"/core/groups/{group}/", attributes),
            ("POST", "/stages/invitation/invitations/", {"name": new_name("i"), **fixed}),
            ("POST", "/stages/invitation/invitations/", {"name": new_name("i"), **nested}),
            ("PATCH", f"/stages/invitation/invitations/{invitation}/", fixed),
        ):
            await watch.refused(helper, method, path, body)


async def test_an_invitation_says_what_its_maker_may_say_when_it_is_used(new_town: TownBuilder) -> None:
    town = await new_town(registrations="open", confirm_email="false")
    ada = await town.owner()
    gateways = "providers.change_applicationgatewayprovider"
    host = await person_who_may(town, ada, *rights("stages", "invitation"), "core.add_user", gateways)
    fixed = {"attributes.additionalHeaders": {"X-Role": "admin"}, "attributes.upn": "x@corp.example", "attributes.a": 1}
    invitation = {"name": "i", "fixed_data": fixed, "single_use": False}
    code = str((await make(host, "/stages/invitation/invitations/", **invitation))["pk"])
    expected = [
        ((*rights("stages", "invitation"), "core.add_user"), {"upn": "x@corp.example", "a": 1}),
        ((*rights("stages", "invitation"), gateways), {"a": 1}),
        ((*rights("stages", "invitation"),), {"a": 1}),
    ]
    for held, attributes in expected:
        await grant(ada, host, *held)
        name = new_name("new").replace("-", "_")
        await accept(Browser(town), code, name)
        [born] = await results(ada, "/core/users/", username=name)
        assert born["attributes"] == attributes
        await ada.call("PATCH", f"{API}/core/users/{born['pk']}/", json={"attributes": {}})


async def accept(browser: Browser, code: str, name: str) -> None:
    """Sign up by an invitation."""
    slug, query = "default-enrollment-flow", {"itoken": code}
    await browser.see(slug, **query)
    words = {"password": "a good password", "password_repeat": "a good password"}
    given = {"username": name, "name": "N", "email": f"{name}@example.org", **words}
    await browser.answer(slug, query, component="prompt", **given)


METHODS = ("PUT", "PATCH", "DELETE", "POST")


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
async def test_a_method_cannot_be_put_on_like_a_mask(town: Town, ada: Person, watch: Watch, header: str) -> None:
    viewer = await person_who_may(town, ada, "core.view_user", "core.view_group")
    item = f"{API}/core/users/{await id_of(viewer)}/"
    before = await watch.look()

    for method in METHODS:
        answer = await viewer.call("GET", item, headers={header: method}, params={"_method": method})
        assert answer.status_code == 200
        assert answer.json()["username"] == viewer.username
        for carried in ("GET", "HEAD", "OPTIONS"):
            written = await viewer.call(method, item, headers={header: carried}, params={"_method": carried}, json={})
            # 405 of methods that the address does not have.
            assert written.status_code in (403, 405)
    for strange in ("TRACE", "PROPFIND", "SEARCH"):
        # Which of the refusals does not matter here: nothing was written.
        assert (await viewer.call(strange, item, json={"name": "x"})).status_code in (400, 403, 404, 405, 501)

    assert await watch.look() == before
