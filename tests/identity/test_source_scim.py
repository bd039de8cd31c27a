"""A service that writes people and groups over SCIM, by hand and by a published checker."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.identity.records import API, make, new_name, owner_of, results
from tests.identity.scim_service import ENTERPRISE, ERROR, GROUP, PATCH, USER, Service, make_service
from tests.town import Town

ROOT = Path(__file__).parents[2]


async def user_named(town: Town, username: str) -> dict[str, Any]:
    [found] = await results(await owner_of(town), "/core/users/", username=username)
    return found


async def test_the_token_is_shown_once_and_opens_the_door(town: Town) -> None:
    owner = await owner_of(town)
    service = await make_service(town)
    source = service.source

    read = (await owner.get(f"{API}/sources/scim/{source['pk']}/")).json()
    wrong = Service(source, "wrong")
    refused = await wrong.send("GET", "/Users")
    renewed = (await owner.call("POST", f"{API}/sources/scim/{source['pk']}/new_token/")).json()

    assert source["root_url"] == f"{town.base_url}/source/scim/{source['slug']}/v2"
    assert source["token"].startswith("kith_scim_")
    assert "token" not in read
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert refused.json()["schemas"] == [ERROR]
    await service.call("GET", "/Users", expect=401)
    await Service(source, renewed["token"]).call("GET", "/Users")
    await owner.call("PATCH", f"{API}/sources/scim/{source['pk']}/", json={"enabled": False})
    await Service(source, renewed["token"]).call("GET", "/Users", expect=404)
    await Service(source | {"root_url": f"{town.base_url}/source/scim/nothing/v2"}).call("GET", "/Users", expect=404)
    await Service(source).call("GET", "/Nonsense", expect=404)


async def test_a_published_checker_finds_nothing_wrong(town: Town) -> None:
    service = await make_service(town)

    # In a process of its own: to load the checker takes longer than all other tests of this file.
    words = [sys.executable, "-m", "tests.identity.scim_checker", service.source["root_url"], service.token]
    checker = await asyncio.create_subprocess_exec(*words, cwd=ROOT, stdout=asyncio.subprocess.PIPE)
    said, _ = await checker.communicate()
    assert checker.returncode == 0
    told = json.loads(said)

    # Whether somebody is active is always known here, so it is shown even to a service that takes the word back.
    always = "PATCH modify() did not remove attribute 'active'"
    wrong = [one for one in told if one[0] not in ("SUCCESS", "SKIPPED", "ACCEPTABLE") and one[2] != always]
    assert not wrong, wrong
    assert len([one for one in told if one[0] == "SUCCESS"]) > 100


async def test_a_person_lives_through_all_operations(town: Town) -> None:
    service, name = await make_service(town), new_name("ada")
    made = await service.add(
        name,
        externalId=name,
        displayName="Ada Example",
        emails=[{"value": f"{name}@home.example"}, {"value": f"{name}@work.example", "primary": True}],
        title="Engineer",
        **{ENTERPRISE: {"department": "Engines"}},
    )
    place = f"/Users/{made['id']}"
    user = await user_named(town, name)

    assert made["meta"]["location"] == f"{service.source['root_url']}{place}"
    assert (user["name"], user["email"]) == ("Ada Example", f"{name}@work.example")
    assert user["path"] == f"sources/{service.source['slug']}"
    assert user["attributes"]["scim"]["title"] == "Engineer"
    connections = await results(await owner_of(town), "/sources/user_connections/scim/", user=user["pk"])
    assert [one["identifier"] for one in connections] == [name]

    patched = await service.patch(
        place,
        {"op": "Replace", "path": "name.givenName", "value": "Augusta"},
        {"op": "add", "path": 'emails[type eq "other"].value', "value": "third@example.org"},
        {"op": "replace", "path": f"{ENTERPRISE}:department", "value": "Poetry"},
        {"op": "remove", "path": "title"},
        {"op": "replace", "value": {"displayName": "Augusta Ada", "nickName": "ada", "unknown": 1}},
    )
    assert patched["name"] == {"givenName": "Augusta"}
    assert patched["emails"][2] == {"type": "other", "value": "third@example.org"}
    assert patched[ENTERPRISE] == {"department": "Poetry"}
    assert "title" not in patched
    assert (await user_named(town, name))["name"] == "Augusta Ada"

    body = {"schemas": [USER], "userName": f"{name}2", "externalId": "another"}
    put = await service.call("PUT", place, body)
    assert put["userName"] == f"{name}2"
    assert "emails" not in put
    assert (await user_named(town, f"{name}2"))["pk"] == user["pk"]

    await service.call("DELETE", place, expect=204)
    await service.call("GET", place, expect=404)
    assert not await results(await owner_of(town), "/core/users/", username=f"{name}2")


async def test_inactive_ends_everything_at_once_and_only_the_service_gives_it_back(town: Town) -> None:
    owner, service, name = await owner_of(town), await make_service(town), new_name("bob")
    made = await service.add(name, active=True)
    place, user = f"/Users/{made['id']}", await user_named(town, name)
    url = f"{API}/core/users/{user['pk']}/"
    await owner.call("PATCH", url, json={"password": "correct horse bob"})
    token = (await owner.call("POST", f"{API}/core/tokens/", json={"identifier": name, "user": user["pk"]})).json()
    bearer = {"Authorization": f"Bearer {token['key']}"}
    before = await town.http.get(f"{API}/core/tokens/", headers=bearer)

    gone = await service.patch(place, {"op": "replace", "path": "active", "value": "False"})
    after = await town.http.get(f"{API}/core/tokens/", headers=bearer)
    back = await service.patch(place, {"op": "replace", "value": {"active": True}})
    await owner.call("PATCH", url, json={"is_active": False})
    kept_out = await service.patch(place, {"op": "replace", "path": "active", "value": True})

    assert before.status_code == 200
    assert gone["active"] is False
    assert after.status_code == 401
    assert back["active"] is True
    assert kept_out["active"] is False


async def test_groups_and_their_members(town: Town) -> None:
    owner, service = await owner_of(town), await make_service(town)
    ada, bob = await service.add(new_name("ada")), await service.add(new_name("bob"))
    name = new_name("crew")
    body = {"schemas": [GROUP], "displayName": name, "members": [{"value": ada["id"]}]}
    made = await service.call("POST", "/Groups", body, 201)
    place = f"/Groups/{made['id']}"
    [group] = await results(owner, "/core/groups/", name=name)
    stranger = await town.sign_up()
    stranger_pk = (await user_named(town, stranger.username))["pk"]
    await owner.call("PATCH", f"{API}/core/groups/{group['pk']}/", json={"user_set": [*group["user_set"], stranger_pk]})

    added = await service.patch(place, {"op": "add", "path": "members", "value": [{"value": bob["id"]}]})
    shown = await service.call("GET", f"/Users/{bob['id']}")
    removed = await service.patch(place, {"op": "remove", "path": f'members[value eq "{ada["id"]}"]'})
    also = await service.patch(place, {"op": "remove", "path": "members", "value": [{"value": bob["id"]}]})
    await service.patch(place, {"op": "add", "value": {"members": [{"value": ada["id"]}]}})
    renamed = await service.patch(place, {"op": "replace", "path": "displayName", "value": f"{name}-2"})
    slim = await service.send("GET", place, params={"excludedAttributes": "members"})

    assert {one["value"] for one in added["members"]} == {ada["id"], bob["id"]}
    assert [one["display"] for one in shown["groups"]] == [name]
    assert [one["value"] for one in removed["members"]] == [bob["id"]]
    assert "members" not in also
    assert (renamed["displayName"], renamed["members"][0]["value"]) == (f"{name}-2", ada["id"])
    assert "members" not in slim.json()
    [now] = await results(owner, "/core/groups/", name=f"{name}-2")
    assert stranger_pk in now["user_set"]  # whom the service does not know is none of its business
    strange = {"op": "add", "path": "members", "value": [{"value": new_name("nobody")}]}
    assert (await service.patch(place, strange, expect=400))["scimType"] == "invalidValue"
    await service.call("DELETE", place, expect=204)
    assert not await results(owner, "/core/groups/", name=f"{name}-2")


async def test_names_are_taken_once_and_staff_are_never_taken_over(town: Town) -> None:
    owner, service = await owner_of(town), await make_service(town)
    linking = await make_service(town, user_matching_mode="username_link", group_matching_mode="name_link")
    member, name = await town.sign_up(), new_name("eve")
    await service.add(name, externalId="e1")
    mighty = await make(owner, "/core/groups/", name=new_name("mighty"), is_superuser=True)
    plain = await make(owner, "/core/groups/", name=new_name("plain"))

    for body in (
        {"userName": name.upper()},
        {"userName": new_name("x"), "externalId": "e1"},
        {"userName": member.username},
        {"userName": owner.username},
    ):
        refused = await service.call("POST", "/Users", {"schemas": [USER], **body}, 409)
        assert refused["scimType"] == "uniqueness"
    await linking.call("POST", "/Users", {"schemas": [USER], "userName": owner.username}, 409)
    linked = await linking.add(member.username, displayName="Linked")
    await linking.call("POST", "/Groups", {"schemas": [GROUP], "displayName": mighty["name"]}, 409)
    taken_over = await linking.call("POST", "/Groups", {"schemas": [GROUP], "displayName": plain["name"]}, 201)

    assert (await user_named(town, member.username))["name"] == "Linked"
    assert taken_over["displayName"] == plain["name"]
    await linking.call("DELETE", f"/Users/{linked['id']}", expect=204)
    kept = await user_named(town, member.username)  # who was here before the service is not deleted by it
    assert kept["is_active"] is False


async def test_of_many_that_make_the_same_person_one_does(town: Town) -> None:
    service, name = await make_service(town), new_name("once")
    body = {"schemas": [USER], "userName": name, "externalId": name}

    answers = await asyncio.gather(*(service.send("POST", "/Users", json=body) for _ in range(6)))

    assert sorted(one.status_code for one in answers) == [201, 409, 409, 409, 409, 409]
    assert len(await service.found(f'userName eq "{name}"')) == 1


async def test_lists_are_filtered_sorted_and_paged(town: Town) -> None:
    service, word = await make_service(town), new_name("p")
    names = [f"{word}{number}" for number in range(5)]
    for number, name in enumerate(names):
        await service.add(name, externalId=f"x{number}", title="Odd" if number % 2 else "Even")

    async def listed(**params: Any) -> dict[str, Any]:
        answer = await service.send("GET", "/Users", params=params)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    page = await listed(sortBy="userName", sortOrder="descending", startIndex=2, count=2)
    assert [one["userName"] for one in page["Resources"]] == [names[3], names[2]]
    assert (page["totalResults"], page["startIndex"], page["itemsPerPage"]) == (5, 2, 2)
    assert (await listed(count=0))["Resources"] == []
    assert (await listed(startIndex=-5, count=1))["itemsPerPage"] == 1
    odd = await listed(filter='title eq "odd" and userName sw "p"', sortBy="userName", count=1, startIndex=2)
    assert (odd["totalResults"], [one["userName"] for one in odd["Resources"]]) == (2, [names[3]])
    assert len(await service.found(f'username eq "{names[0].upper()}" and title pr')) == 1
    assert len(await service.found('externalId eq "x1"')) == 1
    assert len(await service.found('externalId eq "X1"')) == 0
    assert len(await service.found('meta.created gt "2020-01-01T00:00:00Z"')) == 5
    assert len(await service.found("nonsense pr")) == 0
    [slim] = (await listed(filter=f'userName eq "{names[0]}"', attributes="title,meta.location"))["Resources"]
    assert set(slim) == {"schemas", "id", "title", "meta"}
    assert set(slim["meta"]) == {"location"}
    for wrong in ("filter=userName", "filter=(", "sortBy=password", "count=x", "attributes=a&excludedAttributes=b"):
        await service.call("GET", f"/Users?{wrong}", expect=400)


async def test_a_version_is_what_was_seen(town: Town) -> None:
    service = await make_service(town)
    made = await service.add(new_name("v"))
    place, version = f"/Users/{made['id']}", made["meta"]["version"]

    same = await service.send("GET", place, headers={"If-None-Match": version})
    await service.patch(place, {"op": "add", "path": "title", "value": "Other"})
    body = {"schemas": [PATCH], "Operations": [{"op": "remove", "path": "title"}]}

    assert same.status_code == 304
    await service.call("PATCH", place, body, 412, **{"If-Match": version})
    current = (await service.call("GET", place))["meta"]["version"]
    await service.call("PATCH", place, body, 200, **{"If-Match": current})


async def test_what_cannot_be_read_is_refused_and_changes_nothing(town: Town) -> None:
    service, name = await make_service(town), new_name("w")
    made = await service.add(name)
    place = f"/Users/{made['id']}"
    deep = "not (" * 30 + "userName pr" + ")" * 30

    for body, kind in (
        ({"userName": name}, "invalidSyntax"),
        ({"schemas": [USER]}, "invalidValue"),
        ({"schemas": [USER], "userName": "two words"}, "invalidValue"),
        ({"schemas": [USER], "userName": new_name("x"), "active": "perhaps"}, "invalidValue"),
        ({"schemas": [USER], "userName": new_name("x"), "title": "nul\0"}, "invalidValue"),
        ({"schemas": [USER], "userName": new_name("x"), "emails": [{"value": "a"}] * 101}, "invalidValue"),
        (
            {"schemas": [USER], "userName": new_name("x"), "emails": [{"value": "a@b", "primary": True}] * 2},
            "invalidValue",
        ),
    ):
        assert (await service.call("POST", "/Users", body, 400))["scimType"] == kind
    for operation, kind in (
        ({"op": "burn", "path": "title"}, "invalidSyntax"),
        ({"op": "remove"}, "noTarget"),
        ({"op": "replace", "path": "id", "value": "x"}, "mutability"),
        ({"op": "replace", "path": "nothing", "value": "x"}, "invalidPath"),
        ({"op": "replace", "path": 'emails[type eq "work"].value', "value": "x"}, "noTarget"),
        ({"op": "remove", "path": "userName"}, "invalidValue"),
    ):
        assert (await service.patch(place, operation, expect=400))["scimType"] == kind, operation
    many = [{"op": "add", "path": "title", "value": "x"}] * 1001
    assert (await service.patch(place, *many, expect=400))["scimType"] == "tooMany"
    for filter in (deep, " or ".join(["userName pr"] * 51), f'userName eq "{"x" * 2000}"'):
        answer = await service.send("GET", "/Users", params={"filter": filter})
        assert (answer.status_code, answer.json()["scimType"]) == (400, "invalidFilter")
    large = await service.send("POST", "/Users", content=b'{"userName": "' + b"x" * (1 << 20) + b'"}')
    nested = await service.send("POST", "/Users", content=b'{"a":' * 50 + b"1" + b"}" * 50)
    form = await service.send("POST", "/Users", content=b"a=b", headers={"Content-Type": "text/plain"})
    assert (large.status_code, nested.status_code, form.status_code) == (413, 400, 415)
    await service.call("POST", "/Bulk", {}, 501)
    await service.call("GET", "/Me", expect=501)
    await service.call("GET", "/Users/not-an-id", expect=404)
    assert (await service.call("GET", place))["meta"]["version"] == made["meta"]["version"]


async def test_nobody_unlinks_what_a_service_looks_after(town: Town) -> None:
    owner, service, name = await owner_of(town), await make_service(town), new_name("own")
    made = await service.add(name)
    user = await user_named(town, name)
    [connection] = await results(owner, "/sources/user_connections/scim/", user=user["pk"])
    token = (await owner.call("POST", f"{API}/core/tokens/", json={"identifier": name, "user": user["pk"]})).json()

    answer = await town.http.delete(
        f"{API}/sources/user_connections/scim/{connection['pk']}/",
        headers={"Authorization": f"Bearer {token['key']}"},
    )

    assert answer.status_code == 409
    await service.call("GET", f"/Users/{made['id']}")


@pytest.mark.parametrize(
    "path", ["/ServiceProviderConfig", "/ResourceTypes", "/ResourceTypes/User", "/Schemas", f"/Schemas/{USER}"]
)
async def test_a_service_finds_out_what_there_is(town: Town, path: str) -> None:
    service = await make_service(town)

    told = await service.call("GET", path)

    assert told["schemas"]
    await service.call("DELETE", path, expect=405)
