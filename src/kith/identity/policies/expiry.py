"""Bindings whose end has come, or whom they named is gone: they refuse by themselves; this tells of it."""

from __future__ import annotations

from sqlalchemy import and_, bindparam, select, update

from kith.base.db import UID, Instant, command, query
from kith.base.work import Work
from kith.identity.audit import service as audit
from kith.identity.policies.bindings import IS_GONE, bindings
from kith.identity.rest.facts import AccessChanged

_now = bindparam("now", type_=Instant())
_over = query(
    select(
        bindings.c.policy_binding_uuid,
        bindings.c.target,
        bindings.c.policy,
        bindings.c.group,
        bindings.c.user,
        bindings.c.expires,
    )
    .where(and_(bindings.c.expires <= _now, bindings.c.ended_at.is_(None)))
    .order_by(bindings.c.expires)
    .limit(bindparam("most")),
    tuple,
)
_told = command(
    update(bindings)
    .where(and_(bindings.c.policy_binding_uuid == bindparam("binding", type_=UID()), bindings.c.expires <= _now))
    .values(ended_at=_now)
)


_gone = query(
    select(bindings.c.policy_binding_uuid, bindings.c.target, bindings.c.gone_kind, bindings.c.gone_name)
    .where(and_(IS_GONE, bindings.c.gone_at.is_(None)))
    .order_by(bindings.c.policy_binding_uuid)
    .limit(bindparam("most")),
    tuple,
)
_told_gone = command(
    update(bindings)
    .where(and_(bindings.c.policy_binding_uuid == bindparam("binding", type_=UID()), IS_GONE))
    .values(gone_at=_now)
)


async def tell_due(work: Work, most: int) -> int:
    """Never deletes one: an application without bindings is open to everybody."""
    found = await work.db.all(_over, now=work.now, most=most)
    for binding, target, policy, group, user, expires in found:
        if not await work.db.run(_told, binding=binding, now=work.now):
            continue  # somebody has set another end meanwhile
        about = {"target": target, "policy": policy, "group": group, "user": user, "expires": expires}
        await audit.record(
            work, "binding_expired", "policies.policybinding", context={"model": _model(binding), **about}
        )
    if found:
        work.announce(AccessChanged())
    return len(found)


async def tell_gone(work: Work, most: int) -> int:
    """Those that refuse since a person or a group was deleted, by whichever way."""
    found = await work.db.all(_gone, most=most)
    for binding, target, kind, name in found:
        if not await work.db.run(_told_gone, binding=binding, now=work.now):
            continue  # somebody has pointed it elsewhere meanwhile
        about = {"target": target, "named": {"kind": kind, "name": name}}
        await audit.record(work, "binding_lost", "policies.policybinding", context={"model": _model(binding), **about})
    if found:
        work.announce(AccessChanged())
    return len(found)


def _model(binding: str) -> dict[str, str]:
    return {"app": "policies", "model_name": "policybinding", "pk": binding, "name": binding}
