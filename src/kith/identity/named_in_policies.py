"""What the expressions of policies name by a string: it cannot vanish or be called otherwise under them.

An expression may compare names in any way it likes, so that a name that is gone could let in whom it kept out. The
rooms of groups and policies call this, so that their tables are only named here.
"""

from __future__ import annotations

from sqlalchemy import String, column, select, table

from kith.base.db import UID, Session, query
from kith.base.errors import Conflict
from kith.identity.expressions.literals import calls_policies, literals_of

__all__ = ["find_naming", "refuse_if_called", "refuse_if_named"]

_policies = table("identity_policies", column("policy_uuid", UID), column("name", String))
_expressions = table("identity_policies_expression", column("policy_uuid", UID), column("expression", String))
_all = query(
    select(_policies.c.policy_uuid, _policies.c.name, _expressions.c.expression)
    .join(_policies, _policies.c.policy_uuid == _expressions.c.policy_uuid)
    .order_by(_policies.c.name),
    tuple,
)


async def find_naming(db: Session, *names: str, unless: str | None = None) -> str | None:
    """The name of a policy that names something so, and does not also name what it will be called then."""
    for _, policy, text in await db.all(_all):
        found = literals_of(text)
        if not found.isdisjoint(names) and unless not in found:
            return str(policy)
    return None


async def refuse_if_named(db: Session, *names: str, unless: str | None = None) -> None:
    policy = await find_naming(db, *names, unless=unless)
    if policy is not None:
        raise Conflict(f"The policy {policy} names this. Change what it names first.")


async def refuse_if_called(db: Session, policy_uuid: str, name: str) -> None:
    """Raise `Conflict` if the expression of another policy asks this one."""
    for other, policy, text in await db.all(_all):
        if other != policy_uuid and calls_policies(text) and name in literals_of(text):
            raise Conflict(f"The policy {policy} asks this one. Change it first.")
