"""Every row of the endpoint table, and every generic rule, on every collection."""

from __future__ import annotations

import re
import uuid
from typing import Any
from weakref import WeakKeyDictionary

import httpx
import msgspec
import pytest

from tests.identity.record_maker import API, BY_PATH, Maker
from tests.identity.seed import ASKED_FOR, EVERYTHING, Collection
from tests.town import Person, Town

WRITABLE = [one for one in EVERYTHING if "POST" in one.methods]


def by_path(collection: Collection) -> str:
    return collection.path


@pytest.fixture(scope="module")
async def ada(town: Town) -> Person:
    return await town.owner()


@pytest.fixture(scope="module")
def maker(ada: Person) -> Maker:
    return Maker(ada)


@pytest.mark.parametrize("collection", WRITABLE, ids=by_path)
async def test_a_record_lives_through_all_its_operations(ada: Person, maker: Maker, collection: Collection) -> None:
    url = API + collection.path
    body = await maker.body(collection)

    made = await ada.call("POST", url, json=body)
    record = made.json()
    assert made.status_code == 201, made.text
    assert record["pk"] == record[collection.key]
    assert isinstance(record["pk"], collection.key_type)
    item = f"{url}{record['pk']}/"
    assert made.headers["location"].endswith(item)

    read = await ada.get(item)
    assert read.status_code == 200
    once = {"key", "client_secret", "token"}
    assert {k: v for k, v in read.json().items() if k not in once} == {k: v for k, v in record.items() if k not in once}

    listed = await ada.get(url, params={"limit": 1000})
    assert list(listed.json()) == ["count", "next", "previous", "results"]
    masked = {"client_secret": "********"} if "client_secret" in record else {}
    assert read.json() | masked in listed.json()["results"]

    # A record that was read can be put back unchanged.
    put = await ada.call("PUT", item, json=body | read.json())
    assert put.status_code == 200, put.text
    assert _still(put.json()) == _still(read.json())

    change = await maker.body(collection, collection.change)
    patched = await ada.call("PATCH", item, json=change)
    assert patched.status_code == 200, patched.text
    assert {name: patched.json()[name] for name in change} == change
    nothing = await ada.call("PATCH", item, json={})
    assert _still(nothing.json()) == _still(patched.json())

    gone = await ada.call("DELETE", item)
    assert (gone.status_code, gone.content) == (204, b"")
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        again = await ada.call(method, item, json=body if method == "PUT" else {} if method == "PATCH" else None)
        assert again.status_code == 404, (method, again.text)
        assert again.json() == {"detail": "Not found."}


def _still(record: dict[str, object]) -> dict[str, object]:
    return {
        name: value for name, value in record.items() if name not in ("last_updated", "key", "client_secret", "token")
    }


@pytest.mark.parametrize("collection", WRITABLE, ids=by_path)
async def test_what_is_required_is_what_was_required_and_everything_missing_is_named(
    ada: Person, maker: Maker, collection: Collection
) -> None:
    optional = {"name"} if collection.path.startswith(("/policies/", "/providers/o")) else set()
    optional |= {"parent", "user_set", "processor_path", "identifier", "template"}
    if collection.path == "/providers/openid/":
        optional |= {"client_id"}
    if collection.path == "/policies/bindings/":
        optional |= {"policy"}  # a group or a person may decide instead
    body = await maker.body(collection)

    answer = await ada.call("POST", API + collection.path, json={})

    if set(body) - optional:
        assert answer.status_code == 400
        assert set(answer.json()) <= set(body)
        assert set(body) - optional <= set(answer.json())
        assert all(words == ["This field is required."] for words in answer.json().values())
    else:
        assert answer.status_code == 201, answer.text


@pytest.mark.parametrize("collection", EVERYTHING, ids=by_path)
async def test_lists_obey_the_dialect(ada: Person, maker: Maker, collection: Collection) -> None:
    url = API + collection.path
    if "POST" in collection.methods:
        await maker.make(collection)
        await maker.make(collection)

    plain = (await ada.get(url)).json()
    odd = await ada.get(
        url, params={"limit": "x", "offset": "-3", "ordering": "nonsense,-pk", "search": "", "foo": "1"}
    )
    one = (await ada.get(url, params={"limit": 1, "ordering": "pk"})).json()
    beyond = (await ada.get(url, params={"offset": 100_000})).json()
    nothing = (await ada.get(url, params={"search": "zzz-nobody-has-this"})).json()

    assert plain["count"] >= len(plain["results"])
    assert plain["previous"] is None
    assert odd.status_code == 200
    assert odd.json()["count"] == plain["count"]
    if plain["count"] > 1:
        assert one["next"].endswith("limit=1&ordering=pk&offset=1") or "offset=1" in one["next"]
    assert (beyond["results"], beyond["next"]) == ([], None)
    assert nothing["count"] == 0


@pytest.mark.parametrize("collection", EVERYTHING, ids=by_path)
async def test_what_is_not_in_the_table_is_refused_and_what_cannot_be_is_not_found(
    ada: Person, collection: Collection
) -> None:
    url = API + collection.path
    on_collection, on_item = (part.split() for part in collection.methods.split("|"))
    strange = "999999999" if collection.key_type is int else str(uuid.uuid4())

    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        if method not in on_collection:
            refused = await ada.call(method, url, json={})
            assert refused.status_code == 405
            assert refused.json() == {"detail": f'Method "{method}" not allowed.'}
            assert refused.headers["allow"] == ", ".join(sorted({*on_collection, "HEAD", "OPTIONS"}))
        if method not in on_item:
            assert (await ada.call(method, f"{url}{strange}/", json={})).status_code == 405
    for wrong in (strange, "x", "0", "1.5", "%00", "me-too", "-1"):
        answer = await ada.get(f"{url}{wrong}/")
        assert (answer.status_code, answer.json()) == (404, {"detail": "Not found."}), wrong
    assert (await ada.call("HEAD", url)).status_code == 200
    assert (await ada.get(url.rstrip("/"))).status_code == 200


@pytest.mark.parametrize("collection", EVERYTHING, ids=by_path)
async def test_nobody_enters_without_credentials_or_rights(town: Town, collection: Collection) -> None:
    url = API + collection.path
    bob, carol = await _member(town)
    on_collection, on_item = (part.split() for part in collection.methods.split("|"))
    item = f"{url}{'1' if collection.key_type is int else uuid.uuid4()}/"
    calls = [(method, url) for method in on_collection] + [(method, item) for method in on_item]
    own = collection.path in ("/core/tokens/", "/stages/invitation/invitations/")

    for method, target in calls:
        anonymous = await town.http.request(method, target, json={})
        assert anonymous.status_code == 401
        assert anonymous.json() == {"detail": "Authentication credentials were not provided."}
        disabled = await carol.call(method, target, json={})
        assert (disabled.status_code, disabled.json()) == (401, {"detail": "Invalid username/password."})
        if not own:
            refused = await bob.call(method, target, json={})
            assert refused.status_code == 403, (method, target)
            assert refused.json()["detail"] == "You do not have permission to perform this action."
            assert collection.record.lower() in refused.json()["permission"]


_members: WeakKeyDictionary[Town, tuple[Person, Person]] = WeakKeyDictionary()


async def _member(town: Town) -> tuple[Person, Person]:
    """Somebody without any right, and somebody who was disabled."""
    if town not in _members:
        _members[town] = await town.sign_up(), await town.sign_up()
        await town.kith("users", "disable", _members[town][1].username)
    return _members[town]


# What signs people in or vouches for them: no permission is enough for it (`identity/authority/powers.py`).
VOUCHING = ("/sources/", "/core/brands/")
# Who lets people into a group by an offer could do so themselves.
ALSO = {"accessoffer": ["core.change_group"]}


@pytest.mark.parametrize("collection", [one for one in WRITABLE if one.body], ids=by_path)
async def test_a_role_grants_just_what_it_says(town: Town, ada: Person, maker: Maker, collection: Collection) -> None:
    if collection.path == "/core/tokens/":
        return
    area, record = collection.path.split("/")[1], collection.record.lower()
    made = await maker.make(collection)
    url, item = API + collection.path, f"{API}{collection.path}{made['pk']}/"
    viewer = await _with_role(town, ada, [f"{area}.view_{record}"])

    assert (await viewer.get(url)).status_code == 200
    assert (await viewer.get(item)).status_code == 200
    assert (await viewer.call("PATCH", item, json={})).status_code == 403
    assert (await viewer.call("DELETE", item)).status_code == 403
    assert (await viewer.call("POST", url, json={})).status_code == 403

    # What a record refers to must exist, not be visible: who may add one may name it.
    everything = [f"{area}.{verb}_{record}" for verb in ("view", "add", "change", "delete")] + ALSO.get(record, [])
    trusted = await _with_role(town, ada, everything)
    harmless = {"deny_only": True} if record == "passwordexpirypolicy" else {}
    added = await trusted.call("POST", url, json=await maker.body(collection) | harmless)
    if collection.path.startswith(VOUCHING):
        assert (added.status_code, added.json()["code"]) == (403, "permission_denied")
        assert (await trusted.call("DELETE", item)).status_code == 403
        return
    assert added.status_code == 201, added.text
    own = f"{url}{added.json()['pk']}/"
    assert (await trusted.call("PATCH", own, json={})).status_code == 200
    assert (await trusted.call("DELETE", own)).status_code == 204


async def _with_role(town: Town, ada: Person, permissions: list[str]) -> Person:
    person = await town.sign_up()
    role = await ada.call("POST", f"{API}/rbac/roles/", json={"name": person.username, "permissions": permissions})
    assert role.status_code == 201, role.text
    found = (await ada.get(f"{API}/core/users/", params={"username": person.username})).json()["results"][0]
    granted = await ada.call("PATCH", f"{API}/core/users/{found['pk']}/", json={"roles": [role.json()["pk"]]})
    assert granted.status_code == 200, granted.text
    return person


async def test_the_description_has_every_operation_by_its_name(town: Town) -> None:
    document = (await town.http.get(f"{API}/openapi.json")).json()

    assert document["openapi"].startswith("3.1")
    assert document["info"]["version"] == "v2"
    assert document["security"] == [{"Basic": []}, {"Token": []}]
    assert [one["scheme"] for one in document["components"]["securitySchemes"].values()] == ["basic", "bearer"]
    names = {"GET": "list", "POST": "create"}
    item_names = {"GET": "read", "PUT": "update", "PATCH": "partial_update", "DELETE": "delete"}
    for collection in ASKED_FOR:
        on_collection, on_item = (part.split() for part in collection.methods.split("|"))
        described = document["paths"][collection.path]
        assert {m.upper() for m in described} == set(on_collection)
        for method in on_collection:
            assert described[method.lower()]["operationId"] == f"{collection.operation}_{names[method]}"
        item = document["paths"][f"{collection.path}{{{collection.key}}}/"]
        assert {m.upper() for m in item} == set(on_item)
        for method in on_item:
            assert item[method.lower()]["operationId"] == f"{collection.operation}_{item_names[method]}"
        assert collection.record in document["components"]["schemas"]
        parameters = {one["name"] for one in described["get"]["parameters"]}
        assert {"ordering", "search", "limit", "offset"} <= parameters
    bindings = {one["name"] for one in document["paths"]["/flows/bindings/"]["get"]["parameters"]}
    assert {"pbm_uuid", "policies", "fsb_uuid", "flow", "stage", "re_evaluate_policies", "order"} <= bindings
    assert document["paths"]["/core/messages/"]["get"]["operationId"] == "core_messages_list"
    ids = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(ids) == len(set(ids))


async def test_every_described_path_is_served_and_the_page_needs_nothing_from_elsewhere(
    town: Town, ada: Person
) -> None:
    document = (await town.http.get(f"{API}/openapi.json")).json()
    old = await town.http.get(f"{API}/docs")
    page = await town.http.get("/api/docs")

    assert (old.status_code, old.headers["location"]) == (301, "/api/docs")
    assert page.status_code == 200
    assert not re.search(r"(src|href|action)\s*=\s*[\"'](?!/|#)", page.text)
    assert not re.search(r"<script(?! src=)", page.text)
    for path, operations in document["paths"].items():
        target = API + path.replace("{id}", "1").split("{")[0]
        if "get" in operations and "{" not in path:
            status = (await ada.get(target)).status_code
            # Which of the two it is must be published, as is asked next.
            assert status in (200, 204), path
            assert str(status) in operations["get"]["responses"], path


@pytest.mark.parametrize(
    ("content", "content_type", "status", "shape"),
    [
        (b"{", "application/json", 400, {"detail"}),
        (b"[]", "application/json", 400, {"non_field_errors"}),
        (b'"x"', "application/json", 400, {"non_field_errors"}),
        (b"name=x", "application/x-www-form-urlencoded", 415, {"detail"}),
        (b"{}", "text/plain", 415, {"detail"}),
        (b'{"name": "' + b"x" * (1 << 20) + b'"}', "application/json", 413, {"detail"}),
        (b'{"name": "a\\u0000b"}', "application/json", 400, {"name"}),
        (b'{"name": "\\ud800"}', "application/json", 400, {"detail"}),
        (b'{"name": null}', "application/json", 400, {"name"}),
        (b'{"name": "  "}', "application/json", 400, {"name"}),
        (b'{"name": []}', "application/json", 400, {"name"}),
        (b'{"name": "' + b"x" * 81 + b'"}', "application/json", 400, {"name"}),
        (b'{"name": "g", "parent": "x"}', "application/json", 400, {"parent"}),
        (b'{"name": "g", "parent": []}', "application/json", 400, {"parent"}),
        (b'{"name": "g", "user_set": 5}', "application/json", 400, {"user_set"}),
        (b'{"name": "g", "user_set": [999999]}', "application/json", 400, {"user_set"}),
        (b'{"name": "g", "attributes": 5}', "application/json", 400, {"attributes"}),
        (b'{"name": "g", "is_superuser": "maybe"}', "application/json", 400, {"is_superuser"}),
    ],
)
async def test_bad_bodies_are_told_and_change_nothing(
    ada: Person, content: bytes, content_type: str, status: int, shape: set[str]
) -> None:
    before = (await ada.get(f"{API}/core/groups/")).json()["count"]

    answer = await ada.call("POST", f"{API}/core/groups/", content=content, headers={"content-type": content_type})

    assert answer.status_code == status, answer.text
    assert set(answer.json()) == shape
    assert (await ada.get(f"{API}/core/groups/")).json()["count"] == before


async def test_only_json_can_be_asked_for(ada: Person) -> None:
    answer: httpx.Response = await ada.get(f"{API}/core/users/", headers={"accept": "text/html"})

    assert answer.status_code == 406
    assert answer.json() == {"detail": "Could not satisfy the request Accept header."}


@pytest.fixture(scope="module")
async def schemas(town: Town) -> dict[str, Any]:
    """What the description says of each kind of record."""
    described = msgspec.json.decode((await town.http.get(f"{API}/openapi.json")).content)
    found: dict[str, Any] = described["components"]["schemas"]
    return found


@pytest.mark.parametrize("collection", [one for one in WRITABLE if one.body], ids=by_path)
async def test_a_put_needs_all_that_is_required(
    ada: Person, maker: Maker, schemas: dict[str, Any], collection: Collection
) -> None:
    """All but secrets, which are not shown: a record that was read can be put back."""
    schema = schemas[collection.record]
    hidden = {name for name, one in schema["properties"].items() if one.get("writeOnly")}
    required = set(schema.get("required", ())) - hidden
    body = await maker.body(collection)
    if collection.path == "/policies/bindings/":
        required.add("policy")  # or a group, or a person, and here it is this
    made = await ada.call("POST", API + collection.path, json=body)
    item = f"{API}{collection.path}{made.json()['pk']}/"
    before = (await ada.get(item)).json()

    for name in sorted(required):
        answer = await ada.call("PUT", item, json={key: value for key, value in body.items() if key != name})
        assert (answer.status_code, answer.json()) == (400, {name: ["This field is required."]}), (name, answer.text)
        null = await ada.call("PUT", item, json=body | {name: None})
        assert null.status_code == 400, (name, null.text)
    assert (await ada.get(item)).json() == before


async def test_bindings_are_found_by_the_name_of_what_decides(ada: Person, maker: Maker) -> None:
    url = f"{API}/policies/bindings/"
    target = (await maker.make(BY_PATH["/core/applications/"]))["pk"]
    policy = await maker.make(BY_PATH["/policies/dummy/"])
    group = await maker.make(BY_PATH["/core/groups/"])
    user = await maker.make(BY_PATH["/core/users/"])
    made = {}
    for order, (kind, record, name) in enumerate(
        (("policy", policy, policy["name"]), ("group", group, group["name"]), ("user", user, user["username"]))
    ):
        answer = await ada.call("POST", url, json={kind: record["pk"], "target": target, "order": order})
        assert answer.status_code == 201, answer.text
        made[name] = answer.json()["pk"]

    for name, pk in made.items():
        found = (await ada.get(url, params={"search": name})).json()
        assert [one["pk"] for one in found["results"]] == [pk], name
        assert [one["pk"] for one in (await ada.get(url, params={"search": pk})).json()["results"]] == [pk]
        assert (await ada.get(url, params={"search": f"{name} nothing-like-it"})).json()["count"] == 0
