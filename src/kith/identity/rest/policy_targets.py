"""The ids of everything policies can be bound to: applications, flows, bindings, sources, prompt stages."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Column, String, Table, delete

from kith.base.db import METADATA, UID, Session, any_of, command, insert_into

policy_targets = Table(
    "identity_policy_targets",
    METADATA,
    Column("pbm_uuid", UID, primary_key=True),
    Column("model", String(60), nullable=False),
)

_add = command(insert_into(policy_targets))
_remove = command(delete(policy_targets).where(any_of(policy_targets.c.pbm_uuid, "ids")))


async def add(db: Session, pbm_uuid: str, model: str) -> None:
    await db.run(_add, pbm_uuid=pbm_uuid, model=model)


async def remove(db: Session, ids: Sequence[str]) -> None:
    """Remove targets with their policy bindings."""
    await db.run(_remove, ids=list(ids))
