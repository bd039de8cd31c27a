from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import bindparam, select, update

from kith.base.db import UID, Command, Session, command, insert_into, query
from kith.identity.blueprints.tables import instances

__all__ = ["BlueprintInstance", "change", "every", "find", "insert"]


class BlueprintInstance(msgspec.Struct):
    instance_uuid: str
    name: str
    path: str
    content: str
    context: dict[str, Any]
    enabled: bool
    status: str
    last_applied: datetime | None
    last_applied_hash: str
    managed_models: list[str]
    metadata: dict[str, Any]
    log: list[str]
    created_at: datetime
    updated_at: datetime


_every = query(select(instances).order_by(instances.c.path, instances.c.name), BlueprintInstance)
_one = query(select(instances).where(instances.c.instance_uuid == bindparam("id", type_=UID())), BlueprintInstance)
_insert = command(insert_into(instances))


async def every(db: Session) -> list[BlueprintInstance]:
    return await db.all(_every)


async def find(db: Session, id: str) -> BlueprintInstance | None:
    return await db.one(_one, id=id)


async def insert(db: Session, one: BlueprintInstance) -> None:
    await db.run(_insert, **msgspec.structs.asdict(one))


@lru_cache(16)
def _change(names: frozenset[str]) -> Command:
    values = {name: bindparam(f"new_{name}", type_=instances.c[name].type) for name in sorted(names)}
    return command(update(instances).where(instances.c.instance_uuid == bindparam("id", type_=UID())).values(values))


async def change(db: Session, id: str, values: Mapping[str, Any]) -> None:
    await db.run(_change(frozenset(values)), id=id, **{f"new_{name}": value for name, value in values.items()})
