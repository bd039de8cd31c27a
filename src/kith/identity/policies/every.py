"""/policies/all/: every policy, whatever its kind."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, bindparam, func, select

from kith.base.db import any_of, query
from kith.base.work import Work
from kith.identity.policies.bindings import bindings
from kith.identity.policies.family import FIELDS, policies
from kith.identity.rest import READ, Filter, Resource
from kith.identity.rest.fields import Text, Told

_bound = query(
    select(bindings.c.policy, func.count()).where(any_of(bindings.c.policy, "ids")).group_by(bindings.c.policy), tuple
)
_is_bound = policies.c.policy_uuid.in_(select(bindings.c.policy).where(bindings.c.policy.is_not(None)))


def read_word(text: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower())


async def decorate(work: Work, records: list[dict[str, Any]]) -> None:
    counts: dict[str, int] = dict(await work.db.all(_bound, ids=[record["pk"] for record in records]))
    for record in records:
        record["bound_to"] = counts.get(record["pk"], 0)


RESOURCE = Resource(
    path="/policies/all/",
    record="Policy",
    key="policy_uuid",
    table=policies,
    fields=(
        *FIELDS,
        Text(name="__type__", stored_as="kind", read_only=True, help="The kind: its collection is /policies/<kind>/."),
        Told(name="bound_to", form={"type": "integer"}, help="The number of bindings that use it."),
    ),
    exact=("name",),
    filters=(
        Filter(
            name="bindings__isnull",
            clause=_is_bound != bindparam("unbound", type_=Boolean()),
            read=read_word,
            bind="unbound",
        ),
    ),
    allow=READ,
    decorate=decorate,
)
