from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, select, update

from kith.base.db import Command, Session, command, insert_into, query
from kith.social.roles.tables import EVERYONE, Role, roles

_every = query(select(roles).order_by(roles.c.position.desc(), roles.c.id), Role)
_insert = command(insert_into(roles))
_delete = command(delete(roles).where(roles.c.id == bindparam("role")))


class Roles:
    """All roles there are, as they stand at one moment."""

    def __init__(self, found: list[Role]) -> None:
        self.listed = found
        self._by_id = {role.id: role for role in found}
        self._shipped = {role.base: role for role in found if role.is_shipped}

    @property
    def everyone(self) -> Role:
        return self._by_id[EVERYONE]

    def find(self, role_id: int) -> Role | None:
        return self._by_id.get(role_id)

    def of(self, base: str, role_id: int | None) -> Role:
        """The role of somebody whom the identity half calls `base`, with what everybody may do besides.

        A freely defined role counts only while it says of its holder what the identity half says.
        """
        own = self._by_id.get(role_id) if role_id is not None else None
        if own is None or own.base != base:
            own = self._shipped.get(base, self.everyone)
        return msgspec.structs.replace(own, permissions=own.permissions | self.everyone.permissions)


async def load(db: Session) -> Roles:
    return Roles(await db.all(_every))


async def insert(db: Session, role: Role) -> None:
    await db.run(_insert, **msgspec.structs.asdict(role))


async def change(db: Session, role_id: int, changed: Mapping[str, Any]) -> None:
    await db.run(_change(frozenset(changed)), role=role_id, **{f"new_{name}": v for name, v in changed.items()})


@lru_cache(64)
def _change(names: frozenset[str]) -> Command:
    values = {name: bindparam(f"new_{name}", type_=roles.c[name].type) for name in sorted(names)}
    return command(update(roles).where(roles.c.id == bindparam("role")).values(values))


async def remove(db: Session, role_id: int) -> None:
    await db.run(_delete, role=role_id)
