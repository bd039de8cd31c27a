"""Records to start from, made through the API as anyone would."""

from __future__ import annotations

import uuid
from typing import Any
from weakref import WeakKeyDictionary

from tests.town import Person, Town

API = "/api/v2"


_owners: WeakKeyDictionary[Town, Person] = WeakKeyDictionary()  # another town may have the same port later


async def owner_of(town: Town) -> Person:
    """One owner for all tests of a town: making a person takes longer than most tests."""
    if town not in _owners:
        _owners[town] = await town.owner()
    return _owners[town]


def new_name(word: str) -> str:
    """The town is shared, and most names must be unique."""
    return f"{word}-{uuid.uuid4().hex[:8]}"


async def make(person: Person, path: str, **fields: Any) -> dict[str, Any]:
    answer = await person.call("POST", API + path, json=fields)
    assert answer.status_code == 201, (path, fields, answer.text)
    record: dict[str, Any] = answer.json()
    return record


async def make_flow(person: Person, designation: str, **fields: Any) -> dict[str, Any]:
    name = new_name(f"our-{designation}")  # after the shipped ones, which stay the default
    return await make(person, "/flows/instances/", **{"name": name, "slug": name, "designation": designation} | fields)


async def make_stage(person: Person, kind: str = "dummy", **fields: Any) -> dict[str, Any]:
    return await make(person, f"/stages/{kind}/", **{"name": new_name(kind)} | fields)


async def make_binding(person: Person, flow: dict[str, Any], stage: dict[str, Any], **fields: Any) -> dict[str, Any]:
    given = {"flow": flow["pk"], "stage": stage["stage_uuid"], "order": 0} | fields
    return await make(person, "/flows/bindings/", **given)


async def results(person: Person, path: str, **params: Any) -> list[dict[str, Any]]:
    answer = await person.get(API + path, params={"limit": 1000} | params)
    assert answer.status_code == 200, (path, params, answer.text)
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


async def person_who_may(town: Town, owner: Person, *permissions: str) -> Person:
    """Somebody who may do just this."""
    person = await town.sign_up()
    await grant(owner, person, *permissions)
    return person


async def grant(owner: Person, person: Person, *permissions: str) -> None:
    """Let somebody do this from now on, and nothing else."""
    role = await make(owner, "/rbac/roles/", name=new_name("role"), permissions=list(permissions))
    [found] = await results(owner, "/core/users/", username=person.username)
    answer = await owner.call("PATCH", f"{API}/core/users/{found['pk']}/", json={"roles": [role["pk"]]})
    assert answer.status_code == 200, answer.text
