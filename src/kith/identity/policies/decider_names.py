"""The names of the policies, groups and people that bindings refer to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.groups.tables import groups
from kith.identity.policies.family import policies
from kith.identity.users.tables import users

__all__ = ["KINDS", "decider_names"]

KINDS = ("policy", "group", "user")
_policy = any_of(policies.c.policy_uuid, "ids")
_names = {
    "policy": query(select(policies.c.policy_uuid, policies.c.name).where(_policy), tuple),
    "group": query(select(groups.c.group_uuid, groups.c.name).where(any_of(groups.c.group_uuid, "ids")), tuple),
    "user": query(select(users.c.id, users.c.username).where(any_of(users.c.id, "ids")), tuple),
}


async def decider_names(work: Work, bindings: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """By the identifier as text, for bindings as the API shows them."""
    found: dict[str, str] = {}
    for kind in KINDS:
        ids = sorted({one[kind] for one in bindings if one[kind] is not None})
        if ids:
            found |= {str(id): name for id, name in await work.db.all(_names[kind], ids=ids)}
    return found
