"""Refuses a password that is known from leaks."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.policies.family import POLICIES, PolicyRecord
from kith.identity.policies.password_checks import MISSING, find_password, judge_breaches
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.rest.fields import Integer, Text
from kith.identity.rest.resource import Resource, kind_table

FIELDS = (
    Integer(name="allowed_count", default=0, least=0, help="In how many leaks a password may be."),
    Text(name="password_field", default="password", help="Where in the context the password is."),
)


class BreachCheckPolicy(PolicyRecord, kw_only=True):
    allowed_count: int
    password_field: str


async def passes(work: Work, record: BreachCheckPolicy, request: PolicyRequest) -> PolicyVerdict:
    password = find_password(request, record.password_field)
    if password is None:
        return PolicyVerdict(passing=False, messages=[MISSING])
    return await judge_breaches(work, password, record.allowed_count)


RESOURCE = Resource(
    path="/policies/breachcheck/",
    name="BreachCheckPolicy",
    record=BreachCheckPolicy,
    key="policy_uuid",
    family=POLICIES,
    kind="breachcheck",
    table=kind_table("identity_policies_breachcheck", POLICIES, FIELDS),
    fields=FIELDS,
    exact=("name", "allowed_count", "password_field"),
)
