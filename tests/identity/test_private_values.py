"""Secrets in texts and objects that are no secrets by themselves: who is shown them, and what events tell of them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kith.identity.collections import RESOURCES
from kith.identity.rest import Resource
from kith.identity.rest.fields import Choices, Field, Object, Offset, Secret, Text
from kith.identity.rest.record_store import RecordStore
from tests.identity.records import API, make, new_name, owner_of, person_who_may, results
from tests.identity.relying_party import make_party
from tests.town import Person, Town

MASK = "********"
FINGERPRINT = re.compile(r"fingerprint:[0-9a-f]{12}")
# Texts and objects that events tell as they are: names, words for people, public addresses and what is asked for.
# Whatever may hold a secret is declared `private` (or `guarded`, if not everybody may see it who sees the record).
TOLD_IN_CLEAR = {
    "name", "slug", "title", "group", "label", "description", "background", "comment", "value", "reason",
    "identifier", "action", "app", "model", "query", "domain", "username", "email", "path", "managed", "gone_name",
    "user_path_template", "icon", "host", "subject", "meta_launch_url", "meta_icon_url", "meta_description",
    "meta_publisher", "branding_title", "branding_logo", "branding_favicon", "branding_custom_css", "scopes",
    "permissions", "countries", "asns", "response_types", "client_ip", "certificate_data", "email_subject_prefix",
    "from_address", "deny_message", "error_message", "field_key", "sub_text", "friendly_name", "password_field",
    "symbol_charset", "object_field", "saml_name", "scope_name", "internal_host", "external_host",
    "skip_path_regex", "basic_auth_user_attribute", "basic_auth_password_attribute", "cookie_domain", "base_dn",
    "tls_server_name", "client_id", "client_networks", "redirect_uris", "_redirect_uris", "_scope",
    "post_logout_redirect_uris", "jwks_uri", "request_uris", "logout_uri", "acs_url", "audience", "issuer",
    "sls_url", "default_relay_state", "url", "server_uri", "bind_cn", "additional_user_dn", "additional_group_dn",
    "user_object_filter", "group_object_filter", "user_group_membership_field", "group_membership_field",
    "user_membership_attribute", "object_uniqueness_field", "request_token_url", "authorization_url",
    "access_token_url", "profile_url", "consumer_key", "additional_scopes", "oidc_well_known_url", "oidc_jwks_url",
    "idp_issuer", "sso_url", "slo_url", "audience_override", "public_key", "js_url", "api_url", "user_fields",
    "device_classes", "webauthn_hints", "hints", "backends", "device_type_restrictions",
}  # fmt: skip


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


def _free(resource: Resource[Any]) -> list[Field]:
    """Fields in which anything can be written."""
    is_free = (Text, Object, Choices)
    written = [one for one in resource.all_fields if not one.read_only and not one.write_only]
    return [one for one in written if isinstance(one, is_free) and not isinstance(one, (Secret, Offset))]


def test_of_every_text_and_object_it_is_decided_what_events_tell() -> None:
    written = [one for one in RESOURCES if one.is_audited and one.allow & {"create", "update", "partial_update"}]
    fields = [(resource.path, field) for resource in written for field in _free(resource)]
    undecided = [
        f"{path}{field.name}"
        for path, field in fields
        if field.name not in TOLD_IN_CLEAR and not (field.private or field.guarded)
    ]
    assert undecided == [], "Declare it private or guarded if a secret may stand in it, else list it above."
    objects = [(path, field) for path, field in fields if isinstance(field, Object)]
    assert [path for path, field in objects if not (field.private or field.guarded)] == []


def test_nobody_finds_by_a_search_what_they_are_not_shown() -> None:
    guarded = [(resource, field.name) for resource in RESOURCES for field in resource.all_fields if field.guarded]
    assert {(resource.path, name) for resource, name in guarded} == {
        ("/managed/blueprints/", "content"),
        ("/managed/blueprints/", "context"),
        ("/events/transports/", "webhook_url"),
    }
    for resource, name in guarded:
        asked = {*resource.exact, *resource.search, *resource.export, *(one.name for one in resource.filters)}
        assert name not in asked | RecordStore(resource).sortable.keys() | {resource.label}


def _blueprint(word: str) -> str:
    name = new_name("person")
    return f"""
version: 1
metadata: {{name: x}}
entries:
  - model: core.user
    identifiers: {{username: {name}}}
    attrs: {{name: x, password: {word}-Correct-42}}
"""


def _written(word: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Records, the secrets in them, and the same with others."""
    name = new_name("r")
    expression = "return {{'x': '{}'}}"
    prompt = {"field_key": "x", "label": "x", "type": "hidden"}
    one, other = f"{word}One", f"{word}Two"
    return [
        (
            "/managed/blueprints/",
            {"name": name, "content": _blueprint(one), "context": {"plain": one}},
            {"content": _blueprint(other), "context": {"plain": other}},
        ),
        (
            "/events/transports/",
            {"name": name, "mode": "webhook", "webhook_url": f"https://hooks.example/{one}"},
            {"webhook_url": f"https://hooks.example/{other}"},
        ),
        (
            "/propertymappings/notification/",
            {"name": name, "expression": expression.format(one)},
            {"expression": expression.format(other)},
        ),
        (
            "/policies/expression/",
            {"name": name, "expression": expression.format(one)},
            {"expression": expression.format(other)},
        ),
        (
            "/stages/prompt/prompts/",
            prompt | {"name": name, "placeholder": one, "initial_value": one},
            {"placeholder": other, "initial_value": other},
        ),
        ("/core/groups/", {"name": name, "attributes": {"x": one}}, {"attributes": {"x": other, "y": {"z": one}}}),
        (
            "/stages/invitation/invitations/",
            {"name": name, "fixed_data": {"x": one}},
            {"fixed_data": {"x": other}},
        ),
    ]


def _latest(events: list[dict[str, Any]], what: str, change: dict[str, Any]) -> dict[str, Any]:
    """What was told of the latest record with these fields, or of their change."""
    found = (one["context"].get(what, {}) for one in events)
    return next(one for one in found if set(change) <= one.keys())


@pytest.mark.parametrize("place", range(7))
async def test_events_tell_that_it_changed_and_not_what_it_is(town: Town, ada: Person, place: int) -> None:
    """So do the log, and whatever is given events: rules, and those who are notified by them."""
    word = new_name("hidden")
    path, body, change = _written(word)[place]
    made = await make(ada, path, **body)
    changed = await ada.call("PATCH", f"{API}{path}{made['pk']}/", json=change)
    assert changed.status_code == 200, changed.text
    reader = await person_who_may(town, ada, "audit.view_event")

    events = await results(reader, "/audit/events/", ordering="-created", search="model_")

    told = _latest(events, "created", change)
    diff = _latest(events, "diff", change)
    for name in change:
        first, was, now = told[name], diff[name]["previous_value"], diff[name]["new_value"]
        assert first == was != now
        assert all(FINGERPRINT.fullmatch(one) for one in (now.values() if isinstance(now, dict) else [now]))
    assert word not in json.dumps(events)
    assert word not in town.log()
    again = await make(ada, path, **body | {"name": new_name("again")})  # a guess at what the first one is
    latest = await results(reader, "/audit/events/", ordering="-created", search="model_created")
    guess = _latest(latest, "created", change)
    assert again["pk"] != made["pk"]
    assert not [name for name in change if guess[name] == told[name]]


async def test_a_webhook_is_shown_to_those_who_may_see_secrets(town: Town, ada: Person) -> None:
    url, path = f"https://hooks.example/{new_name('key')}", "/events/transports/"
    made = await make(ada, path, name=new_name("t"), mode="webhook", webhook_url=url)
    item, rights = f"{API}{path}{made['pk']}/", [f"events.{verb}_notificationtransport" for verb in ("view", "change")]
    looker, editor = [await person_who_may(town, ada, *some) for some in (rights[:1], rights)]
    keeper = await person_who_may(town, ada, *rights, "core.view_secret")

    shown = (await editor.get(item)).json()
    put = await editor.call("PUT", item, json=shown | {"name": new_name("renamed")})

    assert (made["webhook_url"], shown["webhook_url"]) == (url, MASK)
    assert (put.status_code, put.json()["webhook_url"]) == (200, MASK)
    assert (await looker.get(item)).json()["webhook_url"] == MASK
    assert [(await one.get(item)).json()["webhook_url"] for one in (ada, keeper)] == [url, url]
    for person in (ada, keeper, editor, looker):
        listed = await results(person, path, search=put.json()["name"], webhook_url=url)
        assert [one["webhook_url"] for one in listed] == [MASK]
        assert await results(person, path, webhook_url=f"{url}x") == await results(person, path)
    seen = await results(ada, "/audit/events/", action="secret_view", username=keeper.username)
    assert [one["context"]["viewed"] for one in seen] == ["webhook_url"]


async def test_what_a_blueprint_says_is_shown_to_those_who_may_see_secrets(town: Town, ada: Person) -> None:
    word, path = new_name("hidden"), "/managed/blueprints/"
    content = _blueprint(word)
    made = await make(ada, path, name=new_name("b"), content=content, context={"plain": word, "empty": ""})
    item, rights = f"{API}{path}{made['pk']}/", [f"managed.{verb}_blueprintinstance" for verb in ("view", "change")]
    editor = await person_who_may(town, ada, *rights)
    keeper = await person_who_may(town, ada, *rights, "core.view_secret")

    shown = (await editor.get(item)).json()
    put = await editor.call("PUT", item, json=shown | {"name": new_name("renamed")})
    applied = await editor.call("POST", f"{item}apply/", json={})

    assert (shown["content"], shown["context"]) == (MASK, {"plain": MASK, "empty": ""})
    assert (put.status_code, applied.status_code) == (200, 200), put.text
    assert word not in put.text + applied.text + (await editor.get(API + path)).text + (await ada.get(API + path)).text
    for person in (ada, keeper):
        seen = (await person.get(item)).json()
        assert (seen["content"], seen["context"]) == (content, {"plain": word, "empty": ""})
    part = await ada.call("PATCH", item, json={"context": {"plain": MASK, "more": "m"}})
    assert part.json()["context"] == {"plain": word, "more": "m"}


async def test_a_blueprint_finds_nothing_for_those_who_are_not_shown_it(town: Town, ada: Person) -> None:
    url, name = f"https://hooks.example/{new_name('key')}", new_name("t")
    await make(ada, "/events/transports/", name=name, mode="webhook", webhook_url=url)
    verbs = [f"events.{verb}_notificationtransport" for verb in ("view", "add", "change", "delete")]
    groups = [f"core.{verb}_group" for verb in ("view", "add", "change", "delete")]
    author = await person_who_may(town, ada, "managed.add_blueprintinstance", *verbs, *groups)

    async def told(entry: str) -> str:
        content = f"version: 1\nmetadata: {{name: x}}\nentries:\n{entry}"
        answer = await author.call(
            "POST", f"{API}/managed/blueprints/import/", json={"content": content, "rehearse": True}
        )
        assert answer.status_code == 200, answer.text
        return answer.text

    found = f"!FindObject [events.notificationtransport, [name, {name}]]"
    group = (
        f"  - model: core.group\n    identifiers: {{name: {new_name('g')}}}\n    attrs: {{attributes: {{x: {found}}}}}"
    )
    transport = "  - model: events.notificationtransport\n    identifiers: {%s}\n    attrs: {webhook_url: '%s'}"
    whole = await told(group)
    assert '"success":true' in whole
    assert MASK in whole
    changed = await told(transport % (f"name: {name}", "https://elsewhere.example/"))
    assert '"success":true' in changed
    guessed = await told(transport % (f"webhook_url: '{url}'", url))
    assert "cannot be found by" in guessed
    assert url not in whole + changed


# Attributes that are passwords


async def test_no_expression_is_told_the_passwords_of_applications(town: Town, ada: Person) -> None:
    """Neither one that is tried nor one that counts; whoever writes it may send what it is told anywhere."""
    attribute, word, name = f"nas{new_name('a').replace('-', '')}", new_name("hidden"), new_name("gw")
    await make(
        ada, "/providers/applicationgateway/", name=name, external_host=f"https://{name}.example.org",
        internal_host="http://inside.example", basic_auth_enabled=True, basic_auth_user_attribute="nas_user",
        basic_auth_password_attribute=attribute,
    )  # fmt: skip
    group = await make(ada, "/core/groups/", name=new_name("g"), attributes={attribute: word})
    victim = await town.sign_up()
    [hers] = await results(ada, "/core/users/", username=victim.username)
    change = {"attributes": {attribute: word, "desk": "3"}, "groups": [group["pk"]]}
    assert (await ada.call("PATCH", f"{API}/core/users/{hers['pk']}/", json=change)).status_code == 200
    says = "[user.attributes, [g.attributes for g in user.groups], user_by(pk=user.pk).attributes]"
    mapping = await make(
        ada, "/propertymappings/scope/", name=name, scope_name="x", expression=f"return {{'x': {says}}}"
    )
    policy = await make(ada, "/policies/expression/", name=name, expression=f"ak_message(str({says}))\nreturn True")
    party = await make_party(town, ada, property_mappings=[mapping["pk"]])
    drafts = [f"/{one}/test/" for one in ("propertymappings/scope", "propertymappings/scim", "policies/expression")]
    tester = await person_who_may(
        town, ada, "core.view_user", "policies.view_policy", "policies.add_expressionpolicy",
        "propertymappings.view_propertymapping", "propertymappings.add_scopemapping",
        "propertymappings.add_scimmapping", "providers.view_openidprovider",
    )  # fmt: skip

    asked = {"user": hers["pk"]}
    told = [
        await tester.call("POST", API + path, json=asked | {"expression": f"ak_message(str({says}))\nreturn {says}"})
        if "policies" in path
        else await tester.call("POST", API + path, json=asked | {"expression": f"return {says}"})
        for path in drafts
    ]
    told += [
        await tester.call("POST", f"{API}/propertymappings/all/{mapping['pk']}/test/", json=asked),
        await tester.call("POST", f"{API}/policies/all/{policy['pk']}/test/", json=asked),
        await tester.get(
            f"{API}/providers/openid/{party.provider['pk']}/preview_user/", params={"for_user": hers["pk"]}
        ),
    ]

    for answer in told:
        assert answer.status_code == 200, answer.text
        assert word not in answer.text
        assert answer.text.count(MASK) == 3, answer.text
        assert "desk" in answer.text


async def test_who_asks_name_servers_may_see_people(town: Town, ada: Person) -> None:
    """What an expression knows of somebody can be part of a name that it asks for."""
    rights = (
        "policies.add_expressionpolicy",
        "propertymappings.add_scopemapping",
        "propertymappings.view_propertymapping",
    )
    author = await person_who_may(town, ada, *rights)
    seer = await person_who_may(town, ada, *rights, "core.view_user")
    for call in ("resolve_dns(request.user.username + '.evil.invalid')", "reverse_dns('127.0.0.1')"):
        for path, more in (("/policies/expression/", {}), ("/propertymappings/scope/", {"scope_name": "x"})):
            body = {"name": new_name("x"), "expression": f"return {{'x': {call}}}"} | more
            tried = {"expression": body["expression"]}
            for place, sent, right in ((path, body, 201), (f"{path}test/", tried, 200)):
                refused = await author.call("POST", API + place, json=sent)
                assert (refused.status_code, set(refused.json())) == (400, {"expression"}), refused.text
                allowed = await seer.call("POST", API + place, json=sent | {"name": new_name("y")})
                assert allowed.status_code == right, allowed.text
    saved = await make(
        ada, "/propertymappings/scope/", name=new_name("x"), scope_name="x",
        expression="return {'x': resolve_dns(request.context['host'])}",
    )  # fmt: skip
    answer = await author.call(
        "POST", f"{API}/propertymappings/all/{saved['pk']}/test/", json={"context": {"host": "a.invalid"}}
    )
    assert "takes the right core.view_user" in answer.json()["result"]
