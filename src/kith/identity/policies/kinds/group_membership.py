"""Passes for the members of a group and of all groups below it."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.policies.family import POLICIES, PolicyRecord
from kith.identity.policies.request import NamedIsGone, PolicyRequest, PolicyVerdict
from kith.identity.rest.fields import Reference
from kith.identity.rest.resource import Resource, kind_table

FIELDS = (Reference(name="group", null=True, to="identity_groups.group_uuid", help="Without one nobody passes."),)


class GroupMembershipPolicy(PolicyRecord, kw_only=True):
    group: str | None


async def passes(work: Work, record: GroupMembershipPolicy, request: PolicyRequest) -> PolicyVerdict:  # noqa: ARG001 - as all kinds
    if record.group is None:
        raise NamedIsGone("This policy has no group.")
    return PolicyVerdict(passing=request.person is not None and request.person.is_in(record.group))


RESOURCE = Resource(
    path="/policies/group_membership/",
    name="GroupMembershipPolicy",
    record=GroupMembershipPolicy,
    key="policy_uuid",
    family=POLICIES,
    kind="group_membership",
    table=kind_table("identity_policies_group_membership", POLICIES, FIELDS),
    fields=FIELDS,
    exact=("name", "group"),
)
