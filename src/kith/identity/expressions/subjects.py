"""The person a policy or an expression is about, with their groups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.audit.hidden_attributes import hidden_attributes, without
from kith.identity.caller import ADMINISTRATORS
from kith.identity.expressions.run import ExpressionObject
from kith.identity.groups.store import memberships
from kith.identity.groups.tables import IS_MEMBER, groups, members
from kith.identity.rest.fields import MASK, read_uuid
from kith.identity.users import store
from kith.identity.users.names import email_key, username_key
from kith.identity.users.tables import User, users

MOST_CANDIDATES = 20
_ALIKE: dict[str, Callable[[str], Any]] = {"username": username_key, "email": email_key, "uuid": read_uuid}
_up = (
    select(members.c.group_uuid)
    .where(and_(members.c.user_id == bindparam("user"), IS_MEMBER))
    .cte("up", recursive=True)
)
_all = _up.union(select(groups.c.parent).join(_up, groups.c.group_uuid == _up.c.group_uuid))
_groups_of = query(
    select(groups.c.group_uuid, groups.c.name, groups.c.is_superuser, groups.c.attributes)
    .where(groups.c.group_uuid.in_(select(_all.c.group_uuid)))
    .order_by(groups.c.name),
    tuple,
)


_by_ids = query(select(users).where(any_of(users.c.id, "ids")), User)
_these = (
    select(groups.c.group_uuid, groups.c.parent).where(any_of(groups.c.group_uuid, "ids")).cte("these", recursive=True)
)
_these_and_above = _these.union(
    select(groups.c.group_uuid, groups.c.parent).join(_these, groups.c.group_uuid == _these.c.parent)
)
_with_parents = query(
    select(groups.c.group_uuid, groups.c.name, groups.c.is_superuser, groups.c.attributes, groups.c.parent).where(
        groups.c.group_uuid.in_(select(_these_and_above.c.group_uuid))
    ),
    tuple,
)
_by_uuid = query(select(users).where(users.c.uuid == bindparam("wanted", type_=users.c.uuid.type)), User)


class PolicySubject(msgspec.Struct, frozen=True):
    """`groups` holds the groups one is a member of and all above them; `direct` is the ids of the former."""

    user: User
    groups: tuple[ExpressionObject, ...]
    direct: frozenset[str]

    def is_in(self, group_uuid: str) -> bool:
        return any(group["group_uuid"] == group_uuid for group in self.groups)

    @property
    def is_superuser(self) -> bool:
        return self.user.role in ADMINISTRATORS or any(group["is_superuser"] for group in self.groups)

    def facts(self, hidden: Collection[str]) -> ExpressionObject:
        """What expressions are told: attributes that are passwords (`hidden_attributes`) are masked, as in the API."""
        user = self.user
        every = [
            ExpressionObject({**group, "attributes": without(group["attributes"], hidden, MASK)})
            for group in self.groups
        ]
        mine: list[Any] = [group for group in every if group["group_uuid"] in self.direct]
        return ExpressionObject(
            id=user.id,
            pk=user.id,
            uuid=user.uuid,
            uid=user.uid,
            username=user.username,
            name=user.name,
            email=user.counted_email,
            email_verified=user.is_email_verified,
            is_active=user.is_active,
            is_superuser=self.is_superuser,
            type=user.type,
            path=user.path,
            date_joined=user.created_at,
            last_login=user.last_login_at,
            password_change_date=user.password_changed_at,
            attributes=without(user.attributes, hidden, MASK),
            groups=mine,
            ak_groups=mine,
            all_groups=every,
        )


async def find_by(work: Work, filters: Mapping[str, Any]) -> PolicySubject | None:
    """The first person who fits all filters; one of them must be pk, uuid, username or email."""
    candidates, hidden = await _candidates(work, filters), await hidden_attributes(work)
    for user in candidates[:MOST_CANDIDATES]:
        person = await get(work, user.id)
        facts = person.facts(hidden)
        if all(name in facts and _is_same(name, facts[name], wanted) for name, wanted in filters.items()):
            return person
    return None


async def _candidates(work: Work, filters: Mapping[str, Any]) -> list[User]:
    match filters:
        case {"pk": int(id)} | {"id": int(id)}:
            found = await store.find_by_id(work.db, id) if 0 < id < 2**31 else None
        case {"uuid": str(text)}:
            uuid = read_uuid(text)
            return await work.db.all(_by_uuid, wanted=uuid) if uuid else []
        case {"username": str(name)}:
            found = await store.find(work.db, name.replace("\0", ""))
        case {"email": str(email)}:
            found = await store.owner_of(work.db, email.replace("\0", ""))
        case _:
            raise ValueError("people are found by pk, uuid, username or email")
    return [found] if found is not None else []


def _is_same(name: str, ours: Any, wanted: Any) -> bool:
    """Whether two values are equal; names and addresses are compared in their normal form."""
    alike = _ALIKE.get(name)
    if alike is not None and isinstance(wanted, str):
        return bool(alike(ours) == alike(wanted))
    return bool(ours == wanted)


async def find(work: Work, user_id: int) -> PolicySubject | None:
    return None if await store.find_by_id(work.db, user_id) is None else await get(work, user_id)


async def get(work: Work, user_id: int) -> PolicySubject:
    user = await store.get(work.db, user_id)
    rows = await work.db.all(_groups_of, user=user_id)
    direct = (await memberships(work.db, [user_id]))[user_id]
    return PolicySubject(
        user,
        tuple(
            ExpressionObject(pk=id, group_uuid=id, name=name, is_superuser=is_superuser, attributes=attributes)
            for id, name, is_superuser, attributes in rows
        ),
        frozenset(direct),
    )


async def find_many(work: Work, user_ids: Sequence[int]) -> dict[int, PolicySubject]:
    """Those of these people who are here, in three queries however many there are."""
    direct = await memberships(work.db, user_ids)
    known = sorted({group for mine in direct.values() for group in mine})
    rows = await work.db.all(_with_parents, ids=known) if known else []
    parents = {id: parent for id, _, _, _, parent in rows}
    facts = {
        id: ExpressionObject(pk=id, group_uuid=id, name=name, is_superuser=is_superuser, attributes=attributes)
        for id, name, is_superuser, attributes, _ in rows
    }
    found: dict[int, PolicySubject] = {}
    for user in await work.db.all(_by_ids, ids=list(user_ids)):
        above = sorted(_and_above(direct[user.id], parents), key=lambda one: facts[one]["name"])
        found[user.id] = PolicySubject(user, tuple(facts[id] for id in above), frozenset(direct[user.id]))
    return found


def _and_above(group_ids: Sequence[str], parents: Mapping[str, str | None]) -> set[str]:
    found: set[str] = set()
    for group in group_ids:
        at: str | None = group
        while at is not None and at not in found:
            found.add(at)
            at = parents.get(at)
    return found
