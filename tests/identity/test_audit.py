"""Whatever is done through the API is written down: by whom, from where, before and after, and never a secret."""

from __future__ import annotations

import asyncio
import re
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import ANY

import pytest

from kith.identity import invites
from kith.identity.audit.service import fingerprint
from kith.identity.collections import RESOURCES
from tests.identity.flow_browser import Browser
from tests.identity.record_maker import API, BY_PATH, Maker, word
from tests.identity.records import (
    make,
    make_binding,
    make_flow,
    make_stage,
    new_name,
    owner_of,
    person_who_may,
    results,
)
from tests.identity.seed import EVERYTHING, Collection
from tests.town import Person, Town

EVENTS = "/audit/events/"
WRITABLE = [one for one in EVERYTHING if "POST" in one.methods]
HIDDEN = "********************"
MASK = "********"
PRIVATE = {(one.path, field.name) for one in RESOURCES for field in one.all_fields if field.private or field.guarded}
SECRET_KEYS = {"/stages/invitation/invitations/"}  # collections whose records are used by whoever knows their key


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def me(person: Person) -> dict[str, Any]:
    found: dict[str, Any] = (await person.get(f"{API}/core/users/me/")).json()
    return found


async def history(ada: Person, collection: Collection, pk: object) -> list[dict[str, Any]]:
    """What was written down about one record, oldest first. A short number is in many events, so the newest are read."""
    pk = fingerprint(str(pk)) if collection.path in SECRET_KEYS else pk
    found = (await results(ada, EVENTS, search=f"{pk} model_", ordering="-created"))[::-1]
    model = {"app": collection.path.split("/")[1], "model_name": collection.record.lower(), "pk": pk}
    found = [one for one in found if one["action"].startswith("model_")]
    return [one for one in found if one["context"].get("model", {}).items() >= model.items()]


def by_path(collection: Collection) -> str:
    return collection.path


@pytest.mark.parametrize("collection", WRITABLE, ids=by_path)
async def test_every_change_leaves_an_event(ada: Person, collection: Collection) -> None:
    maker, owner = Maker(ada), await me(ada)
    made = await ada.call("POST", API + collection.path, json=await maker.body(collection))
    record = made.json()
    item = f"{API}{collection.path}{record['pk']}/"
    before = (await ada.get(item)).json()
    change = await maker.body(collection, collection.change)
    changed = await ada.call("PATCH", item, json=change, headers={"user-agent": "a browser"})
    await ada.call("PATCH", item, json={})
    await ada.call("PATCH", item, json=change)
    refused = await ada.call("PUT", item, json={next(iter(change)): {"not": ["this"]}})
    gone = await ada.call("DELETE", item)

    events = await history(ada, collection, record["pk"])

    # 200 where a field takes any document; what that wrote is left out below.
    assert refused.status_code in (400, 200)
    events = [one for one in events if one["context"]["http_request"]["request_id"] != refused.headers["x-request-id"]]
    assert [one["action"] for one in events] == ["model_created", "model_updated", "model_deleted"]
    for event, answer, method in zip(events, (made, changed, gone), ("POST", "PATCH", "DELETE"), strict=True):
        assert (event["user"], event["username"]) == (owner["pk"], owner["username"])
        assert event["client_ip"] == "127.0.0.1"
        assert event["app"] == f"{collection.path.split('/')[1]}.{collection.record.lower()}"
        asked = event["context"]["http_request"]
        assert (asked["request_id"], asked["method"]) == (answer.headers["x-request-id"], method)
        assert asked["path"].startswith(API + collection.path)
        assert event["context"]["model"]["name"]
        assert event["pk"] == event["event_uuid"]
        assert event["date"] == event["created"] < event["expires"]
    assert events[1]["context"]["http_request"]["user_agent"] == "a browser"
    after = changed.json()
    diff = events[1]["context"]["diff"]
    assert diff.keys() == change.keys()
    for name, sides in diff.items():
        was, becomes = sides["previous_value"], sides["new_value"]
        if (collection.path, name) in PRIVATE:
            assert was != becomes
            assert not {str(before[name]), str(after[name])} & {str(was), str(becomes)} - {"", "{}"}
        else:
            assert (was, becomes) == (before[name], after[name])


@pytest.mark.parametrize("path", ["/providers/openid/", "/providers/oauth/", "/policies/dummy/"])
async def test_a_record_without_a_name_is_named_by_what_it_is_known_by(ada: Person, path: str) -> None:
    collection = BY_PATH[path]
    sent = await Maker(ada).body(collection)
    if path != "/providers/oauth/":
        sent.pop("name")
    made = (await ada.call("POST", API + path, json=sent)).json()
    item = f"{API}{path}{made['pk']}/"
    change = await Maker(ada).body(collection, collection.change)
    assert (await ada.call("PATCH", item, json=change)).status_code == 200
    assert (await ada.call("DELETE", item)).status_code == 204

    events = await history(ada, collection, made["pk"])

    assert [one["action"] for one in events] == ["model_created", "model_updated", "model_deleted"]
    name = made.get("name") or made.get("client_id") or made["pk"]
    assert {one["context"]["model"]["name"] for one in events} == {name}


async def test_a_changed_list_and_a_renamed_record_are_told_as_they_were_and_are(ada: Person) -> None:
    pks = sorted([(await make(ada, "/core/users/", username=word(), name="N"))["pk"] for _ in range(3)])
    group = await make(ada, "/core/groups/", name=new_name("old"), user_set=pks[:2])
    item, name = f"{API}/core/groups/{group['pk']}/", new_name("new")

    await ada.call(
        "PUT", item, json={"name": name, "parent": None, "user_set": pks[1:], "attributes": {"api_key": "k"}}
    )

    *_, event = await history(ada, BY_PATH["/core/groups/"], group["pk"])
    assert event["context"]["model"]["name"] == name
    assert event["context"]["diff"] == {
        "name": {"previous_value": group["name"], "new_value": name},
        "user_set": {"previous_value": pks[:2], "new_value": pks[1:]},
        "attributes": {"previous_value": {}, "new_value": {"api_key": ANY}},
    }
    assert re.fullmatch("fingerprint:[0-9a-f]{12}", event["context"]["diff"]["attributes"]["new_value"]["api_key"])


# Reading what was written


async def test_events_are_found_by_what_they_say(town: Town, ada: Person) -> None:
    bob = await person_who_may(town, ada, "core.add_group", "core.view_group")
    his = (await me(bob))["pk"]
    group = await make(bob, "/core/groups/", name=new_name("bobs"))
    await bob.get(f"{API}/core/users/")
    [made] = await history(ada, BY_PATH["/core/groups/"], group["pk"])
    at = datetime.fromisoformat(made["created"])
    soon, before = (at + timedelta(microseconds=1)).isoformat(), (at - timedelta(microseconds=1)).isoformat()

    async def found(**params: Any) -> list[str]:
        return [one["pk"] for one in await results(ada, EVENTS, **{"username": bob.username} | params)]

    assert len(await found()) == 2
    assert await found(action="model_created") == await found(action="MODEL_CREATED") == [made["pk"]]
    assert await found(user=his, app="core.group") == [made["pk"]]
    assert await found(user=(await me(ada))["pk"]) == []
    assert await found(client_ip="127.0.0.1", action="model_created") == [made["pk"]]
    assert await found(client_ip="10.0.0.1") == []
    assert await found(app="core.api") != [made["pk"]]
    assert await found(created__gte=made["created"], created__lte=made["created"]) == [made["pk"]]
    assert made["pk"] not in await found(created__gte=soon) + await found(created__lte=before)
    for words in (group["name"], f"{group['name'].upper()} model_created", made["pk"], "core.group"):
        assert await found(search=words) == [made["pk"]], words
    assert await found(search=f"{group['name']} login") == []
    for name in ("created__gte", "created__lte", "user"):
        answer = await ada.get(API + EVENTS, params={name: "yesterday"})
        assert (answer.status_code, set(answer.json())) == (400, {name})
    listed = await results(ada, EVENTS, limit=50)
    assert [one["created"] for one in listed] == sorted((one["created"] for one in listed), reverse=True)


async def test_events_are_only_read(ada: Person) -> None:
    [event] = await results(ada, EVENTS, limit=1)
    for path, methods in (
        (EVENTS, ("POST", "PUT", "PATCH", "DELETE")),
        (f"{EVENTS}{event['pk']}/", ("PUT", "PATCH", "DELETE", "POST")),
    ):
        for method in methods:
            answer = await ada.call(method, API + path, json={"action": "login", "app": "x"})
            assert answer.status_code == 405
            assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
    assert (await ada.get(f"{API}{EVENTS}{event['pk']}/")).json() == event


async def test_an_event_outlives_the_person_it_names(town: Town, ada: Person) -> None:
    bob = await person_who_may(town, ada, "core.add_group")
    his = (await me(bob))["pk"]
    await make(bob, "/core/groups/", name=new_name("g"))
    assert (await ada.call("DELETE", f"{API}/core/users/{his}/")).status_code == 204

    [event] = await results(ada, EVENTS, username=bob.username, action="model_created")

    assert event["user"] is None
    assert await results(ada, EVENTS, user=his) == []


@pytest.mark.parametrize(
    ("method", "path", "permission"),
    [
        ("GET", "/core/users/", "core.view_user"),
        ("POST", "/policies/dummy/", "policies.add_dummypolicy"),
        ("PATCH", "/core/applications/00000000-0000-4000-8000-000000000000/", "core.change_application"),
        ("DELETE", "/rbac/roles/00000000-0000-4000-8000-000000000000/", "rbac.delete_role"),
        ("GET", "/audit/events/", "audit.view_event"),
        ("POST", "/core/users/1/set_password/", "core.reset_user_password"),
    ],
)
async def test_a_refusal_names_the_right_that_was_missing(
    town: Town, ada: Person, method: str, path: str, permission: str
) -> None:
    bob = await town.sign_up()

    answer = await bob.call(method, API + path, json={"password": "x"})

    assert answer.status_code == 403
    assert answer.json()["permission"] == permission
    [event] = await results(ada, EVENTS, username=bob.username, action="permission_denied")
    assert event["context"]["permission"] == permission
    assert event["context"]["http_request"]["request_id"] == answer.headers["x-request-id"]


# A new password, and the word about it


@pytest.mark.parametrize("how", ["set_password", "change"])
async def test_a_new_password_is_written_down_and_its_owner_is_told_once(town: Town, ada: Person, how: str) -> None:
    bob = await town.sign_up()
    his = (await me(bob))["pk"]
    url = f"{API}/core/users/{his}/"
    password = f"brand new {word()}"
    await ada.get(f"{API}/core/messages/")  # what others did has been read

    if how == "set_password":
        answer = await ada.call("POST", f"{url}set_password/", json={"password": password})
    else:
        answer = await ada.call("PATCH", url, json={"password": password})

    assert answer.is_success, answer.text
    bob.password = password
    reads = await asyncio.gather(*(bob.get(f"{API}/core/messages/") for _ in range(5)))
    assert sorted(len(one.json()) for one in reads) == [0, 0, 0, 0, 1]
    [[message]] = [one.json() for one in reads if one.json()]
    assert set(message) == {"message", "level", "tags", "extra_tags", "level_tag"}
    assert (message["level"], message["level_tag"], message["tags"]) == (30, "warning", "warning")
    assert (await bob.get(f"{API}/core/messages/")).json() == []
    assert (await ada.get(f"{API}/core/messages/")).json() == []
    [event] = await results(ada, EVENTS, action="password_set", search=bob.username)
    assert event["context"]["model"] == {"app": "core", "model_name": "user", "pk": his, "name": bob.username}
    assert event["username"] == ada.username
    own = await bob.call("POST", f"{url}set_password/", json={"password": f"my own {word()}"})
    assert own.status_code == 204
    bob.password = own.request.content.decode().split('"')[3]
    assert (await bob.get(f"{API}/core/messages/")).json() == []
    assert len(await results(ada, EVENTS, action="password_set", search=bob.username)) == 2


# Secrets

SECRETS = [
    ("/sources/ldap/", "bind_password"),
    ("/sources/oauth/", "consumer_secret"),
    ("/stages/captcha/", "private_key"),
    ("/stages/email/", "password"),
    ("/providers/oauth/", "client_secret"),
    ("/providers/openid/", "client_secret"),
    ("/core/users/", "password"),
]


@pytest.mark.parametrize(("path", "field"), SECRETS)
async def test_a_secret_is_told_to_nobody(town: Town, ada: Person, path: str, field: str) -> None:
    collection = BY_PATH[path]
    first, second = f"first-{word()}", f"second-{word()}"
    viewer = await person_who_may(
        town, ada, f"{path.split('/')[1]}.view_{collection.record.lower()}", "audit.view_event"
    )
    made = await ada.call("POST", API + path, json=await Maker(ada).body(collection) | {field: first})
    assert made.status_code == 201, made.text
    item = f"{API}{path}{made.json()['pk']}/"
    wrong = await ada.call("PATCH", item, json={field: f"{first}\0"})
    also_wrong = await ada.call("PATCH", item, json={field: first, "name": {}, "client_type": "x"})
    changed = await ada.call("PATCH", item, json={field: second})
    assert (wrong.status_code, also_wrong.status_code, changed.status_code) == (400, 400, 200)
    whole = await ada.call("PUT", item, json=changed.json() | {field: None})

    seen = [
        wrong,
        also_wrong,
        whole,
        await viewer.get(API + path, params={"limit": 1000}),
        await viewer.get(item),
        await viewer.get(API + path, params={"search": second}),
        await viewer.get(API + path, params={"ordering": field}),
        await viewer.get(API + EVENTS, params={"limit": 100}),
        await ada.get(API + EVENTS, params={"limit": 100}),
        await town.http.get(f"{API}/openapi.json"),
    ]
    if field != "client_secret":
        seen += [made, changed, await ada.get(item)]

    for secret in (first, second):
        assert not [one.request.url for one in seen if secret in one.text]
        assert secret not in town.log()
        for part in town.folder.rglob("*.sqlite3*"):
            assert secret.encode() not in part.read_bytes()
    if field != "password" or path != "/core/users/":
        told = await history(ada, collection, made.json()["pk"])
        assert told[0]["context"]["created"][field] == HIDDEN
        assert told[1]["context"]["diff"] == {field: {"previous_value": HIDDEN, "new_value": HIDDEN}}


ELSEWHERE = [
    ("/sources/ldap/", "bind_password", {"server_uri": "ldap://eve.example"}),
    ("/sources/oauth/", "consumer_secret", {"access_token_url": "https://eve.example/t"}),
    ("/stages/captcha/", "private_key", {"api_url": "https://eve.example/"}),
    ("/stages/email/", "password", {"host": "eve.example"}),
    ("/stages/email/", "password", {"port": 2525}),
]


@pytest.mark.parametrize(("path", "field", "elsewhere"), ELSEWHERE)
async def test_a_secret_goes_nowhere_else_for_whoever_does_not_know_it(
    town: Town, ada: Person, path: str, field: str, elsewhere: dict[str, Any]
) -> None:
    collection = BY_PATH[path]
    record, area = collection.record.lower(), path.split("/")[1]
    editor = await person_who_may(town, ada, f"{area}.view_{record}", f"{area}.change_{record}")
    made = await ada.call("POST", API + path, json=await Maker(ada).body(collection) | {field: "the secret"})
    item = f"{API}{path}{made.json()['pk']}/"

    is_source = area == "sources"  # where one is, only superusers say
    for person in (editor, ada):
        for body in (elsewhere, elsewhere | {field: MASK}):
            refused = await person.call("PATCH", item, json=body)
            said = (403, {"code", "detail"}) if is_source and person is editor else (400, {field})
            assert (refused.status_code, set(refused.json())) == said, refused.text
    assert (await editor.call("PATCH", item, json={"name": new_name("n")})).status_code == 200
    by_whom = ada if is_source else editor
    assert (await by_whom.call("PATCH", item, json=elsewhere | {field: "their own"})).status_code == 200


async def test_a_tokens_key_is_shown_once_and_kept_nowhere(town: Town, ada: Person) -> None:
    made = await make(ada, "/core/tokens/", identifier=new_name("t"))
    item = f"{API}/core/tokens/{made['pk']}/"
    await town.http.get(f"{API}/core/users/me/", headers={"authorization": f"Bearer {made['key']}"})
    await town.http.get(f"{API}/core/users/me/", headers={"authorization": f"Bearer {made['key']}x"})

    seen = [
        await ada.get(item),
        await ada.call("PATCH", item, json={"description": "d"}),
        await ada.get(f"{API}/core/tokens/"),
        await ada.get(API + EVENTS),
        await ada.call("PATCH", item, json={"key": "kith_mine", "key_hash": "0" * 64}),
    ]

    assert made["key"].startswith("kith_")
    assert not [one.request.url for one in seen if made["key"] in one.text or "key_hash" in one.text]
    assert made["key"] not in town.log()
    bearer = await town.http.get(f"{API}/core/users/me/", headers={"authorization": f"Bearer {made['key']}"})
    assert bearer.status_code == 200


async def test_a_private_key_is_shown_only_to_who_may_see_it_and_that_is_written_down(town: Town, ada: Person) -> None:
    order = {"common_name": new_name("kp"), "validity_days": 3, "alg": "ed25519"}
    made = await ada.call("POST", f"{API}/crypto/certificatekeypairs/generate/", json=order)
    assert made.status_code == 201, made.text
    item = f"{API}/crypto/certificatekeypairs/{made.json()['pk']}/"
    viewer = await person_who_may(town, ada, "crypto.view_certificatekeypair")

    key = (await ada.get(f"{item}view_private_key/")).json()["data"]
    refused = await viewer.get(f"{item}view_private_key/")

    secret = key.splitlines()[1]
    assert refused.status_code == 403
    seen = [
        made,
        refused,
        await viewer.get(item),
        await ada.get(item),
        await ada.get(f"{API}/crypto/certificatekeypairs/"),
        await ada.get(API + EVENTS),
    ]
    assert not [one.request.url for one in seen if secret in one.text]
    assert secret not in town.log()
    [event] = await results(ada, EVENTS, action="secret_view", search=order["common_name"])
    assert (event["username"], event["context"]["viewed"]) == (ada.username, "private_key")


@pytest.mark.parametrize("path", ["/providers/oauth/", "/providers/openid/"])
async def test_the_mask_is_shown_without_the_right_and_sent_back_it_changes_nothing(
    town: Town, ada: Person, path: str
) -> None:
    record = BY_PATH[path].record.lower()
    editor = await person_who_may(town, ada, f"providers.view_{record}", f"providers.change_{record}")
    keeper = await person_who_may(
        town, ada, f"providers.view_{record}", f"providers.change_{record}", "core.view_secret"
    )
    looker = await person_who_may(town, ada, f"providers.view_{record}", "core.view_secret")
    made = await Maker(ada).make(BY_PATH[path])
    item, secret = f"{API}{path}{made['pk']}/", made["client_secret"]

    shown = (await editor.get(item)).json()
    listed = [one for one in await results(editor, path) if one["pk"] == made["pk"]]
    put = await editor.call("PUT", item, json=shown | {"name": new_name("renamed")})

    assert shown["client_secret"] == listed[0]["client_secret"] == MASK
    assert put.status_code == 200, put.text
    assert put.json()["client_secret"] == MASK
    assert (await keeper.get(item)).json()["client_secret"] == secret
    assert (await looker.get(item)).json()["client_secret"] == MASK
    changed = await editor.call("PATCH", item, json={"client_secret": "their own"})
    assert changed.json()["client_secret"] == "their own"  # whoever has just set it knows it
    assert (await editor.call("PATCH", item, json={"name": new_name("n")})).json()["client_secret"] == MASK
    assert (await keeper.get(item)).json()["client_secret"] == "their own"
    for person in (ada, keeper, editor):
        assert {one["client_secret"] for one in await results(person, path)} == {MASK}
    seen = await results(ada, EVENTS, action="secret_view", username=keeper.username)
    assert {one["context"]["model"]["pk"] for one in seen} == {made["pk"]}
    assert [(one["username"], one["context"]["viewed"]) for one in seen] == [(keeper.username, "client_secret")] * 2


async def test_an_invitation_is_written_down_without_its_secret(town: Town, ada: Person) -> None:
    """Whoever reads the trail could come in with it, as somebody with a proven address."""
    path, flow = "/stages/invitation/invitations/", await make_flow(ada, "enrollment")
    await make_binding(ada, flow, await make_stage(ada, "invitation"))
    made, browser = await make(ada, path, flow=flow["pk"]), Browser(town)
    key, hers = made["pk"], (await me(ada))["pk"]

    await browser.see(flow["slug"], itoken=key)
    await browser.post(flow["slug"], {"itoken": key}, component="invitation")
    await ada.call("PATCH", f"{API}{path}{key}/", json={"single_use": True})
    await ada.call("DELETE", f"{API}{path}{key}/")
    async with town.house() as house, house.works.begin() as work:
        members = (await invites.invite(work, hers, name="n", expires_in=None, single_use=True)).id

    reader = await person_who_may(town, ada, "audit.view_event")
    events = await results(reader, EVENTS, ordering="-created")
    told, of_member = ([one for one in events if fingerprint(secret) in str(one)] for secret in (key, members))
    actions = ["model_deleted", "model_updated", "invitation_used", "model_created", "invitation_created"]
    assert sorted(one["action"] for one in told) == sorted(actions)
    assert [one["action"] for one in of_member] == ["invitation_created"]
    [first] = [one for one in told if one["action"] == "invitation_created"]
    assert (first["app"], first["user"]) == ("stages.invitation", hers)
    assert not [one for one in events if key in str(one) or members in str(one)]


async def test_what_stood_in_the_address_is_told_and_secrets_in_it_are_not(town: Town, ada: Person) -> None:
    bob = await town.sign_up()
    asked = {"query": "next=%2Fx&flow_token=unheard", "page": "2", "api_key": "k"}

    answer = await bob.get(f"{API}{EVENTS}", params=asked)

    [event] = await results(ada, EVENTS, username=bob.username, action="permission_denied")
    assert event["context"]["http_request"]["args"] == {
        "next": "/x",
        "flow_token": HIDDEN,
        "page": "2",
        "api_key": HIDDEN,
    }
    lines = [line for line in town.log().splitlines() if event["pk"] in line]
    assert len(lines) == 1
    assert answer.headers["x-request-id"] in lines[0]
    assert "unheard" not in lines[0]


async def test_a_name_that_nobody_has_leaves_no_event(town: Town, ada: Person) -> None:
    nobody = new_name("nobody")

    answer = await town.http.get(f"{API}/core/users/me/", auth=(nobody, "guess"))

    assert answer.status_code == 401
    assert await results(ada, EVENTS, username=nobody) == []
