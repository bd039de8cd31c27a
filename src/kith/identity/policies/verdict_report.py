"""A verdict with the names of what was evaluated, for staff."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.groups.tables import groups
from kith.identity.policies.request import PolicyVerdict
from kith.identity.users.tables import users

_groups = query(select(groups.c.group_uuid, groups.c.name).where(any_of(groups.c.group_uuid, "ids")), tuple)
_users = query(select(users.c.id, users.c.username).where(any_of(users.c.id, "ids")), tuple)


async def explain(work: Work, verdict: PolicyVerdict) -> list[dict[str, Any]]:
    """One entry for each binding, in order; users and groups with their names, also those that are gone."""
    named: dict[str, str] = {}
    asked = [one for one in verdict.trace if one.about]
    wanted = {kind: [one.about for one in asked if one.kind == kind] for kind in ("group", "user")}
    if wanted["group"]:
        named |= dict(await work.db.all(_groups, ids=wanted["group"]))
    if wanted["user"]:
        found = await work.db.all(_users, ids=[int(one) for one in wanted["user"]])
        named |= {str(id): name for id, name in found}
    return [
        {
            "binding": one.binding,
            "kind": one.kind,
            "pk": one.about,
            "name": one.name or named.get(one.about, one.about),
            "negate": one.negate,
            "passing": one.passing,
            "messages": one.messages,
            "log": one.log,
            "failure": one.failure or None,
        }
        for one in verdict.trace
    ]
