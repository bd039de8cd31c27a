"""Who may do what, is known by what, and comes in where: read from the database, and compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from sqlalchemy import Table, select

import kith.schema  # noqa: F401 - so that every table is known
from kith.app import House
from kith.base.db import METADATA, query
from kith.base.work import Work
from kith.identity.expressions import subjects
from kith.identity.policies.engine import evaluate_target
from kith.identity.policies.request import PolicyRequest
from kith.identity.rights import rights_of

__all__ = ["Change", "Standing", "read_standing"]

EVERYTHING = frozenset({"*"})
PASSWORD = 4  # among what is read of people
KEYS = "keys in use"
# What a source is called and looks like vouches for nobody, and when a record was changed says nothing.
_SAYS_NOTHING = {
    "identity_sources": {"name", "icon", "promoted"},
    "identity_keypairs": {"name"},
    "identity_brands": {"branding_title", "branding_logo", "branding_favicon", "attributes", "default_application"},
}  # fmt: skip
_NEVER = {"created_at", "updated_at", "last_used_at"}


def _rows(name: str) -> Any:
    table: Table = METADATA.tables[name]
    left_out = _SAYS_NOTHING.get(name, set()) | _NEVER
    columns = [one for one in table.columns if one.name not in left_out]
    return query(select(*columns), tuple)


def _table(name: str, *columns: str) -> Any:
    table: Table = METADATA.tables[name]
    return query(select(*(table.c[one] for one in columns)), tuple)


_people = _table("identity_users", "id", "username", "name", "email", "is_active", "password", "role", "type")
_proven = _table("identity_users", "id", "owned_email_key", "email_verified_at")
_factors = _table("identity_factors", "device_uuid", "user_id")
_tokens = _table("identity_tokens", "token_uuid", "user_id", "scopes", "intent")
_sessions = _table("identity_sessions", "session_uuid", "user_id")
_apps = _table("identity_applications", "slug", "pbm_uuid", "policy_engine_mode", "provider")
_grants = _table("identity_groups", "group_uuid", "name", "is_superuser", "parent")
_SOURCES = [name for name in METADATA.tables if name.startswith("identity_sources")] + [
    "identity_source_user_connections", "identity_source_group_connections", "identity_source_user_mappings",
    "identity_source_group_mappings",
]  # fmt: skip
_source_rows = {name: _rows(name) for name in _SOURCES}
_brands, _keys = _rows("identity_brands"), _rows("identity_keypairs")
_key_users = [
    query(select(key.parent).where(key.parent.is_not(None)), str)
    for table in METADATA.tables.values()
    for key in table.foreign_keys
    if key.column.table.name == "identity_keypairs"
]
_WAYS = ("authentication", "recovery", "enrollment", "stage_setup", "unenrollment", "invalidation")


class Change(msgspec.Struct, frozen=True):
    """Something that is otherwise than before. `kind` is what a permission must say that it leads to."""

    kind: str
    about: str


class Standing(msgspec.Struct):
    rights: dict[int, frozenset[str]]
    people: dict[int, tuple[Any, ...]]
    proven: set[tuple[int, str]]
    factors: set[tuple[Any, ...]]
    tokens: set[tuple[Any, ...]]
    sessions: set[tuple[Any, ...]]
    entries: set[tuple[str, int]]
    vouching: dict[str, set[str]]

    def changes(self, after: Standing, delegate: int, held: frozenset[str]) -> list[Change]:
        """What is otherwise afterwards, and should not be without a word of it. `held` is what the delegate may."""
        above = {one for one, rights in self.rights.items() if not rights <= held and one != delegate}
        found = [*self._of_rights(after, above, held), *self._of_keys(after, above, delegate)]
        found += [Change("address", str(one)) for one in after.proven - self.proven if one[0] != delegate]
        found += [Change("entry", str(one)) for one in after.entries - self.entries]
        for place, rows in self.vouching.items():
            now = after.vouching.get(place, set())
            gone, new = rows - now, set[str]() if place == KEYS else now - rows
            found += [Change("vouching", f"{place}: {one[:300]}") for one in (*gone, *new)]
        return found

    def _of_rights(self, after: Standing, above: set[int], held: frozenset[str]) -> Iterator[Change]:
        for one, rights in after.rights.items():
            gained = rights - self.rights.get(one, frozenset()) - held
            if gained:
                yield Change("right", f"{one} gained {sorted(gained)[:3]}")
        for one in above:
            if self.rights[one] - after.rights.get(one, frozenset()):
                yield Change("right of somebody mightier", f"{one} lost rights")
            if self.people[one] != after.people.get(one):
                yield Change("person above", f"{self.people[one]} became {after.people.get(one)}")

    def _of_keys(self, after: Standing, above: set[int], delegate: int) -> Iterator[Change]:
        for one in self.people.keys() & after.people.keys() - above - {delegate}:
            if self.people[one][PASSWORD] != after.people[one][PASSWORD]:
                yield Change("password", str(one))
        for device, user in self.factors ^ after.factors:
            yield Change("factor above" if user in above else "factor", str(device))
        for token in after.tokens - self.tokens:
            if token[1] != delegate:
                yield Change("token above" if token[1] in above else "token", str(token))
        for session, user in after.sessions - self.sessions:
            if user in self.people and user != delegate:
                yield Change("session", f"{session} of {user}")


async def read_standing(house: House, watched: Iterable[int]) -> Standing:
    async with house.works.begin() as work:
        db = work.db
        people = {row[0]: row[1:] for row in await db.all(_people)}
        rights = {one: await rights_of(db, one, row[5]) for one, row in people.items()}
        return Standing(
            rights={one: EVERYTHING if found is None else found for one, found in rights.items()},
            people=people,
            proven={(id, key) for id, key, at in await db.all(_proven) if key is not None and at is not None},
            factors=set(await db.all(_factors)),
            tokens=set(await db.all(_tokens)),
            sessions=set(await db.all(_sessions)),
            entries=await _entries(work, watched),
            vouching=await _vouching(work),
        )


async def _entries(work: Work, watched: Iterable[int]) -> set[tuple[str, int]]:
    found = set()
    for slug, pbm_uuid, mode, provider in await work.db.all(_apps):
        for one in watched:
            request = PolicyRequest(person=await subjects.find(work, one), is_test=True)
            if provider is not None and (await evaluate_target(work, pbm_uuid, request, mode)).passing:
                found.add((slug, one))
    return found


async def _vouching(work: Work) -> dict[str, set[str]]:
    """Rows of what vouches for people: sources and their connections, hosts, keys in use, and the ways in."""
    db = work.db
    found = {name: {repr(row) for row in await db.all(statement)} for name, statement in _source_rows.items()}
    found["brands"] = {repr(row) for row in await db.all(_brands)}
    used = {key for statement in _key_users for key in await db.all(statement)}
    found[KEYS] = {repr(row) for row in await db.all(_keys) if used & set(map(str, row))}
    found |= await _ways_in(db)
    return found


# The ways in, found here by themselves, and not by asking the code that is being tried.
_flows = _table(
    "identity_flows", "flow_uuid", "pbm_uuid", "designation", "slug", "authentication", "policy_engine_mode"
)
_places = _table(
    "identity_flow_bindings", "pbm_uuid", "flow", "stage", "order", "evaluate_on_plan", "policy_engine_mode"
)
_prompt_stages = _table("identity_stages_prompt", "stage_uuid", "pbm_uuid")
_inner = [
    _table("identity_stages_identification", "stage_uuid", name)
    for name in ("password_stage", "captcha_stage", "webauthn_stage")
]
_inner.append(_table("identity_stages_otp_validate_configuration", "owner", "other"))
_asked = _table("identity_stages_prompt_fields", "owner", "other")
_judged = _table("identity_stages_prompt_policies", "owner", "other")
_bound = _table("identity_policy_bindings", "target", "policy", "group", "user", "negate", "enabled", "failure_result")
_source_ids = _table("identity_sources", "pbm_uuid", "kind")
_BY_STAGE = {
    name: _rows(name)
    for name, table in METADATA.tables.items()
    if name.startswith("identity_stages") and next(iter(table.columns)).name in ("stage_uuid", "owner")
}
_BY_POLICY = {name: _rows(name) for name in METADATA.tables if name.startswith("identity_policies")}
_prompts = _rows("identity_prompts")


async def _ways_in(db: Any) -> dict[str, set[str]]:
    flows = [row for row in await db.all(_flows) if row[2] in _WAYS]
    ids = {row[0] for row in flows}
    places = [row for row in await db.all(_places) if row[1] in ids]
    stages = {row[2] for row in places}
    inner = [row for statement in _inner for row in await db.all(statement)]
    while more := {other for owner, other in inner if owner in stages and other is not None} - stages:
        stages |= more
    forms = {pbm for stage, pbm in await db.all(_prompt_stages) if stage in stages}
    targets = {row[1] for row in flows} | {row[0] for row in places} | forms
    targets |= {row[0] for row in await db.all(_source_ids)}
    bound = [row for row in await db.all(_bound) if row[0] in targets]
    policies = {row[1] for row in bound} | {other for owner, other in await db.all(_judged) if owner in forms}
    prompts = {other for owner, other in await db.all(_asked) if owner in forms}
    listed: dict[str, Iterable[Any]] = {"flows": flows, "steps": places, "bindings": bound}
    listed["prompts"] = [row for row in await db.all(_prompts) if row[0] in prompts]
    for name, statement in _BY_STAGE.items():
        listed[name] = [row for row in await db.all(statement) if row[0] in stages | forms]
    for name, statement in _BY_POLICY.items():
        listed[name] = [row for row in await db.all(statement) if row[0] in policies]
    return {f"ways in: {name}": {repr(row) for row in rows} for name, rows in listed.items()}
