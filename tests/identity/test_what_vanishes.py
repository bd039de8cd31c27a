"""Nothing that ends, expires, is deleted, turned off, unreadable or away lets anybody in who was not in before."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kith.base.db import METADATA
from kith.identity.stages.collections import KINDS
from tests.identity.flow_browser import Browser
from tests.identity.records import make, make_binding, make_flow, make_stage, new_name, owner_of, results
from tests.identity.vanishing import AT_ONCE, WAYS, Case, Scene, every_case, few_cases
from tests.search_size import is_whole_search
from tests.town import Person, Town

TRIES = 3


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def id_of(ada: Person, person: Person) -> int:
    [found] = await results(ada, "/core/users/", username=person.username)
    return int(found["pk"])


@pytest.fixture
async def scene(town: Town, ada: Person) -> AsyncIterator[Scene]:
    people = [await id_of(ada, await town.sign_up()) for _ in range(2)]
    sure = [
        (await make(ada, "/policies/dummy/", name=new_name("sure"), result=result, **AT_ONCE))["pk"]
        for result in (True, False)
    ]
    async with town.house() as house:
        yield Scene(house, ada, people[0], people[1], sure[0], sure[1])


async def test_no_end_of_what_a_decision_names_lets_anybody_in(scene: Scene) -> None:
    """Every end of everything that a binding can name, in every way in which it can be bound."""
    cases = list(every_case() if is_whole_search() else few_cases())

    turn = asyncio.Semaphore(6)

    async def is_open(case: Case) -> bool:
        """An expression that fails now and then, as the machine has much to do, is no finding: three times are."""
        async with turn:
            for _ in range(TRIES):
                if not await scene.opened_by(case):
                    return False
            return True

    opened = [case for case, found in zip(cases, await asyncio.gather(*map(is_open, cases)), strict=True) if found]

    assert {(case.decider, case.way) for case in cases} >= {
        (decider, way) for decider, ways in WAYS.items() for way in ways
    }
    assert not opened, Counter((case.decider, case.way) for case in opened)


# Stages


STAGES: dict[str, dict[str, Any]] = {
    "captcha": {"public_key": "x", "private_key": "y"},
    "consent": {},
    "deny": {},
    "dummy": {},
    "email": {"subject": "Please confirm"},
    "identification": {"user_fields": ["username"], "template": "login"},
    "invitation": {},
    "otp_static": {},
    "otp_time": {"digits": 6},
    "otp_validate": {"not_configured_action": "deny"},
    "password": {"backends": ["internal"]},
    "user_delete": {},
    "user_login": {},
    "user_logout": {},
    "user_write": {},
    "webauthn": {},
}


# Those that give something: all others ask for something, or deny.
GIVING = {"otp", "otpstatic", "otptime", "webauthn", "userdelete", "userlogin", "userwrite"}


async def planned(scene: Scene, slug: str, user: int) -> set[str]:
    """The kinds of stages that come up for somebody."""
    told = await scene.call("POST", f"/flows/inspector/{slug}/", user=user)
    return {one["kind"] for one in told["stages"] if one["planned"]}


@pytest.mark.parametrize("negate", [False, True])
async def test_a_stage_whose_policies_cannot_be_asked_guards_or_gives_nothing(scene: Scene, negate: bool) -> None:
    flow, named = await make_flow(scene.owner, "stage_setup"), await scene.name("group")
    for order, (kind, fields) in enumerate(STAGES.items()):
        stage = await make_stage(scene.owner, kind, **fields)
        step = await make_binding(scene.owner, flow, stage, order=order)
        given = {"target": step["pbm_uuid"], "order": 0, "negate": negate} | named.fields
        await make(scene.owner, "/policies/bindings/", **given)
    before = [await planned(scene, flow["slug"], person) for person in (scene.inside, scene.outside)]

    await named.ends["deleted"]()

    after = [await planned(scene, flow["slug"], person) for person in (scene.inside, scene.outside)]
    kinds = {kind.replace("_", "") for kind in STAGES}
    assert sorted(map(len, before)) == [0, len(STAGES)], "the group decides"
    assert {"otp", "prompt"} | kinds >= set(KINDS) - {"sourceconnection"}, "every kind is in the table"
    assert after == [kinds - GIVING] * 2


async def test_a_stage_that_denies_some_denies_all_when_nobody_can_tell_whom(town: Town, scene: Scene) -> None:
    """As a person sees it: a flow that kept a group out lets none of them in because the group is gone."""
    flow = await make_flow(scene.owner, "stage_setup", authentication="require_authenticated")
    named = await scene.name("group")
    step = await make_binding(scene.owner, flow, await make_stage(scene.owner, "deny"))
    await make(scene.owner, "/policies/bindings/", target=step["pbm_uuid"], order=0, **named.fields)
    bob, browser = await town.sign_up(), Browser(town)
    await browser.sign_in(bob)
    assert (await browser.see(flow["slug"]))["component"] == "redirect"

    await named.ends["deleted"]()

    assert (await browser.see(flow["slug"]))["component"] == "access-denied"


@pytest.mark.parametrize("designation", ["authentication", "recovery"])
async def test_nobody_comes_in_by_their_name_alone(town: Town, ada: Person, designation: str) -> None:
    """The stage that asked for the password, or sent the mail, is not in the flow any more."""
    flow, bob = await make_flow(ada, designation), await town.sign_up()
    stages = [
        await make_stage(ada, "identification", user_fields=["username"], template="login"),
        await make_stage(ada, "user_login"),
    ]
    for order, stage in enumerate(stages):
        await make_binding(ada, flow, stage, order=order)
    browser = Browser(town)
    await browser.see(flow["slug"])

    told = await browser.answer(flow["slug"], component="identification", uid_field=bob.username)

    assert (told["component"], await browser.who()) == ("access-denied", None)


async def test_nobody_sets_the_password_of_another_by_their_name_alone(town: Town, ada: Person) -> None:
    flow, bob = await make_flow(ada, "recovery"), await town.sign_up()
    field = {
        "field_key": "password",
        "label": "New",
        "type": "password",
        "required": True,
        "order": 0,
        "placeholder": "New",
    }
    prompt = await make(ada, "/stages/prompt/prompts/", name=new_name("new"), **field)
    stages = [
        await make_stage(ada, "identification", user_fields=["username"], template="recovery"),
        await make(ada, "/stages/prompt/stages/", name=new_name("form"), fields=[prompt["pk"]]),
        await make_stage(ada, "user_write", user_creation_mode="never_create"),
    ]
    for order, stage in enumerate(stages):
        await make_binding(ada, flow, stage, order=order)
    browser = Browser(town)
    await browser.see(flow["slug"])
    await browser.answer(flow["slug"], component="identification", uid_field=bob.username)

    told = await browser.answer(flow["slug"], component="prompt", password="a long enough new password")

    assert told["component"] == "access-denied"
    again = Browser(town)
    await again.sign_in(bob)
    assert await again.who() == bob.username


# What the server knows of the world


@pytest.mark.parametrize("lists", [{"countries": ["NZ"]}, {"asns": [64500]}, {"check_impossible_travel": True}])
async def test_a_place_that_is_not_known_any_more_is_no_place_that_passes(scene: Scene, lists: dict[str, Any]) -> None:
    """The file of addresses is away: with the binding turned around, too."""
    policy = await make(scene.owner, "/policies/geoip/", name=new_name("near"), **lists)
    for negate in (False, True):
        application = await scene.application("all")
        given = {"target": application["pk"], "policy": policy["pk"], "negate": negate, "order": 0}
        await make(scene.owner, "/policies/bindings/", **given)
        assert await scene.admitted(application) == set()


# What refers to what


# Of all that a decision can name, what becomes of a record that refers to it when it is deleted.
HELD = "it cannot be deleted"
LOST = "the record stays and refuses"
LESS = "the record gives less, or nothing"
REFERENCES: dict[str, dict[str, str]] = {
    "identity_policies": {
        "identity_policy_bindings.policy": HELD,
        "identity_stages_prompt_policies.other": HELD,
    },
    "identity_groups": {
        "identity_policy_bindings.group": LOST,
        "identity_policies_group_membership.group": LOST,
        "identity_groups.parent": HELD,
        "identity_providers_scim.filter_group": HELD,
        "identity_sources_ldap.sync_parent_group": HELD,
        "identity_stages_user_write.create_users_group": HELD,
        "identity_access_approver_groups.other": LESS,
        "identity_access_offers.group": LESS,
        "identity_group_members.group_uuid": LESS,
        "identity_group_roles.owner": LESS,
        "identity_notification_rules.destination_group": LESS,
        "identity_source_group_connections.group": LESS,
    },
    "identity_stages": {
        "identity_flow_bindings.stage": HELD,
        "identity_stages_identification.captcha_stage": HELD,
        "identity_stages_identification.password_stage": HELD,
        "identity_stages_identification.webauthn_stage": LESS,
        "identity_stages_identification_sources.owner": LESS,
        "identity_stages_otp_validate_configuration.other": LESS,
        "identity_stages_otp_validate_configuration.owner": LESS,
    },
    "identity_prompts": {"identity_stages_prompt_fields.other": HELD},
    "identity_flows": {
        "identity_brands.flow_authentication": HELD,
        "identity_brands.flow_device_code": HELD,
        "identity_brands.flow_invalidation": HELD,
        "identity_brands.flow_recovery": HELD,
        "identity_brands.flow_unenrollment": HELD,
        "identity_brands.flow_user_settings": HELD,
        "identity_providers.authentication_flow": HELD,
        "identity_providers.authorization_flow": HELD,
        "identity_sources.authentication_flow": HELD,
        "identity_sources_saml.pre_authentication_flow": HELD,
        "identity_stages_password.configure_flow": HELD,
        "identity_flow_bindings.flow": LESS,
        "identity_flow_runs.flow_uuid": LESS,
        "identity_flow_tokens.flow_uuid": LESS,
        "identity_invitations.flow": LESS,
        "identity_providers.invalidation_flow": LESS,
        "identity_sources.enrollment_flow": LESS,
        "identity_stages_identification.enrollment_flow": LESS,
        "identity_stages_identification.passwordless_flow": LESS,
        "identity_stages_identification.recovery_flow": LESS,
        "identity_stages_otp_static.configure_flow": LESS,
        "identity_stages_otp_time.configure_flow": LESS,
        "identity_stages_webauthn.configure_flow": LESS,
    },
    "identity_property_mappings": {
        "identity_provider_mappings.other": HELD,
        "identity_providers_saml.authn_context_class_ref_mapping": HELD,
        "identity_providers_saml.name_id_mapping": HELD,
        "identity_providers_scim_group_mappings.other": HELD,
        "identity_source_group_mappings.other": HELD,
        "identity_source_user_mappings.other": HELD,
        "identity_sources_ldap_mappings.other": HELD,
        "identity_notification_transports.webhook_mapping_body": LESS,
        "identity_notification_transports.webhook_mapping_headers": LESS,
    },
    "identity_keypairs": {
        "identity_providers_applicationgateway.certificate": HELD,
        "identity_providers_ldap.certificate": HELD,
        "identity_providers_oauth.signing_key": HELD,
        "identity_providers_openid.signing_key": HELD,
        "identity_providers_radius.certificate": HELD,
        "identity_providers_saml.encryption_kp": HELD,
        "identity_providers_saml.signing_kp": HELD,
        "identity_providers_saml.verification_kp": HELD,
        "identity_sources_ldap.client_certificate": HELD,
        "identity_sources_ldap.peer_certificate": HELD,
        "identity_sources_saml.encryption_kp": HELD,
        "identity_sources_saml.signing_kp": HELD,
        "identity_sources_saml.verification_kp": HELD,
        "identity_brands.web_certificate": LESS,
    },
}


@pytest.mark.parametrize("named", REFERENCES)
def test_every_reference_to_what_decides_has_been_thought_of(named: str) -> None:
    """Whoever adds one says here what becomes of it: null, or no row, must never mean that everybody may."""
    rules = {
        f"{table.name}.{key.parent.name}": key.ondelete
        for table in METADATA.tables.values()
        for key in table.foreign_keys
        if key.column.table.name == named and not _is_kind(table.name, named, key.parent.name)
    }
    assert rules.keys() == REFERENCES[named].keys()
    assert {one for one, rule in rules.items() if rule == "RESTRICT"} == {
        one for one, becomes in REFERENCES[named].items() if becomes == HELD
    }
    lost = [rule for one, rule in rules.items() if REFERENCES[named][one] == LOST]
    assert set(lost) <= {"SET NULL"}


def _is_kind(table: str, family: str, column: str) -> bool:
    """The table of a kind, whose rows are the other half of the family's."""
    return (
        table.startswith(f"{family}_")
        and METADATA.tables[table].c[column].primary_key
        and column not in ("owner", "other")
    )
