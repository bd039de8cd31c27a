"""/policies/all/: every policy, whatever its kind."""

from __future__ import annotations

import msgspec
from sqlalchemy import Boolean, bindparam, column, func, select, table, union_all

from kith.base.db import UID, any_of, query
from kith.base.work import Work
from kith.identity.policies.bindings import bindings, read_word
from kith.identity.policies.family import FIELDS, PolicyRecord, policies
from kith.identity.rest import READ, ListFilter, Resource
from kith.identity.rest.fields import Computed, Text

# The prompt stages that have their answers checked by a policy; their room is above this one.
_checks = table("identity_stages_prompt_policies", column("owner", UID), column("other", UID))
_uses = union_all(
    select(bindings.c.policy).where(any_of(bindings.c.policy, "ids")),
    select(_checks.c.other).where(any_of(_checks.c.other, "ids")),
).subquery()
_bound = query(select(_uses.c.policy, func.count()).group_by(_uses.c.policy), tuple)
_is_bound = policies.c.policy_uuid.in_(select(bindings.c.policy).where(bindings.c.policy.is_not(None)))
_is_asked = policies.c.policy_uuid.in_(select(_checks.c.other))


async def decorate(work: Work, records: list[AnyPolicy]) -> None:
    counts: dict[str, int] = dict(await work.db.all(_bound, ids=[record.pk for record in records]))
    for record in records:
        record.bound_to = counts.get(record.pk, 0)


class AnyPolicy(PolicyRecord, kw_only=True):
    kind: str = msgspec.field(name="__type__")
    bound_to: int = 0


RESOURCE = Resource(
    path="/policies/all/",
    name="Policy",
    record=AnyPolicy,
    key="policy_uuid",
    table=policies,
    fields=(
        *FIELDS,
        Text(name="__type__", stored_as="kind", read_only=True, help="The kind: its collection is /policies/<kind>/."),
        Computed(name="bound_to", form={"type": "integer"}, help="How many bindings and prompt stages use it."),
    ),
    exact=("name",),
    filters=(
        ListFilter(
            name="bindings__isnull",
            clause=_is_bound != bindparam("unbound", type_=Boolean()),
            read=read_word,
            bind="unbound",
        ),
        ListFilter(
            name="promptstage__isnull",
            clause=_is_asked != bindparam("unasked", type_=Boolean()),
            read=read_word,
            bind="unasked",
        ),
    ),
    allow=READ,
    decorate=decorate,
)
