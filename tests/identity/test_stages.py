"""Stages: what each kind holds, what it refuses, and what goes with it."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select

from kith.base.db import METADATA, connect, query
from kith.base.settings import load
from kith.identity.flows.stages import stages as table
from kith.identity.stages.all_stages import VERBOSE_NAMES
from kith.identity.stages.collections import RESOURCES
from tests.identity.records import (
    API,
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

NOWHERE = str(uuid.UUID(int=9))
REQUIRED = ["This field is required."]
KINDS = [resource for resource in RESOURCES if resource.family is not None]


def prompt(**fields: Any) -> dict[str, Any]:
    return {"field_key": "nickname", "label": "Nickname", "type": "text", "placeholder": "What friends say"} | fields


async def make_prompt_stage(person: Person, *prompts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    given = {"name": new_name("form"), "fields": [one["pk"] for one in prompts]}
    return await make(person, "/stages/prompt/stages/", **given | fields)


def test_every_kind_has_a_name_for_people() -> None:
    assert {resource.kind for resource in KINDS} == set(VERBOSE_NAMES)
    assert all(resource.family is not None and resource.family.table is table for resource in KINDS)


MADE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "captcha",
        {"public_key": "site", "private_key": "hush"},
        {
            "public_key": "site", "request_content_type": "application/x-www-form-urlencoded", "interactive": False,
            "score_min_threshold": 0.5, "score_max_threshold": 1.0, "error_on_invalid_score": True,
        },
    ),
    ("captcha", {"public_key": 7, "private_key": "x", "request_content_type": "json"}, {"public_key": "7", "request_content_type": "application/json"}),
    ("consent", {}, {"mode": "always_require", "consent_expire_in": "weeks=4"}),
    ("deny", {}, {"deny_message": ""}),
    ("dummy", {}, {"throw_error": False}),
    (
        "email",
        {"password": "hush"},
        {
            "host": "localhost", "port": 25, "username": "", "use_tls": False, "use_ssl": False, "timeout": 10,
            "from_address": "system@127.0.0.1", "token_expiry": 30, "subject": "Kith", "template": "password_reset",
            "use_global_settings": True, "activate_user_on_success": False, "recovery_max_attempts": 5,
            "recovery_cache_timeout": "minutes=5",
        },
    ),
    ("email", {"template": "stages/email/for_email/account_confirmation.html", "from_address": "post@example.org", "subject": "Hello"}, {"template": "account_confirmation", "from_address": "post@example.org", "subject": "Hello"}),
    ("email", {"template": "email/password_reset.html"}, {"template": "password_reset"}),
    (
        "identification",
        {"user_fields": ["username", "email", "username"], "template": "stages/identification/login.html"},
        {
            "user_fields": ["username", "email"], "template": "login", "enrollment_flow": None, "recovery_flow": None,
            "case_insensitive_matching": True, "show_matched_user": True, "pretend_user_exists": True,
            "enable_remember_me": False, "sources": [], "show_source_labels": False, "password_stage": None,
        },
    ),
    ("invitation", {}, {"continue_flow_without_invitation": False}),
    ("otp", {"enforced": "yes"}, {"enforced": True}),
    ("otp_static", {}, {"token_count": 6, "token_length": 12, "configure_flow": None, "friendly_name": ""}),
    ("otp_time", {"digits": "8"}, {"digits": 8, "configure_flow": None}),
    (
        "otp_validate",
        {},
        {
            "not_configured_action": "skip", "configuration_stages": [], "last_auth_threshold": "seconds=0",
            "device_classes": ["static", "totp", "webauthn", "duo", "sms", "email"], "webauthn_hints": [],
            "webauthn_user_verification": "preferred", "totp_otp_throttling_factor": 1.0,
        },
    ),
    ("password", {"backends": ["ldap", "internal"]}, {"backends": ["ldap", "internal"], "configure_flow": None, "change_flow": None, "failed_attempts_before_cancel": 5, "allow_show_password": False}),
    ("password", {"backends": ["django.contrib.auth.backends.ModelBackend"]}, {"backends": ["internal"]}),
    ("user_delete", {}, {}),
    ("user_login", {}, {"session_duration": 0, "remember_me_offset": "seconds=0", "terminate_other_sessions": False, "remember_device": "days=30"}),
    ("user_logout", {}, {}),
    ("user_write", {}, {"user_creation_mode": "create_when_required", "create_users_as_inactive": False, "create_users_group": None, "user_type": "external", "user_path_template": ""}),
    (
        "webauthn",
        {"device_type_restrictions": [NOWHERE.replace("-", ""), NOWHERE.upper()]},
        {
            "user_verification": "preferred", "resident_key_requirement": "preferred", "hints": [], "max_attempts": 0,
            "authenticator_attachment": None, "configure_flow": None, "device_type_restrictions": [NOWHERE],
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "given", "told"), MADE)
async def test_a_stage_is_made_read_put_back_and_deleted(
    town: Town, kind: str, given: dict[str, Any], told: dict[str, Any]
) -> None:
    ada = await owner_of(town)
    name = new_name(kind)

    made = await make(ada, f"/stages/{kind}/", name=name, **given)
    item = f"{API}/stages/{kind}/{made['pk']}/"
    read = (await ada.get(item)).json()
    whole = await ada.call("PUT", item, json=read)
    renamed = await ada.call("PATCH", item, json={"name": name + "x"})
    gone = await ada.call("DELETE", item)

    assert {field: made[field] for field in told} == told
    assert made == read
    assert made["pk"] == made["stage_uuid"]
    assert not {"password", "private_key"} & set(made)
    assert whole.status_code == 200
    assert whole.json() | {"last_updated": None} == read | {"last_updated": None}
    assert renamed.json()["name"] == name + "x"
    assert gone.status_code == 204
    assert (await ada.get(item)).status_code == 404


_CHOICE = '"{}" is not a valid choice.'
_LEAST = "Ensure this value is greater than or equal to {}."
_MOST = "Ensure this value is less than or equal to {}."
_GONE = f'Invalid pk "{NOWHERE}" - object does not exist.'

REFUSED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("captcha", {"name": "x"}, {"public_key": REQUIRED, "private_key": REQUIRED}),
    ("captcha", {"name": "x", "public_key": "", "private_key": "y"}, {"public_key": ["This field may not be blank."]}),
    (
        "captcha",
        {"name": "x", "public_key": "x", "private_key": "y", "score_min_threshold": 0.9, "score_max_threshold": 0.1},
        {"score_max_threshold": [_LEAST.format("score_min_threshold")]},
    ),
    ("consent", {"name": "x", "mode": "never"}, {"mode": [_CHOICE.format("never")]}),
    (
        "consent",
        {"name": "x", "consent_expire_in": "soon"},
        {"consent_expire_in": ["soon is not in the correct format of 'hours=3;minutes=1'."]},
    ),
    ("consent", {"name": "x", "consent_expire_in": "days=-1"}, {"consent_expire_in": [_LEAST.format("seconds=1")]}),
    ("dummy", {}, {"name": REQUIRED}),
    ("dummy", {"name": " "}, {"name": ["This field may not be blank."]}),
    (
        "email",
        {"name": "x", "use_tls": True, "use_ssl": True},
        {"non_field_errors": ["Only one of use_tls and use_ssl can be set."]},
    ),
    ("email", {"name": "x", "port": 0}, {"port": [_LEAST.format(1)]}),
    ("email", {"name": "x", "port": 65536}, {"port": [_MOST.format(65535)]}),
    ("email", {"name": "x", "timeout": -1, "token_expiry": 0}, {"timeout": [_LEAST.format(1)], "token_expiry": [_LEAST.format(1)]}),
    ("email", {"name": "x", "template": "../secrets"}, {"template": [_CHOICE.format("../secrets")]}),
    ("email", {"name": "x", "from_address": "nobody"}, {"from_address": ["Enter a valid email address."]}),
    ("email", {"name": "x", "from_address": "", "subject": ""}, {"from_address": ["This field may not be blank."], "subject": ["This field may not be blank."]}),
    ("identification", {"name": "x"}, {"user_fields": REQUIRED, "template": REQUIRED}),
    (
        "identification",
        {"name": "x", "template": "login", "user_fields": []},
        {"non_field_errors": ["When no user fields are selected, at least one source must be selected."]},
    ),
    ("identification", {"name": "x", "template": "login", "user_fields": ["phone"]}, {"user_fields": [_CHOICE.format("phone")]}),
    ("identification", {"name": "x", "template": "login", "user_fields": "email"}, {"user_fields": ['Expected a list of items but got type "str".']}),
    ("identification", {"name": "x", "template": "login", "user_fields": ["email"], "sources": [NOWHERE]}, {"sources": [_GONE]}),
    ("otp_static", {"name": "x", "token_count": 0}, {"token_count": [_LEAST.format(1)]}),
    ("otp_static", {"name": "x", "token_count": 101}, {"token_count": [_MOST.format(100)]}),
    ("otp_time", {"name": "x"}, {"digits": REQUIRED}),
    ("otp_time", {"name": "x", "digits": 7}, {"digits": [_CHOICE.format(7)]}),
    (
        "otp_validate",
        {"name": "x", "not_configured_action": "configure"},
        {"configuration_stages": ["Needed when not_configured_action is configure."]},
    ),
    ("otp_validate", {"name": "x", "configuration_stages": [NOWHERE]}, {"configuration_stages": [_GONE]}),
    ("password", {"name": "x"}, {"backends": REQUIRED}),
    ("password", {"name": "x", "backends": []}, {"backends": ["This list may not be empty."]}),
    ("password", {"name": "x", "backends": ["magic"]}, {"backends": [_CHOICE.format("magic")]}),
    ("password", {"name": "x", "backends": ["internal"], "change_flow": NOWHERE}, {"configure_flow": [_GONE]}),
    ("user_login", {"name": "x", "session_duration": -1}, {"session_duration": [_LEAST.format(0)]}),
    ("user_login", {"name": "x", "session_duration": 2**31}, {"session_duration": [_MOST.format(2**31 - 1)]}),
    ("user_login", {"name": "x", "remember_me_offset": "days=-2"}, {"remember_me_offset": [_LEAST.format("seconds=0")]}),
    ("user_write", {"name": "x", "create_users_group": NOWHERE}, {"create_users_group": [_GONE]}),
    ("webauthn", {"name": "x", "max_attempts": -1}, {"max_attempts": [_LEAST.format(0)]}),
    ("webauthn", {"name": "x", "authenticator_attachment": "glued"}, {"authenticator_attachment": [_CHOICE.format("glued")]}),
    ("webauthn", {"name": "x", "device_type_restrictions": ["any"]}, {"device_type_restrictions": ["Must be a valid UUID."]}),
    ("prompt/stages", {"name": "x"}, {"fields": REQUIRED}),
    ("prompt/stages", {"name": "x", "fields": []}, {"fields": ["This list may not be empty."]}),
    ("prompt/stages", {"name": "x", "fields": [NOWHERE]}, {"fields": [_GONE]}),
    ("prompt/prompts", {}, dict.fromkeys(("field_key", "label", "type", "placeholder"), REQUIRED)),
    ("prompt/prompts", prompt(type="colour"), {"type": [_CHOICE.format("colour")]}),
    (
        "prompt/prompts",
        prompt(field_key="two words"),
        {"field_key": ["Enter a valid 'slug' consisting of letters, numbers, underscores or hyphens."]},
    ),
    ("prompt/prompts", prompt(placeholder=""), {"placeholder": ["This field may not be blank."]}),
    ("invitation/invitations", {"fixed_data": []}, {"fixed_data": ['Expected a dictionary of items but got type "list".']}),
    (
        "invitation/invitations",
        {"expires": "tomorrow"},
        {"expires": ["Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]."]},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "given", "complaint"), REFUSED)
async def test_what_a_stage_refuses(town: Town, kind: str, given: dict[str, Any], complaint: dict[str, Any]) -> None:
    ada = await owner_of(town)

    answer = await ada.call("POST", f"{API}/stages/{kind}/", json=given)

    assert answer.status_code == 400
    assert answer.json() == complaint


@pytest.mark.parametrize(
    ("kind", "given", "field", "designation"),
    [
        ("identification", {"user_fields": ["email"], "template": "login"}, "enrollment_flow", "enrollment"),
        ("identification", {"user_fields": ["email"], "template": "login"}, "recovery_flow", "recovery"),
        ("identification", {"user_fields": ["email"], "template": "login"}, "passwordless_flow", "authentication"),
        ("password", {"backends": ["internal"]}, "configure_flow", "stage_setup"),
        ("password", {"backends": ["internal"]}, "change_flow", "stage_setup"),
        ("otp_static", {}, "configure_flow", "stage_setup"),
        ("otp_time", {"digits": 6}, "configure_flow", "stage_setup"),
        ("webauthn", {}, "configure_flow", "stage_setup"),
    ],
)
async def test_a_stage_takes_only_flows_made_for_the_purpose(
    town: Town, kind: str, given: dict[str, Any], field: str, designation: str
) -> None:
    ada = await owner_of(town)
    right, wrong = await make_flow(ada, designation), await make_flow(ada, "invalidation")

    made = await make_stage(ada, kind, **given | {field: right["pk"]})
    refused = await ada.call("PATCH", f"{API}/stages/{kind}/{made['pk']}/", json={field: wrong["pk"]})

    assert made[field] == right["pk"]
    assert refused.status_code == 400
    assert list(refused.json().values()) == [[f'Invalid pk "{wrong["pk"]}" - object does not exist.']]


async def test_a_stage_takes_only_stages_made_for_the_purpose(town: Town) -> None:
    ada = await owner_of(town)
    password, dummy = await make_stage(ada, "password", backends=["internal"]), await make_stage(ada)
    totp = await make_stage(ada, "otp_time", digits=6)
    here = {"user_fields": ["email"], "template": "login"}

    asking = await make_stage(ada, "identification", **here, password_stage=password["pk"])
    wrong = await ada.call(
        "PATCH", f"{API}/stages/identification/{asking['pk']}/", json={"password_stage": dummy["pk"]}
    )
    validating = await make_stage(
        ada, "otp_validate", not_configured_action="configure", configuration_stages=[totp["pk"]]
    )
    item = f"{API}/stages/otp_validate/{validating['pk']}/"
    unfit = await ada.call("PATCH", item, json={"configuration_stages": [dummy["pk"]]})
    emptied = await ada.call("PATCH", item, json={"configuration_stages": []})
    held = await ada.call("DELETE", f"{API}/stages/password/{password['pk']}/")

    assert wrong.json() == {"password_stage": [f'Invalid pk "{dummy["pk"]}" - object does not exist.']}
    assert validating["configuration_stages"] == [totp["pk"]]
    assert unfit.json() == {"configuration_stages": [f'Invalid pk "{dummy["pk"]}" - object does not exist.']}
    assert emptied.status_code == 400
    assert (held.status_code, held.json()["references"][0]["name"]) == (409, asking["name"])


async def test_an_identification_stage_may_live_from_sources_alone(town: Town) -> None:
    ada = await owner_of(town)
    url = "https://id.example.org/x"
    source = await make(
        ada,
        "/sources/oauth/",
        name="S",
        slug=new_name("s"),
        provider_type="github",
        authorization_url=url,
        access_token_url=url,
        profile_url=url,
        consumer_key="k",
        consumer_secret="s",
    )

    stage = await make_stage(ada, "identification", user_fields=[], template="login", sources=[source["pk"]])
    item = f"{API}/stages/identification/{stage['pk']}/"
    emptied = await ada.call("PATCH", item, json={"sources": []})

    assert stage["sources"] == [source["pk"]]
    assert emptied.status_code == 400


async def test_the_parts_of_a_rule_are_checked_against_what_is_stored(town: Town) -> None:
    ada = await owner_of(town)
    stage = await make_stage(ada, "email", use_tls=True)

    answer = await ada.call("PATCH", f"{API}/stages/email/{stage['pk']}/", json={"use_ssl": True})

    assert answer.json() == {"non_field_errors": ["Only one of use_tls and use_ssl can be set."]}


async def test_secrets_are_stored_sealed_and_kept_when_left_out(town: Town) -> None:
    ada = await owner_of(town)
    secret = f"hush {uuid.uuid4()}"
    stage = await make_stage(ada, "captcha", public_key="x", private_key=secret)

    put = await ada.call("PUT", f"{API}/stages/captcha/{stage['pk']}/", json={"name": stage["name"], "public_key": "y"})

    assert put.status_code == 200
    assert secret not in put.text
    database = await connect(load(town.environment), connections=2)
    try:
        [kept] = [
            row["private_key"]
            for row in await _rows(database, "identity_stages_captcha")
            if row["stage_uuid"] == stage["pk"]
        ]
    finally:
        await database.close()
    assert kept.startswith("v1:")
    assert secret not in kept


async def _rows(database: Any, name: str) -> list[dict[str, Any]]:
    wanted = METADATA.tables[name]
    names = [column.name for column in wanted.columns]
    return [dict(zip(names, row, strict=True)) for row in await database.session().all(query(select(wanted), tuple))]


async def test_all_stages_tell_their_kind_and_their_flows(town: Town) -> None:
    ada = await owner_of(town)
    login, form = (
        await make_stage(ada, "user_login"),
        await make_prompt_stage(ada, await make(ada, "/stages/prompt/prompts/", **prompt())),
    )
    flow, other = await make_flow(ada, "authentication"), await make_flow(ada, "enrollment")
    await make_binding(ada, flow, login, order=1)
    await make_binding(ada, flow, login, order=2)
    await make_binding(ada, other, login)
    await make_binding(ada, other, form)

    told = (await ada.get(f"{API}/stages/all/{login['pk']}/")).json()
    [listed] = await results(ada, "/stages/all/", search=form["name"])
    refused = await ada.call("DELETE", f"{API}/stages/all/{login['pk']}/")
    by_other_id = await ada.get(f"{API}/stages/all/{form['pk']}/")

    assert (told["pk"], told["name"]) == (login["pk"], login["name"])
    assert (told["__type__"], told["verbose_name"]) == ("userlogin", "User Login Stage")
    assert sorted(one["slug"] for one in told["flow_set"]) == sorted([flow["slug"], other["slug"]])
    assert (listed["pk"], listed["__type__"]) == (form["stage_uuid"], "prompt")
    assert [one["pk"] for one in listed["flow_set"]] == [other["pk"]]
    assert refused.status_code == 405
    assert by_other_id.status_code == 404


async def test_a_stage_is_found_only_among_its_kind_and_its_name_is_its_own(town: Town) -> None:
    ada = await owner_of(town)
    stage = await make_stage(ada)

    elsewhere = await ada.get(f"{API}/stages/deny/{stage['pk']}/")
    taken = await ada.call("POST", f"{API}/stages/deny/", json={"name": stage["name"]})

    assert elsewhere.status_code == 404
    assert taken.json() == {"name": ["This field must be unique."]}


async def test_a_prompt_stage_is_a_stage_and_a_target_of_policies(town: Town) -> None:
    ada = await owner_of(town)
    asked = [await make(ada, "/stages/prompt/prompts/", **prompt(order=order)) for order in (2, 1)]
    policy = await make(ada, "/policies/dummy/", name=new_name("policy"))
    form = await make_prompt_stage(ada, *asked, validation_policies=[policy["pk"]])
    item = f"{API}/stages/prompt/stages/{form['pk']}/"

    await make(ada, "/policies/bindings/", policy=policy["pk"], target=form["pbm_uuid"], order=0)
    binding = await make_binding(ada, await make_flow(ada, "enrollment"), form)
    told = (await ada.get(item)).json()
    put = await ada.call("PUT", item, json=told | {"fields": [asked[0]["pk"]]})
    by_stage = await ada.get(f"{API}/stages/prompt/stages/{form['stage_uuid']}/")
    held = await ada.call("DELETE", item)
    await ada.call("DELETE", f"{API}/flows/bindings/{binding['pk']}/")
    gone = await ada.call("DELETE", item)

    assert form["pk"] == form["pbm_uuid"] != form["stage_uuid"]
    assert sorted(form["fields"]) == sorted(one["pk"] for one in asked)
    assert told["policies"] == told["validation_policies"] == [policy["pk"]]
    assert put.json()["fields"] == [asked[0]["pk"]]
    assert by_stage.status_code == 404
    assert (held.status_code, gone.status_code) == (409, 204)
    assert (await ada.get(f"{API}/stages/all/{form['stage_uuid']}/")).status_code == 404
    assert await results(ada, "/policies/bindings/", policy=policy["pk"]) == []
    for target in (form["pbm_uuid"], binding["pbm_uuid"]):
        answer = await ada.call(
            "POST", f"{API}/policies/bindings/", json={"policy": policy["pk"], "target": target, "order": 0}
        )
        assert answer.status_code == 400


async def test_a_prompt_that_a_stage_asks_stays(town: Town) -> None:
    ada = await owner_of(town)
    only, other = [await make(ada, "/stages/prompt/prompts/", **prompt()) for _ in range(2)]
    form, both = await make_prompt_stage(ada, only), await make_prompt_stage(ada, only, other)
    item = f"{API}/stages/prompt/prompts/{only['pk']}/"

    refused = await ada.call("DELETE", item)
    await ada.call("DELETE", f"{API}/stages/prompt/stages/{form['pk']}/")
    still = await ada.call("DELETE", item)
    await ada.call("PATCH", f"{API}/stages/prompt/stages/{both['pk']}/", json={"fields": [other["pk"]]})
    gone = await ada.call("DELETE", item)

    assert (refused.status_code, still.status_code, gone.status_code) == (409, 409, 204)
    named = [(one["pk"], one["name"]) for one in refused.json()["references"]]
    assert sorted(named) == sorted((one["pk"], one["name"]) for one in (form, both))


async def test_prompts_take_old_and_new_words(town: Town) -> None:
    ada = await owner_of(town)

    dates = [await make(ada, "/stages/prompt/prompts/", **prompt(type=kind)) for kind in ("data", "data-time", "date")]
    plain = await make(ada, "/stages/prompt/prompts/", **prompt(field_key="attributes.shoe-size", type="static"))
    code = await ada.call(
        "POST",
        f"{API}/stages/prompt/prompts/",
        json=prompt(placeholder="return (", placeholder_expression=True),
    )

    assert [one["type"] for one in dates] == ["date", "date-time", "date"]
    assert (plain["required"], plain["order"], plain["name"], plain["initial_value"]) == (True, 0, None, "")
    assert code.status_code == 400
    assert code.json()["placeholder"][0].startswith("Expression Syntax Error: ")


async def test_an_invitation_is_for_its_maker_and_for_those_who_may_see_them(town: Town) -> None:
    ada = await owner_of(town)
    bob = await person_who_may(town, ada, "stages.add_invitation")
    cleo = await person_who_may(town, ada, "stages.view_invitation")
    path = f"{API}/stages/invitation/invitations/"

    mine = await make(bob, "/stages/invitation/invitations/", fixed_data={"path": "friends"}, created_by=1)
    theirs = await make(ada, "/stages/invitation/invitations/", expires="2030-01-02T03:04:05+02:00")
    refused = await cleo.call("POST", path, json={})

    assert mine["pk"] == mine["invite_uuid"]
    assert (mine["expires"], mine["fixed_data"], mine["single_use"]) == (None, {"path": "friends"}, False)
    assert datetime.fromisoformat(theirs["expires"]) == datetime(2030, 1, 2, 1, 4, 5, tzinfo=UTC)
    assert [one["pk"] for one in await results(bob, "/stages/invitation/invitations/")] == [mine["pk"]]
    assert {mine["pk"], theirs["pk"]} <= {one["pk"] for one in await results(cleo, "/stages/invitation/invitations/")}
    assert (await bob.get(f"{path}{theirs['pk']}/")).status_code == 404
    assert (await cleo.get(f"{path}{theirs['pk']}/")).status_code == 200
    assert (await cleo.call("DELETE", f"{path}{theirs['pk']}/")).status_code == 404
    assert (await (await town.sign_up()).get(f"{path}{mine['pk']}/")).status_code == 404
    assert refused.status_code == 403
    assert (await bob.call("DELETE", f"{path}{mine['pk']}/")).status_code == 204


async def test_an_invitation_goes_with_its_maker_and_with_its_flow(town: Town) -> None:
    ada = await owner_of(town)
    bob = await person_who_may(town, ada, "stages.add_invitation")
    flow = await make_flow(ada, "enrollment")
    by_bob = await make(bob, "/stages/invitation/invitations/")
    for_flow = await make(ada, "/stages/invitation/invitations/", flow=flow["pk"], name="party")

    assert (await ada.call("DELETE", f"{API}/core/users/{by_bob['created_by']}/")).status_code == 204
    assert (await ada.call("DELETE", f"{API}/flows/instances/{flow['pk']}/")).status_code == 204

    for one in (by_bob, for_flow):
        assert (await ada.get(f"{API}/stages/invitation/invitations/{one['pk']}/")).status_code == 404


async def test_nobody_lets_newcomers_into_a_group_that_may_do_more(town: Town) -> None:
    ada = await owner_of(town)
    bob = await person_who_may(town, ada, "stages.add_userwritestage")
    mighty = await make(ada, "/core/groups/", name=new_name("mighty"), is_superuser=True)
    plain = await make(ada, "/core/groups/", name=new_name("plain"))

    refused = await bob.call(
        "POST", f"{API}/stages/user_write/", json={"name": new_name("w"), "create_users_group": mighty["pk"]}
    )
    made = await make_stage(bob, "user_write", create_users_group=plain["pk"])
    held = await ada.call("DELETE", f"{API}/core/groups/{plain['pk']}/")

    assert refused.json() == {"create_users_group": ["Only a superuser may make one."]}
    assert (held.status_code, held.json()["references"][0]["name"]) == (409, made["name"])


async def test_the_mails_an_email_stage_can_send(town: Town) -> None:
    ada = await owner_of(town)

    answer = await ada.get(f"{API}/stages/email/templates/")

    assert [one["name"] for one in answer.json()] == ["password_reset", "account_confirmation"]
    assert (await (await town.sign_up()).get(f"{API}/stages/email/templates/")).status_code == 403
