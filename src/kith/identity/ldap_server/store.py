"""What the tree is made of: providers with their applications, people, groups, and who is in which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, func, or_, select

from kith.base.db import Session, any_of, query
from kith.identity.applications.tables import applications
from kith.identity.distinguished_names import squeezed
from kith.identity.groups.tables import IS_MEMBER, groups, members
from kith.identity.mappings.family import mappings
from kith.identity.mappings.kinds.ldap import ldap_mappings as _mapping
from kith.identity.providers.family import provider_mappings, providers
from kith.identity.providers.kinds.ldap import ldap_providers as _own
from kith.identity.users.tables import is_active, users

__all__ = ["TreeGroup", "TreeMapping", "TreePerson", "TreeProvider"]

MOST_NAMES = 1000  # read at once


class TreeProvider(msgspec.Struct, frozen=True):
    """`application` is the id of the policies that decide who comes in; None where no application is assigned."""

    id: int
    name: str
    base_dn: str
    certificate: str | None
    tls_server_name: str
    uid_start_number: int
    gid_start_number: int
    mfa_support: bool
    application: str | None
    application_name: str | None
    slug: str | None
    policy_engine_mode: str | None


class TreePerson(msgspec.Struct, frozen=True):
    id: int
    uuid: str
    username: str
    name: str
    email: str
    owned_email_key: str | None
    attributes: dict[str, Any]


class TreeGroup(msgspec.Struct, frozen=True):
    group_uuid: str
    name: str
    attributes: dict[str, Any]


class TreeMapping(msgspec.Struct, frozen=True):
    """An attribute whose values an expression gives."""

    pm_uuid: str
    name: str
    object_field: str
    expression: str


_of_provider = (
    providers.c.id, providers.c.name, _own.c.base_dn, _own.c.certificate, _own.c.tls_server_name,
    _own.c.uid_start_number, _own.c.gid_start_number, _own.c.mfa_support,
    applications.c.pbm_uuid.label("application"), applications.c.name.label("application_name"), applications.c.slug,
    applications.c.policy_engine_mode,
)  # fmt: skip
_all_providers = query(
    select(*_of_provider)
    .select_from(
        providers.join(_own, _own.c.id == providers.c.id).outerjoin(
            applications, applications.c.provider == providers.c.id
        )
    )
    .order_by(providers.c.id),
    TreeProvider,
)
_mappings_of = query(
    select(mappings.c.pm_uuid, mappings.c.name, _mapping.c.object_field, mappings.c.expression)
    .select_from(
        provider_mappings.join(mappings, mappings.c.pm_uuid == provider_mappings.c.other).join(
            _mapping, _mapping.c.pm_uuid == mappings.c.pm_uuid
        )
    )
    .where(provider_mappings.c.owner == bindparam("provider"))
    .order_by(_mapping.c.object_field, mappings.c.name),
    TreeMapping,
)
_mapped_names = query(
    select(_mapping.c.object_field)
    .join(provider_mappings, provider_mappings.c.other == _mapping.c.pm_uuid)
    .distinct()
    .order_by(_mapping.c.object_field)
    .limit(1000),
    str,
)
_shown = and_(is_active(), users.c.approved_at.is_not(None))
_person = tuple(users.c[name] for name in TreePerson.__struct_fields__)
_people_after = query(
    select(*_person).where(_shown, users.c.id > bindparam("after")).order_by(users.c.id).limit(bindparam("most")),
    TreePerson,
)
_people_like = query(
    select(*_person)
    .where(
        _shown,
        or_(
            any_of(users.c.username_key, "names"),
            any_of(users.c.email_key, "emails"),
            any_of(users.c.id, "numbers"),
        ),
    )
    .order_by(users.c.id),
    TreePerson,
)
_group = tuple(groups.c[name] for name in TreeGroup.__struct_fields__)
_groups_after = query(
    select(*_group).where(groups.c.name > bindparam("after")).order_by(groups.c.name).limit(bindparam("most")),
    TreeGroup,
)
_groups_of_people = query(
    select(members.c.user_id, groups.c.name)
    .select_from(members.join(groups, groups.c.group_uuid == members.c.group_uuid))
    .where(any_of(members.c.user_id, "people"), IS_MEMBER)
    .order_by(members.c.user_id, groups.c.name),
    tuple,
)
_people_of_groups = query(
    select(members.c.group_uuid, users.c.username)
    .select_from(members.join(users, users.c.id == members.c.user_id))
    .where(any_of(members.c.group_uuid, "groups"), IS_MEMBER, _shown)
    .order_by(members.c.group_uuid, users.c.id),
    tuple,
)
_names_after = query(
    select(groups.c.name).where(groups.c.name > bindparam("after")).order_by(groups.c.name).limit(MOST_NAMES), str
)
_groups_by_name = query(select(*_group).where(any_of(groups.c.name, "names")).order_by(groups.c.name), TreeGroup)
_member_counts = query(
    select(members.c.group_uuid, func.count())
    .where(any_of(members.c.group_uuid, "groups"))
    .group_by(members.c.group_uuid),
    tuple,
)
_groups_of_person = query(
    select(*_group)
    .select_from(groups.join(members, members.c.group_uuid == groups.c.group_uuid))
    .where(members.c.user_id == bindparam("person"), IS_MEMBER)
    .order_by(groups.c.name),
    TreeGroup,
)


async def all_providers(db: Session) -> list[TreeProvider]:
    return await db.all(_all_providers)


async def mappings_of(db: Session, provider_id: int) -> list[TreeMapping]:
    return await db.all(_mappings_of, provider=provider_id)


async def mapped_names(db: Session) -> list[str]:
    """The attributes that mappings of providers give."""
    return await db.all(_mapped_names)


async def people_after(db: Session, after: int, most: int) -> list[TreePerson]:
    """Everybody who may sign in, in the order they came."""
    return await db.all(_people_after, after=after, most=most)


async def people_like(
    db: Session, *, names: Sequence[str] = (), emails: Sequence[str] = (), numbers: Sequence[int] = ()
) -> list[TreePerson]:
    return await db.all(_people_like, names=list(names), emails=list(emails), numbers=list(numbers))


async def groups_after(db: Session, after: str, most: int) -> list[TreeGroup]:
    return await db.all(_groups_after, after=after, most=most)


async def groups_called(db: Session, name: str) -> list[TreeGroup]:
    """Those whose name is compared as this one, `squeezed`; the database cannot compare so."""
    found: list[str] = []
    after = ""
    while names := await db.all(_names_after, after=after):
        found += [one for one in names if squeezed(one) == name]
        after = names[-1]
        if len(names) < MOST_NAMES:
            break
    return await db.all(_groups_by_name, names=found) if found else []


async def groups_of_person(db: Session, person: int) -> list[TreeGroup]:
    return await db.all(_groups_of_person, person=person)


async def group_names(db: Session, people: Sequence[int]) -> dict[int, list[str]]:
    """The names of the groups that each of these people is in."""
    found: dict[int, list[str]] = {one: [] for one in people}
    for person, name in await db.all(_groups_of_people, people=list(people)):
        found[person].append(name)
    return found


async def member_counts(db: Session, of: Sequence[str]) -> dict[str, int]:
    """How many are in each of these groups, at most: some of them may not be shown."""
    return dict.fromkeys(of, 0) | dict(await db.all(_member_counts, groups=list(of)))


async def member_names(db: Session, of: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {one: [] for one in of}
    for group, name in await db.all(_people_of_groups, groups=list(of)):
        found[group].append(name)
    return found
