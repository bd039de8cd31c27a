"""What the console lists beyond the collections: who has a role, who made which invitation, and names of people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, func, or_, select

from kith.base.db import UID, any_of, query
from kith.base.work import Work
from kith.identity.flows.resources import flows
from kith.identity.groups.tables import groups
from kith.identity.roles.tables import group_roles, user_roles
from kith.identity.stages.invitations import invitations
from kith.identity.users.tables import users

__all__ = ["InvitationLine", "RoleGroup", "RolePerson", "invitation_lines", "role_holders", "usernames"]

MOST = 200


class RolePerson(msgspec.Struct, frozen=True):
    id: int
    username: str


class RoleGroup(msgspec.Struct, frozen=True):
    id: str
    name: str


class InvitationLine(msgspec.Struct, frozen=True):
    """`slug` is that of the one flow that takes it, empty where any does."""

    id: str
    name: str
    expires: datetime | None
    single_use: bool
    uses: int
    max_uses: int | None
    autofollow: bool
    fixed_data: dict[str, Any]
    created_at: datetime
    maker_id: int
    maker: str
    slug: str | None

    def is_over(self, now: datetime) -> bool:
        is_used_up = self.max_uses is not None and self.uses >= self.max_uses
        return is_used_up or (self.expires is not None and self.expires <= now)

    def address(self, base_url: str) -> str:
        return f"{base_url}/flows/{self.slug}/?itoken={self.id}" if self.slug else f"{base_url}/invite/{self.id}"


_people = query(
    select(users.c.id, users.c.username)
    .join(user_roles, user_roles.c.owner == users.c.id)
    .where(user_roles.c.other == bindparam("role", type_=UID()))
    .order_by(users.c.username)
    .limit(MOST),
    RolePerson,
)
_groups = query(
    select(groups.c.group_uuid.label("id"), groups.c.name)
    .join(group_roles, group_roles.c.owner == groups.c.group_uuid)
    .where(group_roles.c.other == bindparam("role", type_=UID()))
    .order_by(groups.c.name)
    .limit(MOST),
    RoleGroup,
)
_names = query(select(users.c.id, users.c.username).where(any_of(users.c.id, "ids")), RolePerson)
_invitations = query(
    select(
        invitations.c.invite_uuid.label("id"),
        invitations.c.name,
        invitations.c.expires,
        invitations.c.single_use,
        invitations.c.uses,
        invitations.c.max_uses,
        invitations.c.autofollow,
        invitations.c.fixed_data,
        invitations.c.created_at,
        users.c.id.label("maker_id"),
        users.c.username.label("maker"),
        flows.c.slug,
    )
    .join(users, users.c.id == invitations.c.created_by)
    .join(flows, flows.c.flow_uuid == invitations.c.flow, isouter=True)
    .where(
        or_(
            users.c.username_key.like(bindparam("wanted"), escape="!"),
            func.lower(invitations.c.name).like(bindparam("wanted"), escape="!"),
        )
    )
    .order_by(invitations.c.created_at.desc(), invitations.c.invite_uuid)
    .limit(bindparam("most"))
    .offset(bindparam("start")),
    InvitationLine,
)


async def role_holders(work: Work, role_uuid: str) -> tuple[list[RolePerson], list[RoleGroup]]:
    """People and groups that have a role themselves; members of groups below have it by them."""
    return await work.db.all(_people, role=role_uuid), await work.db.all(_groups, role=role_uuid)


async def usernames(work: Work, ids: Sequence[int]) -> dict[int, str]:
    found = await work.db.all(_names, ids=list(ids)) if ids else []
    return {one.id: one.username for one in found}


async def invitation_lines(work: Work, search: str, *, offset: int, most: int) -> list[InvitationLine]:
    """The newest first; `search` is part of an invitation's name or of its maker's."""
    wanted = search.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return await work.db.all(_invitations, wanted=f"%{wanted}%", start=offset, most=most)
