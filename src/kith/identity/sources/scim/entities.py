"""People and groups as the service reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from kith.base.work import Work
from kith.identity.scim.projection import ShownAttributes
from kith.identity.scim.schemas import ENTERPRISE_SCHEMA, GROUP_SCHEMA, USER_SCHEMA
from kith.identity.sources.scim import store
from kith.identity.sources.scim.people import writable
from kith.identity.sources.scim.tables import ReceivedGroup, ReceivedUser

EVERYTHING = ShownAttributes()


async def render_users(
    work: Work, source: str, root: str, people: Sequence[ReceivedUser], shown: ShownAttributes = EVERYTHING
) -> list[dict[str, Any]]:
    groups: Mapping[int, list[tuple[str, str]]] = {}
    if people and shown.shows("groups"):
        groups = await store.groups_of(work.db, source, [one.user for one in people])
    return [_user(one, root, groups.get(one.user, [])) for one in people]


def _user(person: ReceivedUser, root: str, groups: list[tuple[str, str]]) -> dict[str, Any]:
    document = writable(person)
    schemas = [USER_SCHEMA, ENTERPRISE_SCHEMA] if ENTERPRISE_SCHEMA in document else [USER_SCHEMA]
    document = {"schemas": schemas, "id": person.id, **document}
    if groups:
        document["groups"] = [
            {"value": id, "$ref": f"{root}/Groups/{id}", "display": name, "type": "direct"} for id, name in groups
        ]
    changed = max(person.updated_at, person.changed_at)
    return _with_meta(document, "User", f"{root}/Users/{person.id}", person.created_at, changed)


async def render_groups(
    work: Work, source: str, root: str, groups: Sequence[ReceivedGroup], shown: ShownAttributes = EVERYTHING
) -> list[dict[str, Any]]:
    members: Mapping[str, list[tuple[str, int]]] = {}
    if groups and shown.shows("members"):
        members = await store.members_of(work.db, source, [one.group for one in groups])
    return [_group(one, root, members.get(one.group, [])) for one in groups]


def _group(group: ReceivedGroup, root: str, members: list[tuple[str, int]]) -> dict[str, Any]:
    document: dict[str, Any] = {"schemas": [GROUP_SCHEMA], "id": group.id}
    if group.external_id is not None:
        document["externalId"] = group.external_id
    document["displayName"] = group.name
    if members:
        document["members"] = [{"value": id, "$ref": f"{root}/Users/{id}", "type": "User"} for id, _ in members]
    changed = max(group.updated_at, group.changed_at)
    return _with_meta(document, "Group", f"{root}/Groups/{group.id}", group.created_at, changed)


def _with_meta(
    document: dict[str, Any], kind: str, location: str, created: datetime, changed: datetime
) -> dict[str, Any]:
    """The version is made of all that is shown, so whatever changes it, here or there, is noticed."""
    digest = hashlib.sha256(msgspec.json.encode(document, order="deterministic")).hexdigest()[:24]
    document["meta"] = {
        "resourceType": kind,
        "created": moment(created),
        "lastModified": moment(changed),
        "location": location,
        "version": f'W/"{digest}"',
    }
    return document


def moment(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
