"""Records to start from, made through the API as anyone would."""

from __future__ import annotations

import uuid
from typing import Any

from tests.town import Person

API = "/api/v2"


def new_name(word: str) -> str:
    """The town is shared, and most names must be unique."""
    return f"{word}-{uuid.uuid4().hex[:8]}"


async def make(person: Person, path: str, **fields: Any) -> dict[str, Any]:
    answer = await person.call("POST", API + path, json=fields)
    assert answer.status_code == 201, (path, fields, answer.text)
    record: dict[str, Any] = answer.json()
    return record


async def make_flow(person: Person, designation: str, **fields: Any) -> dict[str, Any]:
    name = new_name(designation.replace("_", "-"))
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
