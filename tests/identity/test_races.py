"""Many who want the same at the same moment: one gets it, the others are told, and nothing is left half done."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import httpx
import pytest

from tests.conftest import TownBuilder
from tests.identity.record_maker import API, BY_PATH, Maker, word
from tests.identity.records import make, new_name, owner_of
from tests.town import Person, Town

CROWD = 20
LOST = {400, 409}


@pytest.fixture
async def ada(town: Town) -> Person:
    return await owner_of(town)


async def at_once(*calls: Any) -> list[httpx.Response]:
    return list(await asyncio.gather(*calls))


def codes(answers: list[httpx.Response]) -> Counter[int]:
    return Counter(answer.status_code for answer in answers)


@pytest.mark.parametrize(
    ("path", "unique"),
    [
        ("/core/users/", "username"),
        ("/core/groups/", "name"),
        ("/core/applications/", "slug"),
        ("/core/tokens/", "identifier"),
        ("/rbac/roles/", "name"),
        ("/flows/instances/", "slug"),
        ("/policies/dummy/", "name"),
        ("/stages/dummy/", "name"),
        ("/sources/ldap/", "slug"),
        ("/providers/openid/", "client_id"),
    ],
)
async def test_of_many_who_take_a_name_one_gets_it(ada: Person, path: str, unique: str) -> None:
    maker, name = Maker(ada), word()
    bodies = [await maker.body(BY_PATH[path]) | {unique: name} for _ in range(CROWD)]

    answers = await at_once(*(ada.call("POST", API + path, json=body) for body in bodies))

    counted = codes(answers)
    assert counted[201] == 1, counted
    assert set(counted) <= {201} | LOST, [answer.text for answer in answers]
    listed = (await ada.get(API + path, params={"limit": 1000})).json()["results"]
    assert len([record for record in listed if record[unique] == name]) == 1


async def test_names_that_look_alike_are_one_name_even_at_once(ada: Person) -> None:
    name = word()
    spellings = [name, name.upper(), name.capitalize(), name.replace("w", "ｗ")] * 5

    answers = await at_once(
        *(ada.call("POST", f"{API}/core/users/", json={"username": one, "name": "N"}) for one in spellings)
    )

    assert codes(answers)[201] == 1
    assert set(codes(answers)) <= {201} | LOST


async def test_a_client_id_is_one_whatever_kind_of_client_takes_it(ada: Person) -> None:
    name = word()
    calls = [
        ada.call("POST", API + path, json={**BY_PATH[path].body, "name": word(), "client_id": name})
        for path in ("/providers/oauth/", "/providers/openid/") * 10
    ]

    answers = await at_once(*calls)

    assert codes(answers)[201] == 1, [answer.text for answer in answers]
    assert set(codes(answers)) <= {201} | LOST


async def test_of_many_who_rename_theirs_to_one_name_one_can(ada: Person) -> None:
    made = [await make(ada, "/core/groups/", name=new_name("g")) for _ in range(10)]
    name = new_name("wanted")

    answers = await at_once(
        *(ada.call("PATCH", f"{API}/core/groups/{one['pk']}/", json={"name": name}) for one in made)
    )

    assert codes(answers)[200] == 1, codes(answers)
    assert set(codes(answers)) <= {200} | LOST


async def test_changes_of_different_fields_are_all_kept(ada: Person) -> None:
    application = await make(ada, "/core/applications/", name=new_name("app"), slug=new_name("app"))
    changes = {
        "name": new_name("new"),
        "slug": new_name("new"),
        "meta_publisher": "us",
        "meta_description": "what it is",
        "meta_launch_url": "https://app.example/",
        "group": "tools",
        "open_in_new_tab": True,
    }
    item = f"{API}/core/applications/{application['pk']}/"

    answers = await at_once(
        *(ada.call("PATCH", item, json={name: value}) for name, value in changes.items()),
        *(ada.call("PATCH", item, json={}) for _ in range(5)),
    )

    assert codes(answers) == {200: len(answers)}
    read = (await ada.get(item)).json()
    assert {name: read[name] for name in changes} == changes
    history = await _events(ada, application["pk"])
    assert sorted(name for event in history for name in event["context"].get("diff", {})) == sorted(changes)


async def test_a_list_ends_as_one_of_those_that_were_sent(ada: Person) -> None:
    group = await make(ada, "/core/groups/", name=new_name("g"))
    people = [(await make(ada, "/core/users/", username=word(), name="N"))["pk"] for _ in range(6)]
    lists = [sorted({people[n], people[(n * 2 + 1) % 6], people[(n + 3) % 6]}) for n in range(6)] + [[], people]
    item = f"{API}/core/groups/{group['pk']}/"

    answers = await at_once(*(ada.call("PATCH", item, json={"user_set": one}) for one in lists * 2))

    assert codes(answers) == {200: len(answers)}
    assert sorted((await ada.get(item)).json()["user_set"]) in [sorted(one) for one in lists]
    for answer, sent in zip(answers, lists * 2, strict=True):
        assert sorted(answer.json()["user_set"]) == sorted(sent)


async def test_both_ends_of_a_membership_may_be_written_at_once(ada: Person) -> None:
    groups = [(await make(ada, "/core/groups/", name=new_name("g")))["pk"] for _ in range(4)]
    people = [(await make(ada, "/core/users/", username=word(), name="N"))["pk"] for _ in range(4)]

    answers = await at_once(
        *(ada.call("PATCH", f"{API}/core/groups/{one}/", json={"user_set": people}) for one in groups),
        *(ada.call("PATCH", f"{API}/core/users/{one}/", json={"groups": groups}) for one in people),
    )

    assert set(codes(answers)) <= {200, 409}, [answer.text for answer in answers]
    for one in groups:
        members = (await ada.get(f"{API}/core/groups/{one}/")).json()["user_set"]
        assert set(members) <= set(people)


@pytest.mark.parametrize("path", ["/core/users/", "/core/groups/", "/core/applications/", "/policies/dummy/"])
async def test_of_many_who_delete_a_record_one_does(ada: Person, path: str) -> None:
    made = await Maker(ada).make(BY_PATH[path])
    item = f"{API}{path}{made['pk']}/"

    answers = await at_once(*(ada.call("DELETE", item) for _ in range(10)))

    assert codes(answers) == {204: 1, 404: 9}
    assert [event["action"] for event in await _events(ada, made["pk"])].count("model_deleted") == 1


async def test_changing_what_is_being_deleted_is_done_before_or_not_found(ada: Person) -> None:
    made = await Maker(ada).make(BY_PATH["/flows/instances/"])
    item = f"{API}/flows/instances/{made['pk']}/"

    answers = await at_once(
        *(ada.call("PATCH", item, json={"title": f"t{n}"}) for n in range(5)),
        ada.call("DELETE", item),
        *(ada.call("PATCH", item, json={"title": f"u{n}"}) for n in range(5)),
    )

    assert answers[5].status_code == 204
    assert set(codes(answers)) <= {200, 204, 404}
    assert (await ada.get(item)).status_code == 404


async def test_what_is_being_referred_to_and_deleted_ends_as_one_or_the_other(ada: Person) -> None:
    for _ in range(5):
        flow = (await Maker(ada).make(BY_PATH["/flows/instances/"]))["pk"]
        body = {"name": word(), "authorization_flow": flow, "client_type": "public"}
        body |= {"client_id": word(), "response_types": [1]}

        made, gone = await at_once(
            ada.call("POST", f"{API}/providers/openid/", json=body),
            ada.call("DELETE", f"{API}/flows/instances/{flow}/"),
        )

        assert (made.status_code, gone.status_code) in ((201, 409), (400, 204), (409, 204)), (made.text, gone.text)


async def test_groups_never_become_their_own_ancestors(ada: Person) -> None:
    """Neither straight away nor through what stands between."""
    for _ in range(6):
        tops = [(await make(ada, "/core/groups/", name=new_name("top")))["pk"] for _ in range(4)]
        below = [(await make(ada, "/core/groups/", name=new_name("low"), parent=top))["pk"] for top in tops]
        moves = [(tops[0], tops[1]), (tops[1], tops[0]), (tops[2], below[3]), (tops[3], below[2])]

        answers = await at_once(
            *(ada.call("PATCH", f"{API}/core/groups/{one}/", json={"parent": parent}) for one, parent in moves)
        )

        assert [sorted((answers[n].status_code, answers[n + 1].status_code)) for n in (0, 2)] == [[200, 400]] * 2
        parents = {one: (await ada.get(f"{API}/core/groups/{one}/")).json()["parent"] for one in (*tops, *below)}
        assert not [one for one in parents if _returns(parents, one)]


def _returns(parents: dict[str, str | None], start: str) -> bool:
    at = parents[start]
    for _ in parents:
        if at is None:
            return False
        if at == start:
            return True
        at = parents[at]
    return True


@pytest.mark.parametrize("what", ["disable", "delete"])
async def test_two_administrators_cannot_both_end_each_other(new_town: TownBuilder, what: str) -> None:
    town = await new_town()
    last = await town.owner()
    for _ in range(5):
        other = await town.sign_up(role="owner")
        ids = {one: (await one.get(f"{API}/core/users/me/")).json()["pk"] for one in (last, other)}

        answers = await at_once(_end(last, ids[other], what), _end(other, ids[last], what))

        assert codes(answers)[200] + codes(answers)[204] == 1, [answer.text for answer in answers]
        assert set(codes(answers)) <= {200, 204, 401, 409}
        last = last if answers[0].is_success else other
        assert (await last.get(f"{API}/core/users/")).status_code == 200


def _end(person: Person, id: int, what: str) -> Any:
    item = f"{API}/core/users/{id}/"
    if what == "disable":
        return person.call("PATCH", item, json={"is_active": False})
    return person.call("DELETE", item)


async def test_administrators_may_change_each_other_at_once(town: Town, ada: Person) -> None:
    """Each change is written down in the name of who is being changed: neither waits for the other for ever."""
    bob = await town.sign_up(role="owner")
    ids = {one: (await one.get(f"{API}/core/users/me/")).json()["pk"] for one in (ada, bob)}

    for n in range(5):
        answers = await at_once(
            *(ada.call("PATCH", f"{API}/core/users/{ids[bob]}/", json={"name": f"B{n}"}) for _ in range(3)),
            *(bob.call("PATCH", f"{API}/core/users/{ids[ada]}/", json={"name": f"A{n}"}) for _ in range(3)),
        )
        assert codes(answers) == {200: 6}, [answer.text for answer in answers]


async def _events(ada: Person, pk: object) -> list[dict[str, Any]]:
    answer = await ada.get(f"{API}/audit/events/", params={"search": str(pk), "limit": 1000})
    found: list[dict[str, Any]] = answer.json()["results"]
    return [event for event in found if event["context"].get("model", {}).get("pk") == pk]
