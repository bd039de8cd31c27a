"""What people can open, as an administrator arranges it."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.town import Town
from tests.town.people import Person

APPLICATIONS = "/api/v2/core/applications/"
OPENID = "/api/v2/providers/openid/"
BINDINGS = "/api/v2/policies/bindings/"
DUMMY = "/api/v2/policies/dummy/"


def new_slug() -> str:
    return f"app-{uuid.uuid4().hex[:10]}"


async def make(ada: Person, path: str, **sent: Any) -> dict[str, Any]:
    answer = await ada.call("POST", path, json=sent)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def make_application(ada: Person, **more: Any) -> dict[str, Any]:
    return await make(ada, APPLICATIONS, **{"name": "Wiki", "slug": new_slug(), **more})


async def bind(ada: Person, application: dict[str, Any], *, passing: bool) -> dict[str, Any]:
    policy = await make(ada, DUMMY, name=new_slug(), result=passing, wait_min=0, wait_max=0)
    return await make(ada, BINDINGS, policy=policy["pk"], target=application["pbm_uuid"], order=0)


async def test_an_application_is_known_by_its_target(town: Town) -> None:
    ada = await town.owner()

    made = await make_application(ada, meta_launch_url="https://wiki.example/?u=%(username)s", group="Tools")
    read = (await ada.get(f"{APPLICATIONS}{made['pk']}/")).json()

    assert made == read
    assert made["pk"] == made["pbm_uuid"]
    assert made["launch_url"] == "https://wiki.example/?u=%(username)s"
    expected: dict[str, Any] = {
        "provider": None,
        "meta_icon_url": "",
        "meta_description": "",
        "meta_publisher": "",
        "policies": [],
        "policy_engine_mode": "all",
        "open_in_new_tab": False,
        "meta_hide": False,
    }
    assert {name: made[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("sent", "complaints"),
    [
        ({"name": ""}, {"name": ["This field may not be blank."]}),
        ({"slug": "a b"}, {"slug": ["Enter a valid 'slug' consisting of letters, numbers, underscores or hyphens."]}),
        ({"slug": "x" * 51}, {"slug": ["Ensure this field has no more than 50 characters."]}),
        ({"slug": "authorize"}, {"slug": ["The slug 'authorize' is reserved and cannot be used for applications."]}),
        ({"slug": "Token"}, {"slug": ["The slug 'Token' is reserved and cannot be used for applications."]}),
        ({"meta_launch_url": "wiki"}, {"meta_launch_url": ["Enter a valid URL."]}),
        ({"meta_launch_url": "javascript:alert(1)"}, {"meta_launch_url": ["Enter a valid URL."]}),
        ({"provider": 2147483647}, {"provider": ['Invalid pk "2147483647" - object does not exist.']}),
        ({"provider": "x"}, {"provider": ['Invalid pk "x" - object does not exist.']}),
    ],
)
async def test_what_cannot_be_is_refused(town: Town, sent: dict[str, Any], complaints: dict[str, Any]) -> None:
    ada = await town.owner()

    answer = await ada.call("POST", APPLICATIONS, json={"name": "Wiki", "slug": new_slug(), **sent})

    assert (answer.status_code, answer.json()) == (400, complaints)


async def test_slug_and_provider_belong_to_one_application(town: Town) -> None:
    ada = await town.owner()
    provider = (await make(ada, OPENID, response_types=[1]))["pk"]
    made = await make_application(ada, provider=provider)
    other = await make_application(ada)
    unique = ["This field must be unique."]

    same_slug = await ada.call("POST", APPLICATIONS, json={"name": "x", "slug": made["slug"]})
    taken = await ada.call("PATCH", f"{APPLICATIONS}{other['pk']}/", json={"provider": provider})
    again = await ada.call("PUT", f"{APPLICATIONS}{made['pk']}/", json=made)

    assert (same_slug.status_code, same_slug.json()) == (400, {"slug": unique})
    assert (taken.status_code, taken.json()) == (400, {"provider": unique})
    assert again.status_code == 200
    await ada.call("DELETE", f"{OPENID}{provider}/")
    assert (await ada.get(f"{APPLICATIONS}{made['pk']}/")).json()["provider"] is None


async def test_an_application_goes_with_its_bindings_and_leaves_its_provider(town: Town) -> None:
    ada = await town.owner()
    provider = (await make(ada, OPENID, response_types=[1]))["pk"]
    made = await make_application(ada, provider=provider)
    binding = await bind(ada, made, passing=True)

    item = f"{APPLICATIONS}{made['pk']}/"
    assert (await ada.get(item)).json()["policies"] == [binding["policy"]]
    assert (await ada.call("DELETE", item)).status_code == 204
    assert (await ada.get(item)).status_code == 404
    assert (await ada.get(f"{BINDINGS}{binding['pk']}/")).status_code == 404
    assert (await ada.get(f"{OPENID}{provider}/")).status_code == 200
    assert (await ada.get(f"{DUMMY}{binding['policy']}/")).status_code == 200


async def test_lists_are_searched_and_narrowed(town: Town) -> None:
    ada = await town.owner()
    word = new_slug()
    one = await make_application(ada, name=f"B {word}", meta_publisher=f"P {word}")
    two = await make_application(ada, name=f"A {word}", group=f"G {word}")

    async def found(**params: str) -> list[str]:
        return [record["pk"] for record in (await ada.get(APPLICATIONS, params=params)).json()["results"]]

    assert await found(search=word) == [two["pk"], one["pk"]]
    assert await found(meta_publisher=f"P {word}") == [one["pk"]]
    assert await found(group=f"G {word}") == [two["pk"]]
    assert await found(slug=one["slug"]) == [one["pk"]]
    assert await found(name=f"A {word}") == [two["pk"]]


async def test_who_may_open_it(town: Town) -> None:
    ada, bob = await town.owner(), await town.sign_up()
    users = (await ada.get("/api/v2/core/users/", params={"username": bob.username})).json()["results"]
    bob_id = users[0]["pk"]
    free, closed = await make_application(ada), await make_application(ada)
    await bind(ada, closed, passing=False)

    async def check(who: Person, application: dict[str, Any], query: str = "") -> tuple[int, Any]:
        answer = await who.get(f"{APPLICATIONS}{application['pk']}/check_access/{query}")
        return answer.status_code, answer.json().get("passing")

    assert await check(bob, free) == (200, True)
    assert await check(bob, closed) == (200, False)
    assert await check(ada, closed, f"?for_user={bob_id}") == (200, False)
    assert await check(ada, free, f"?for_user={bob_id}") == (200, True)
    assert (await check(bob, free, f"?for_user={bob_id}"))[0] == 403
    assert (await check(ada, free, "?for_user=2147483647"))[0] == 400
    assert (await check(ada, free, "?for_user=x"))[0] == 400
    assert (await check(bob, {"pk": uuid.uuid4()}))[0] == 404
    body = (await bob.get(f"{APPLICATIONS}{closed['pk']}/check_access/")).json()
    assert set(body) == {"passing", "messages", "log_messages", "code"}
