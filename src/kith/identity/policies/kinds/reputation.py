"""Passes for callers with a bad reputation: a score that is not above the threshold."""

from __future__ import annotations

from kith.base.work import Work
from kith.identity.policies.family import POLICIES, PolicyRecord
from kith.identity.policies.reputation_scores import score_of
from kith.identity.policies.request import PolicyRequest, PolicyVerdict
from kith.identity.rest.fields import Boolean, Integer
from kith.identity.rest.record_draft import RecordDraft
from kith.identity.rest.resource import Resource, kind_table

FIELDS = (
    Boolean(name="check_ip", default=True),
    Boolean(name="check_username", default=True),
    Integer(name="threshold", default=-5, help="The highest score that passes."),
)


class ReputationPolicy(PolicyRecord, kw_only=True):
    check_ip: bool
    check_username: bool
    threshold: int


async def check(draft: RecordDraft[ReputationPolicy]) -> None:
    if not draft.now.check_ip and not draft.now.check_username:
        draft.complain("", "At least one of check_ip, check_username must be true.")


async def passes(work: Work, record: ReputationPolicy, request: PolicyRequest) -> PolicyVerdict:
    username = request.person.user.username if request.person else ""
    score = await score_of(
        work,
        identifier=username if record.check_username else "",
        ip=request.client_ip if record.check_ip else "",
    )
    return PolicyVerdict(passing=score <= record.threshold, log=[f"the score is {score}"])


RESOURCE = Resource(
    path="/policies/reputation/",
    name="ReputationPolicy",
    record=ReputationPolicy,
    key="policy_uuid",
    family=POLICIES,
    kind="reputation",
    table=kind_table("identity_policies_reputation", POLICIES, FIELDS),
    fields=FIELDS,
    search=("name", "threshold"),
    exact=("name", "check_ip", "check_username", "threshold"),
    prepare=check,
)
