"""Every write of the API that somebody could try, from the declarations of the collections and actions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import msgspec

from kith.identity.collections import ACTIONS, RESOURCES
from kith.identity.rest import Action, Resource
from kith.identity.rest.fields import (
    Boolean,
    Choice,
    Choices,
    Computed,
    Email,
    Expression,
    Field,
    Integer,
    Moment,
    Object,
    Reference,
    References,
    Secret,
    Text,
)  # fmt: skip
from tests.identity.ladders.scenery import EVIL, Scenery
from tests.identity.records import API, new_name, results

__all__ = ["WRITES", "Tries", "Try", "write_permissions"]

WRITES = {"add": "create", "change": "partial_update", "delete": "delete"}
MOST_RECORDS = 8
MOST_VALUES = 6
_UNIQUE = ("name", "slug", "domain", "username", "client_id", "identifier", "value", "base_dn", "external_host")
BY_TABLE: dict[str, str] = {}
for _one in RESOURCES:
    for _table in _one.tables:
        BY_TABLE.setdefault(_table.name, _one.path)


class Try(msgspec.Struct, frozen=True):
    method: str
    path: str
    body: Any = None


def write_permissions() -> list[str]:
    """Every permission that lets somebody write, and those that are no writes of records."""
    found = [one.permission(verb) for one in RESOURCES for verb, operation in WRITES.items() if operation in one.allow]
    found += [one.permission for one in ACTIONS if one.permission is not None and one.method != "GET"]
    found += ["core.reset_user_password", "core.lockdown_user", "flows.inspect_flow", "core.view_secret"]
    return sorted(dict.fromkeys(found))


class Tries:
    """`records` are those of each collection, as the owner sees them."""

    def __init__(self, place: Scenery, chance: random.Random) -> None:
        self._place = place
        self._chance = chance
        self.records: dict[str, list[dict[str, Any]]] = {}

    async def look(self) -> None:
        for one in RESOURCES:
            if "list" in one.allow and one.path != "/audit/events/":
                self.records[one.path] = await results(self._place.ada, one.path)

    def _some(self, resource: Resource[Any]) -> list[dict[str, Any]]:
        listed = self.records.get(resource.path, [])
        return (
            listed
            if len(listed) <= MOST_RECORDS
            else [*listed[-3:], *self._chance.sample(listed[:-3], MOST_RECORDS - 3)]
        )

    # What is not permitted

    def probes(self) -> Iterator[Try]:
        """One of each write, for whoever may not write there."""
        for resource in RESOURCES:
            items = self.records.get(resource.path, [])
            item = f"{resource.path}{items[0]['pk']}/" if items else ""
            if "create" in resource.allow:
                yield Try("POST", resource.path, self._new(resource))
            if item and "partial_update" in resource.allow:
                yield Try("PATCH", item, {"name": new_name("mine")})
                yield Try("PUT", item, items[0])
            if item and "delete" in resource.allow:
                yield Try("DELETE", item)

    # What is permitted

    def writes(self, resource: Resource[Any], verbs: Sequence[str]) -> Iterator[Try]:
        fields = [one for one in resource.all_fields if not one.read_only and not isinstance(one, Computed)]
        if "add" in verbs and "create" in resource.allow:
            yield Try("POST", resource.path, self._new(resource))
            for field in fields:
                for value in self._values(field):
                    yield Try("POST", resource.path, self._new(resource) | {field.name: value})
            for _ in range(5):
                yield Try("POST", resource.path, self._new(resource) | self._several(fields))
        if "change" in verbs and "partial_update" in resource.allow:
            for record in self._some(resource):
                item = f"{resource.path}{record['pk']}/"
                yield Try("PUT", item, record)
                for field in fields:
                    for value in self._values(field):
                        yield Try("PATCH", item, {field.name: value})
                for _ in range(3):
                    yield Try("PATCH", item, self._several(fields))
        if "delete" in verbs and "delete" in resource.allow:
            for record in self.records.get(resource.path, []):
                yield Try("DELETE", f"{resource.path}{record['pk']}/")

    def actions(self, held: frozenset[str]) -> Iterator[Try]:
        """Each action, on several records if it is permitted, else on one."""
        people = [self._place.ids[one.username] for one in (self._place.delegate, self._place.victim)]
        for action in ACTIONS:
            if action.method == "GET":
                continue
            is_permitted = action.permission is None or action.permission in held
            for id in self._ids(action)[: 4 if is_permitted else 1]:
                path = action.path.replace("{id}", str(id))
                for person in people if is_permitted else people[:1]:
                    yield Try(action.method, path, self._anything(person))

    def _ids(self, action: Action) -> list[Any]:
        if "{id}" not in action.path:
            return [""]
        near = [one for one in RESOURCES if action.path.startswith(one.path)]
        if not near:
            return []
        resource = max(near, key=lambda one: len(one.path))
        listed = [one["pk"] for one in self._some(resource)]
        if resource.path == "/core/users/":
            above = [self._place.ids[one.username] for one in (self._place.victim, self._place.ada)]
            listed = above + [one for one in listed if one != self._place.ids[self._place.delegate.username]]
        return listed

    def _anything(self, person: int) -> dict[str, Any]:
        """What any action may take."""
        risen = f"{{name: {new_name('risen')}}}, attrs: {{is_superuser: true, user_set: [{person}]}}"
        return {
            "pk": person, "user": person, "user_pks": [person], "password": "another good password", "reason": "x",
            "name": new_name("n"), "common_name": new_name("c"), "validity_days": 3, "expression": "return True",
            "content": f"version: 1\nentries: [{{model: core.group, identifiers: {risen}}}]", "answer": "yes",
            "duration": "hours=1",
        }  # fmt: skip

    # Bodies

    def _new(self, resource: Resource[Any]) -> dict[str, Any]:
        """A body that makes a record, after one that is there."""
        listed = self.records.get(resource.path) or [{}]
        given = dict(self._chance.choice(listed))
        for field in resource.all_fields:
            if isinstance(field, Secret):
                given[field.name] = "a secret that is long enough"
            elif field.name in _UNIQUE or field.unique:
                given[field.name] = self._fresh(field, given.get(field.name))
        given |= {"certificate_data": EVIL.certificate, "key_data": EVIL.key} if resource.area == "crypto" else {}
        wanted = {one.name for one in resource.all_fields if not one.read_only and not isinstance(one, Computed)}
        return {name: value for name, value in given.items() if name in wanted and value is not None}

    def _fresh(self, field: Field, before: Any) -> Any:
        word = new_name("x").replace("-", "_")
        if isinstance(field, Reference | References | Integer | Boolean):
            return None if field.null else before
        shapes = {
            "domain": f"{word}.example", "value": f"{word}.example", "base_dn": f"dc={word},dc=example",
            "external_host": f"https://{word}.example",
        }  # fmt: skip
        return shapes.get(field.name, word)

    def _several(self, fields: Sequence[Field]) -> dict[str, Any]:
        chosen = self._chance.sample(list(fields), min(len(fields), self._chance.randint(2, 5)))
        return {one.name: self._chance.choice(list(self._values(one)) or [None]) for one in chosen}

    def _values(self, field: Field) -> Iterator[Any]:
        found = list(self._all_values(field))
        yield from (
            found if len(found) <= MOST_VALUES else [*found[:2], *self._chance.sample(found[2:], MOST_VALUES - 2)]
        )

    def _all_values(self, field: Field) -> Iterator[Any]:
        place = self._place
        names = (place.victim.username, place.ada.username, place.great, place.mighty)
        if isinstance(field, Reference | References):
            keys = self._keys(field.to)
            yield from ([one] for one in keys) if isinstance(field, References) else keys
            yield [] if isinstance(field, References) else None
        elif isinstance(field, Boolean):
            yield from (True, False)
        elif isinstance(field, Choice):
            yield from field.choices
        elif isinstance(field, Choices):
            yield from ([one] for one in field.choices)
            yield from (["*"], write_permissions()) if field.name == "permissions" else ([],)
        elif isinstance(field, Email):
            yield from (f"{place.victim.username}@example.org", f"{new_name('evil')}@example.org", "")
        elif isinstance(field, Object):
            yield {
                "email": "boss@example.org",
                "username": place.victim.username,
                "role": "owner",
                "is_superuser": True,
            }
        elif isinstance(field, Moment):
            yield from ("2099-01-01T00:00:00Z", None)
        elif isinstance(field, Integer):
            yield from (0, 1, 99)
        elif field.name in ("certificate_data", "key_data"):
            yield EVIL.certificate if field.name == "certificate_data" else EVIL.key
        elif isinstance(field, Expression) or "expression" in field.name:
            yield from ("return True", f'return {{"username": "{place.victim.username}", "email": "boss@example.org"}}')
        elif isinstance(field, Text):
            hosts = ("wiki.example", "second.example", place.town.base_url, "evil.example")
            yield from (*names, *hosts, *(f"https://{one}/evil" for one in hosts[:2]), "", ".*", "dc=kinds,dc=example")

    def _keys(self, to: str) -> list[Any]:
        table, _, key = to.partition(".")
        path = BY_TABLE.get(table)
        if table == "identity_policy_targets":
            listed = [one for records in self.records.values() for one in records if "pbm_uuid" in one]
            return [one["pbm_uuid"] for one in self._chance.sample(listed, min(len(listed), 40))]
        everything = {"identity_stages": "/stages/all/", "identity_policies": "/policies/all/"}
        everything |= {"identity_sources": "/sources/all/", "identity_providers": "/providers/all/"}
        everything |= {"identity_property_mappings": "/propertymappings/all/"}
        listed = self.records.get(everything.get(table, path or ""), [])
        found = [one.get(key, one.get("pk")) for one in listed]
        first = [self._place.ids[one.username] for one in (self._place.delegate, self._place.victim)]
        return [*(first if table == "identity_users" else []), *self._chance.sample(found, len(found))]


async def send(place: Scenery, one: Try) -> httpx.Response:
    return await place.delegate.call(one.method, API + one.path, json=one.body)
